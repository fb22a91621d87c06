#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "store/rewind/diff/linediff.h"
#include "store/rewind/plan/beneath.h"
#include "store/rewind/plan/plan.h"
#include "store/rewind/plan/rewind.h"
#include "store/rewind/plan/source.h"

/* The two roots that a plan may reach into, opened once, since the compared files share them. */
struct roots {
    const char *root;        /* the session's directory; / when that is gone */
    int project, everywhere; /* the root, and / for files outside of it */
    bool is_detour;          /* the root is reached through a link that is newer than the point */
};

/* Buffers that are reused for each file. */
struct worker {
    const struct rewind_plan *plan;
    const struct rewind_options *options;
    const struct roots *roots;
    struct rewind_inspected look;
    struct source_content wanted, last;
};

/* ---- rules by name ---- */

static bool refuse_entry(struct rewind_entry *x, enum rewind_rule rule, const char *why)
{
    x->action = REWIND_REFUSED;
    x->rule = rule;
    x->why = why;
    return false;
}

/* Rules that a person may override. They are checked last, so that it is known what the entry would
 * do. */
static void require_consent(const struct worker *w, struct rewind_entry *x)
{
    const struct rewind_options *o = w->options;
    const char *path = x->target->path, *why = "";

    if (x->action == REWIND_UNCHANGED)
        return;
    x->would = x->action;
    if (pathrule_check(slice_of(path), true, &why) == PATHRULE_SENSITIVE && !o->allow_sensitive)
        refuse_entry(x, REWIND_RULE_SENSITIVE, why);
    else if (!rewind_is_inside(w->plan, path) && !o->allow_outside)
        refuse_entry(x, REWIND_RULE_OUTSIDE, "outside the session's project");
    else if (w->roots->is_detour && !o->allow_outside)
        refuse_entry(
            x, REWIND_RULE_OUTSIDE,
            "the session's project is reached through a symbolic link that is newer than this "
            "point");
    else if (x->edited && !o->allow_edited)
        refuse_entry(x, REWIND_RULE_EDITED,
                     x->seen.exists ? "changed later, not by this session"
                                    : "deleted later, not by this session");
    else if (x->target->doubt && !o->allow_edited)
        refuse_entry(x, REWIND_RULE_UNKNOWN, x->target->doubt);
    else if (x->unproven && !o->allow_edited)
        refuse_entry(x, REWIND_RULE_UNKNOWN,
                     "its present content is not known to be the session's work");
}

/* ---- what would happen ---- */

/* At least one side is not held in memory. The wanted bytes are read once more. */
static enum err_code count_large(struct worker *w, struct rewind_entry *x, struct err *e)
{
    struct span nothing = span_of_bytes(SLICE("")), after = nothing;
    enum err_code rc = ERR_OK;

    if (x->target->want == REWIND_BYTES)
        rc = source_open(&x->target->source, &after, e);
    if (rc)
        return rc;
    struct span before = !x->seen.exists        ? nothing
                         : w->look.present.held ? span_of_bytes(buf_slice(&w->look.present.bytes))
                                                : w->look.file;

    rc = linediff_count_spans(&before, &after, &x->insertions, &x->deletions, &x->binary, e);
    span_close(&after);
    if (rc && rc != ERR_NOMEM) {
        refuse_entry(x, REWIND_RULE_ACCESS, "it is being written right now");
        return ERR_OK;
    }
    return rc;
}

static enum err_code count_entry_lines(struct worker *w, struct rewind_entry *x, struct err *e)
{
    if ((x->seen.exists && !w->look.present.held) ||
        (x->target->want == REWIND_BYTES && !w->wanted.held))
        return count_large(w, x, e);
    struct slice before = x->seen.exists ? buf_slice(&w->look.present.bytes) : SLICE("");
    struct slice after = x->target->want == REWIND_BYTES ? buf_slice(&w->wanted.bytes) : SLICE("");

    return linediff_count(before, after, &x->insertions, &x->deletions, &x->binary, e);
}

static enum err_code judge_wanted(struct worker *w, struct rewind_entry *x, struct err *e)
{
    struct err why = { 0 };

