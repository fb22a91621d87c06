#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "store/rewind/beneath.h"
#include "store/rewind/linediff.h"
#include "store/rewind/look.h"
#include "store/rewind/pathrule.h"
#include "store/rewind/planid.h"
#include "store/rewind/rewind.h"
#include "store/rewind/source.h"
#include "store/rewind/spandiff.h"

/* Buffers that go from file to file, and the two roots that a plan may reach into. */
struct worker {
    const struct rewind_plan *plan;
    const struct rewind_options *options;
    const char *root;        /* the session's directory; / when that is gone */
    int project, everywhere; /* the root, and / for what lies outside of it */
    struct look look;
    struct content wanted, last;
};

/* ---- rules by name ---- */

static bool refuse(struct rewind_entry *x, enum rewind_rule rule, const char *why)
{
    x->action = REWIND_REFUSED;
    x->rule = rule;
    x->why = why;
    return false;
}

/* Rules that no consent lifts. */
static bool may_look(const struct rewind_target *t, struct rewind_entry *x)
{
    const char *why = "";
    enum pathrule rule = pathrule_check(slice_of(t->path), &why);

    if (rule == PATHRULE_BAD || rule == PATHRULE_GIT)
        return refuse(x, REWIND_RULE_PATH, why);
    if (t->want == REWIND_UNKNOWN)
        return refuse(x, t->conflict ? REWIND_RULE_CONFLICT : REWIND_RULE_SOURCE, t->why);
    return true;
}

/* Rules that a person may lift; asked last, so that the entry knows what it would do. */
static void ask_consent(const struct worker *w, struct rewind_entry *x)
{
    const struct rewind_options *o = w->options;
    const char *path = x->target->path, *why = "";

    if (x->action == REWIND_UNCHANGED)
        return;
    x->would = x->action;
    if (pathrule_check(slice_of(path), &why) == PATHRULE_SENSITIVE && !o->allow_sensitive)
        refuse(x, REWIND_RULE_SENSITIVE, why);
    else if (!rewind_is_inside(w->plan, path) && !o->allow_outside)
        refuse(x, REWIND_RULE_OUTSIDE, "outside the session's project");
    else if (x->edited && !o->allow_edited)
        refuse(x, REWIND_RULE_EDITED,
               x->seen.exists ? "changed since the last snapshot, not by the session"
                              : "removed since the last snapshot, not by the session");
    else if (x->unproven && !o->allow_edited)
        refuse(x, REWIND_RULE_UNKNOWN,
               "nothing shows that its present content is the session's work");
}

/* ---- what would happen ---- */

/* The wanted bytes went by while they were hashed; they are looked at once more. */
static enum err_code count_large(struct worker *w, struct rewind_entry *x, struct err *e)
{
    struct span nothing = span_of_bytes(SLICE("")), after = nothing;
    enum err_code rc = ERR_OK;

    if (x->target->want == REWIND_BYTES)
        rc = source_open(&x->target->source, &after, e);
    if (rc)
        return rc;
    struct span before = w->look.is_open  ? w->look.file
                         : x->seen.exists ? span_of_bytes(buf_slice(&w->look.present.bytes))
                                          : nothing;

    rc = spandiff_count(&before, &after, &x->insertions, &x->deletions, &x->binary, e);
    span_close(&after);
    if (rc && rc != ERR_NOMEM) {
        refuse(x, REWIND_RULE_ACCESS, "it is being written right now");
        return ERR_OK;
    }
    return rc;
}

static enum err_code count(struct worker *w, struct rewind_entry *x, struct err *e)
{
    if (w->look.is_open || (x->target->want == REWIND_BYTES && !w->wanted.held))
        return count_large(w, x, e);
    struct slice before = x->seen.exists ? buf_slice(&w->look.present.bytes) : SLICE("");
    struct slice after = x->target->want == REWIND_BYTES ? buf_slice(&w->wanted.bytes) : SLICE("");

    return linediff_count(before, after, &x->insertions, &x->deletions, &x->binary, e);
}

static void compare_with_wanted(struct worker *w, struct rewind_entry *x)
{
    const struct rewind_target *t = x->target;

    if (!x->seen.exists) {
        x->action = REWIND_CREATE;
    } else if (!content_same(&w->look.present, &w->wanted)) {
        x->action = REWIND_RESTORE;
    } else if (t->has_mode && (t->mode & 07777) != x->seen.mode) {
        x->action = REWIND_RESTORE;
        x->mode_only = true;
    } else {
        x->action = REWIND_UNCHANGED;
    }
}

/* Does the present file differ from what the session last knew? False also where that is not known. */
static enum err_code compare_with_last(struct worker *w, const struct rewind_entry *x, bool *known,
                                       bool *differs, struct err *e)
{
    const struct rewind_target *t = x->target;

    *known = t->has_last;
    *differs = t->has_last && t->last_absent == x->seen.exists;
    if (!t->has_last || t->last_absent || !x->seen.exists)
        return ERR_OK;
    if (!t->last.file && !t->last.blob && !t->last.bytes.p && t->last.sha256) {
        char hex[SHA256_BYTES * 2 + 1];

        sha256_hex(w->look.present.sha256, hex);
        *differs = strcmp(hex, t->last.sha256) != 0;
        return ERR_OK;
    }
    enum err_code rc = source_read(&t->last, &w->look.present, &w->last, e);

    if (rc == ERR_NOMEM)
        return rc;
    *known = rc == ERR_OK; /* unreadable knowledge is no knowledge */
    *differs = !rc && !content_same(&w->look.present, &w->last);
    return ERR_OK;
}

/* Nobody's edit: our own newest rewind or undo left it so. */
static bool is_as_we_left_it(const struct worker *w, const struct rewind_entry *x)
{
    const struct rewind_target *t = x->target;
    char hex[SHA256_BYTES * 2 + 1];

    if (!t->has_left || t->left_absent || !x->seen.exists)
        return t->has_left && t->left_absent && !x->seen.exists;
    sha256_hex(w->look.present.sha256, hex);
    return strcmp(hex, t->left_sha256) == 0;
}

/* Whose work is it? What a person wrote goes only with consent, and so does what nobody can be shown to have written:
 * but where no file is, nothing can be lost, and a mode alone loses no byte. */
static enum err_code find_author(struct worker *w, struct rewind_entry *x, struct err *e)
{
    const struct rewind_target *t = x->target;
    bool known, differs;
    enum err_code rc = compare_with_last(w, x, &known, &differs, e);

    if (rc || is_as_we_left_it(w, x))
        return rc;
    x->edited = differs && !t->last_is_older;
    x->unproven = x->seen.exists && !x->mode_only && !x->edited && (!known || differs);
    return ERR_OK;
}

static enum err_code judge_wanted(struct worker *w, struct rewind_entry *x, struct err *e)
{
    struct err why;
    enum err_code rc = source_read(&x->target->source, &w->look.present, &w->wanted, &why);

    if (rc == ERR_NOMEM)
        return err_set(e, rc, x->target->path, "read the saved copy: out of memory");
    if (rc)
        refuse(x, REWIND_RULE_SOURCE,
               rc == ERR_FORMAT ? "the saved copy is missing, damaged or no regular file"
                                : "the saved copy cannot be read");
    else
        compare_with_wanted(w, x);
    if (!rc) {
        memcpy(x->wanted, w->wanted.sha256, SHA256_BYTES);
        x->wanted_size = w->wanted.size;
    }
    return ERR_OK;
}

static enum err_code judge(struct worker *w, struct rewind_entry *x, struct err *e)
{
    const struct rewind_target *t = x->target;
    enum err_code rc = ERR_OK;

    x->seen = w->look.seen;
    if (w->look.rule) {
        refuse(x, w->look.rule, w->look.why);
        return ERR_OK;
    }
    if (t->want == REWIND_ABSENT)
        x->action = x->seen.exists ? REWIND_DELETE : REWIND_UNCHANGED;
    else
        rc = judge_wanted(w, x, e);
    if (rc || x->action == REWIND_REFUSED || x->action == REWIND_UNCHANGED)
        return rc;
    rc = find_author(w, x, e);
    if (!rc && !x->mode_only)
        rc = count(w, x, e);
    return rc;
}