    /* A program that continues to write may cut it short in between. */
    const struct rewind_source *s = &x->target->source;
    enum err_code rc = source_read(s, &w->look.present, &w->wanted, &why);

    for (int tries = 0; rc == ERR_STALE && s->grows && tries < 8; tries++)
        rc = source_read(s, &w->look.present, &w->wanted, &why);

    if (rc == ERR_NOMEM)
        return err_nomem(e);
    if (rc && err_is_exhausted(why.sys)) {
        errno = why.sys;
        return err_sys(e, x->target->path, "read the saved copy");
    }
    if (rc)
        refuse_entry(x, REWIND_RULE_SOURCE,
                     rc == ERR_FORMAT ? "the saved copy is missing, damaged or not a regular file"
                                      : "the saved copy cannot be read");
    else {
        const struct rewind_target *t = x->target;

        /* A directory is not exchanged for something else, but removed before, when it is empty. */
        if (!x->seen.exists || (S_ISDIR(x->seen.mode) && !S_ISDIR(t->source.kind))) {
            x->action = REWIND_CREATE;
        } else if (!source_content_same(&w->look.present, &w->wanted)) {
            x->action = REWIND_RESTORE;
        } else if (t->has_mode && !S_ISLNK(t->source.kind) &&
                   (t->mode & 07777) != (x->seen.mode & 07777)) {
            x->action = REWIND_RESTORE;
            x->mode_only = true;
        } else {
            x->action = REWIND_UNCHANGED;
        }
    }
    if (!rc) {
        memcpy(x->wanted, w->wanted.sha256, SHA256_BYTES);
        x->wanted_size = w->wanted.size;
    }
    return ERR_OK;
}

/* The program continues to write to the replaced file, which moves into the undo record. If it
 * cannot be moved, later writes would be lost. */
static bool judge_writer(struct worker *w, struct rewind_entry *x)
{
    const struct beneath_at *record = &w->plan->record_at;

    x->held_open = rewind_inspected_is_written(&w->look);
    if (!x->held_open || !record->dev || beneath_same_at(*record, beneath_at(w->look.dir, "")))
        return true;
    return refuse_entry(x, REWIND_RULE_OPEN,
                        "a program has it open for writing, and the undo record is on another file "
                        "system: what it writes next would be lost");
}

static enum err_code preview_judge_entry(struct worker *w, struct rewind_entry *x, struct err *e)
{
    const struct rewind_target *t = x->target;
    enum err_code rc = ERR_OK;
    int sys;

    x->seen = w->look.seen;
    x->behind = t->exact && w->look.rule == REWIND_RULE_LINK && !x->seen.exists;
    if (w->look.rule && !x->behind && !(t->exact && rewind_inspected_has_kind(&w->look))) {
        refuse_entry(x, w->look.rule, w->look.why);
        return ERR_OK;
    }
    if (t->want == REWIND_ABSENT)
        x->action = x->seen.exists ? REWIND_DELETE : REWIND_UNCHANGED;
    else
        rc = judge_wanted(w, x, e);
    if (rc || x->action == REWIND_REFUSED || x->action == REWIND_UNCHANGED)
        return rc;

    /* A file that apply could not replace is refused here, so that it does not stop the rest. */
    const struct rewind_step step = { .dir = w->look.dir,
                                      .present = w->look.is_open ? w->look.file.fd : -1,
                                      .action = x->action,
                                      .mode_only = x->mode_only };
    const char *why = w->look.has_dir ? rewind_forbidden(&step, &sys) : NULL;

    if ((why && !refuse_entry(x, REWIND_RULE_ACCESS, why)) ||
        (!x->mode_only && !judge_writer(w, x)))
        return ERR_OK;
    rc = hand_edit_find(&w->look.present, &w->last, x, e);
    if (!rc && !x->mode_only)
        rc = count_entry_lines(w, x, e);
    return rc;
}

static enum err_code preview_one(struct worker *w, struct rewind_entry *x, struct err *e)
{
    const struct rewind_target *t = x->target;
    bool outside = !rewind_is_inside(w->plan, t->path);
    const char *why = "";
    enum pathrule rule = pathrule_check(slice_of(t->path), t->exact, &why);

    /* No consent lifts these rules. */
    if (rule == PATHRULE_INVALID || rule == PATHRULE_GIT) {
        refuse_entry(x, REWIND_RULE_PATH, why);
        return ERR_OK;
    }
    if (t->want == REWIND_UNKNOWN) {
        refuse_entry(x, t->conflict ? REWIND_RULE_CONFLICT : REWIND_RULE_SOURCE, t->why);
        return ERR_OK;
    }
    const struct roots *roots = w->roots;
    enum err_code rc =
        rewind_inspect_at(outside ? roots->everywhere : roots->project, outside ? "/" : roots->root,
                          t->path, t->real_parent, &w->look, e);

    if (!rc)
        rc = preview_judge_entry(w, x, e);
    if (!rc && x->action != REWIND_REFUSED)
        require_consent(w, x);
    return rc;
}

/* ---- all of it ---- */

enum err_code rewind_chosen_init(struct rewind_chosen *c, const struct rewind_options *o,
                                 struct err *e)
{
    CLEANUP(rewind_chosen_fini) struct rewind_chosen chosen = { .all = !o->only };
    uint32_t number;

    for (size_t i = 0; i < o->only_n; i++)
        NEED(!slice_set_add(&chosen.path, slice_of(o->only[i]), &number));
    HAND_OVER(c, chosen);
    return ERR_OK;
}

bool rewind_is_chosen(const struct rewind_chosen *c, const char *path)
{
    return c->all || slice_set_find(&c->path, slice_of(path)) != SLICE_SET_NONE;
}

void rewind_chosen_fini(struct rewind_chosen *c)
{
    slice_set_fini(&c->path);
}

static enum err_code choose_targets(struct rewind_preview *p, struct err *e)
{
    struct rewind_chosen chosen;

    TRY(rewind_chosen_init(&chosen, &p->options, e));
    for (size_t i = 0; i < p->plan->n; i++)
        if (rewind_is_chosen(&chosen, p->plan->target[i].path))
            p->entry[p->n++] = (struct rewind_entry){ .target = &p->plan->target[i] };
    rewind_chosen_fini(&chosen);
    return ERR_OK;
}

enum { MANY = 16 }; /* a thread is worth starting */

/* The entries and the number of the next one; the result of the helper. */
struct survey {
    struct rewind_preview *preview;
    struct roots roots;
    atomic_size_t next;
    enum err_code rc;
    struct err e;
};

/* The session's directory was reached without a link or through this one, so a newer link leads
 * elsewhere. But the directory of an earlier rewind may be reached through a new link, because an
 * undo never works in another directory. */
static enum err_code check_detour(struct roots *r, const struct rewind_plan *plan, int64_t link_ms,
                                  struct err *e)
{
    int same = -1;
    enum err_code rc = ERR_STALE;

    if (plan->point_ms <= 0 || link_ms <= plan->point_ms)
        return ERR_OK;
    r->is_detour = true;
    if (!plan->root_id && !plan->undoes)
        return ERR_OK;
    if (plan->root_id)
        rc = beneath_same_root(r->root, plan->root_id, &same, e);
    if (rc && rc != ERR_STALE)
        return rc;
    close(r->project);
    r->project = same;
    r->is_detour = rc != ERR_OK;
    if (!rc)
        return ERR_OK;
    r->root = "/"; /* below which links are not followed */
    return beneath_root(r->root, &r->project, e);
}

static enum err_code roots_open(struct roots *r, struct rewind_preview *p, struct err *e)
{
    *r = (struct roots){ .root = p->plan->root ? p->plan->root : "/", .project = -1 };
    TRY(beneath_root("/", &r->everywhere, e));

    int64_t link_ms;
    enum err_code rc = beneath_root_link(r->root, &r->project, &link_ms, e);

    if (rc == ERR_NOT_FOUND) {
        p->moved = !p->plan->undoes;
        r->root = "/";
        return beneath_root(r->root, &r->project, e);
    }
    if (!rc)
        rc = check_detour(r, p->plan, link_ms, e);
    if (!rc && p->plan->root && r->root == p->plan->root)
        rc = beneath_root_id(r->project, r->root, &p->root_id, e);
    return rc;
}