static enum err_code preview_one(struct worker *w, struct rewind_entry *x, struct err *e)
{
    const struct rewind_target *t = x->target;
    bool outside = !rewind_is_inside(w->plan, t->path);

    if (!may_look(t, x))
        return ERR_OK;
    enum err_code rc = look_at(outside ? w->everywhere : w->project, outside ? "/" : w->root,
                               t->path, t->real_parent, &w->look, e);

    if (!rc)
        rc = judge(w, x, e);
    if (!rc && x->action != REWIND_REFUSED)
        ask_consent(w, x);
    return rc;
}

static void sum_up(struct rewind_preview *p)
{
    for (size_t i = 0; i < p->n; i++) {
        struct rewind_entry *x = &p->entry[i];

        x->chosen = x->action != REWIND_REFUSED;
        p->refused += x->action == REWIND_REFUSED;
        p->insertions += x->chosen ? x->insertions : 0;
        p->deletions += x->chosen ? x->deletions : 0;
    }
}

/* ---- all of it ---- */

bool rewind_is_chosen(const struct rewind_options *o, const char *path)
{
    for (size_t i = 0; i < o->only_n; i++)
        if (strcmp(o->only[i], path) == 0)
            return true;
    return !o->only;
}

static void choose(struct rewind_preview *p)
{
    for (size_t i = 0; i < p->plan->n; i++)
        if (rewind_is_chosen(&p->options, p->plan->target[i].path))
            p->entry[p->n++] = (struct rewind_entry){ .target = &p->plan->target[i] };
}

enum { MANY = 16 }; /* a thread is worth starting */

/* The entries, and who comes next; the helper's answer. */
struct survey {
    struct rewind_preview *preview;
    atomic_size_t next;
    enum err_code rc;
    struct err e;
};

static enum err_code worker_open(struct worker *w, struct err *e)
{
    enum err_code rc = beneath_root("/", &w->everywhere, e);

    w->root = w->plan->root ? w->plan->root : "/";
    if (rc)
        return rc;
    rc = beneath_root(w->root, &w->project, e);
    if (rc != ERR_NOT_FOUND)
        return rc;
    w->root = "/";
    return beneath_root(w->root, &w->project, e);
}

static void worker_close(struct worker *w)
{
    if (w->project >= 0)
        close(w->project);
    if (w->everywhere >= 0)
        close(w->everywhere);
    look_fini(&w->look);
    content_fini(&w->wanted);
    content_fini(&w->last);
}

/* Takes entry after entry until none is left, or one fails. */
static enum err_code take_entries(struct survey *s, struct err *e)
{
    struct worker w = {
        .plan = s->preview->plan, .options = &s->preview->options, .project = -1, .everywhere = -1
    };
    enum err_code rc = worker_open(&w, e);
    size_t i;

    while (!rc && (i = atomic_fetch_add(&s->next, 1)) < s->preview->n)
        rc = preview_one(&w, &s->preview->entry[i], e);
    if (rc)
        atomic_store(&s->next, s->preview->n);
    worker_close(&w);
    return rc;
}

static void *help(void *arg)
{
    struct survey *s = arg;

    s->rc = take_entries(s, &s->e);
    return NULL;
}

/* Comparing is most of the work, and files have nothing to do with each other: a second thread takes its share where
 * there are many. */
static enum err_code preview_all(struct rewind_preview *p, struct err *e)
{
    struct survey s = { .preview = p };
    pthread_t helper;
    bool helped = p->n >= MANY && pthread_create(&helper, NULL, help, &s) == 0;
    enum err_code rc = take_entries(&s, e);

    if (helped)
        pthread_join(helper, NULL);
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
        rc = err_set(e, ERR_NOMEM, NULL, "preview: out of memory");
    if (!rc) {
        choose(&p);
        rc = preview_all(&p, e);
    }
    if (!rc)
        rc = planid_make(&p, e);
    if (!rc)
        sum_up(&p);
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