/* Handles one entry after the other until all are done, or one fails. */
static enum err_code preview_entries(struct survey *s, struct err *e)
{
    struct worker w = { .plan = s->preview->plan,
                        .options = &s->preview->options,
                        .roots = &s->roots };
    enum err_code rc = ERR_OK;
    size_t i;

    while (!rc && (i = atomic_fetch_add(&s->next, 1)) < s->preview->n)
        rc = preview_one(&w, &s->preview->entry[i], e);
    if (rc)
        atomic_store(&s->next, s->preview->n);
    rewind_inspected_fini(&w.look);
    source_content_fini(&w.wanted);
    source_content_fini(&w.last);

    return rc;
}

static void *help(void *arg)
{
    struct survey *s = arg;

    s->rc = preview_entries(s, &s->e);
    return NULL;
}

/* Comparing is most of the work, and the files are independent: a second thread takes its share if
 * there are many. */
static enum err_code preview_all(struct rewind_preview *p, struct err *e)
{
    struct survey s = { .preview = p };
    pthread_t helper;
    enum err_code rc = roots_open(&s.roots, p, e);
    bool helped = !rc && p->n >= MANY && pthread_create(&helper, NULL, help, &s) == 0;

    if (!rc)
        rc = preview_entries(&s, e);
    if (helped)
        pthread_join(helper, NULL);
    if (s.roots.project >= 0)
        close(s.roots.project);
    if (s.roots.everywhere >= 0)
        close(s.roots.everywhere);

    if (!rc && s.rc) {
        rc = s.rc;
        if (e)
            *e = s.e;
    }
    return rc;
}

enum err_code rewind_preview(const struct rewind_plan *plan, const struct rewind_options *options,
                             struct rewind_preview *out, struct err *e)
{
    struct rewind_preview p = { .plan = plan, .options = *options };
    enum err_code rc = ERR_OK;

    p.entry = arena_zalloc(&p.arena, sizeof *p.entry * (plan->n + 1));
    if (!p.entry)
        rc = err_nomem(e);
    if (!rc)
        rc = choose_targets(&p, e);
    if (!rc)
        rc = preview_all(&p, e);
    if (!rc)
        rc = rewind_explain_edited(&p, e);
    if (!rc) {
        /* If a file cannot be restored because its saved copy is missing or damaged, created files
         * stay: what replaced the lost content may be all that is left of it. So does the client. An
         * undo has its own copies. */
        bool lost = false;

        for (size_t i = 0; i < p.n && !lost && !p.plan->undoes; i++) {
            const struct rewind_entry *x = &p.entry[i];

            lost = x->action == REWIND_REFUSED &&
                   (x->rule == REWIND_RULE_SOURCE
                        ? x->target->want == REWIND_BYTES || x->target->copy_lost
                        : x->rule <= REWIND_RULE_UNKNOWN && x->target->copy_lost);
        }
        for (size_t i = 0; i < p.n && lost; i++)
            if (p.entry[i].action == REWIND_DELETE)
                refuse_entry(&p.entry[i], REWIND_RULE_SOURCE,
                             "kept, because the saved copy of another file is missing or damaged");
    }
    if (!rc)
        rc = rewind_check_swaps(&p, e);
    if (!rc)
        rc = planid_make(&p, e);
    if (!rc) {
        for (size_t i = 0; i < p.n; i++) {
            struct rewind_entry *x = &p.entry[i];

            x->chosen = x->action != REWIND_REFUSED;
            p.refused += x->action == REWIND_REFUSED;
            p.insertions += x->chosen ? x->insertions : 0;
            p.deletions += x->chosen ? x->deletions : 0;
        }
    }
    if (rc)
        rewind_preview_fini(&p);
    else
        *out = p;
    return rc;
}

void rewind_preview_fini(struct rewind_preview *p)
{
    arena_fini(&p->arena);
    *p = (struct rewind_preview){ 0 };
}
