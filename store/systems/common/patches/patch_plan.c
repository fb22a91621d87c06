#include <string.h>
#include <unistd.h>

#include "store/fs/path.h"
#include "store/rewind/plan/plan.h"
#include "store/rewind/plan/rewind.h"
#include "store/systems/common/inferred.h"
#include "store/systems/common/jsonl.h"
#include "store/systems/common/patches/patch_log.h"

/* The files that a session changed since a point, each with its state before the first of these changes (patch_infer.c). */

struct planning {
    struct patch_log c;
    struct patch_inference infer;
    struct rewind_plan plan;
};

static bool patch_rewind_is_of(const struct patch_change *x, const char *path)
{
    return strcmp(x->path, path) == 0;
}

/* ---- a file ---- */

/* The file as the session left it, if the patches determine that. A moved file may have replaced
 * another one, so it may only be removed if its name is known to have been free. */
static enum err_code patch_set_last(struct planning *p, size_t i, const struct patch_before *before,
                                    struct rewind_target *t, struct err *e)
{
    struct patch_state last;
    bool absent = before->state.absent, seen = before->seen;
    bool arrived = absent && p->c.change[i].kind == PATCH_ARRIVED;
    enum err_code rc = ERR_OK;

    if (arrived && before->was_free)
        rc = patch_infer_is_moved(&p->infer, i, &seen, e);
    if (!rc && seen)
        rc = patch_infer_present(&p->infer, t->path, &last, e);
    else if (!rc)
        rc = patch_infer_last(&p->infer, i, before->state, &last, e);
    if (rc)
        return rc;
    t->has_last = last.known && !(arrived && !before->was_free && !last.absent);
    t->last_absent = last.absent;
    t->last.bytes = last.text;
    t->mixed = seen && !absent;
    return ERR_OK;
}

/* A command on these lines may have changed the permissions of the file. */
static bool chmod_between(const struct patch_log *c, size_t from, size_t to, const char *path)
{
    for (size_t k = 0; k < c->commands; k++)
        if (c->command[k].at >= from && c->command[k].at < to && c->command[k].dir &&
            inferred_may_chmod(c->command[k].text, c->command[k].dir, path))
            return true;
    return false;
}

/* Another file that the thread changed has, or had, this text. */
static const struct patch_change *find_twin(struct planning *p, size_t i, struct slice text)
{
    const char *path = p->c.change[i].path;

    for (size_t k = 0; text.n && k < p->c.changes; k++) {
        const struct patch_change *x = &p->c.change[k];
        struct patch_state now = { .known = false };

        if (patch_rewind_is_of(x, path) || (x->other && strcmp(x->other, path) == 0))
            continue;
        if (patch_infer_present(&p->infer, x->path, &now, NULL))
            return NULL;
        if ((now.known && slice_eq(now.text, text)) ||
            (x->kind == PATCH_DELETED && slice_eq(x->text, text)))
            return x;
    }
    return NULL;
}

static bool was_added(const struct patch_log *c, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (c->change[k].kind == PATCH_ADDED &&
            patch_rewind_is_of(&c->change[k], c->change[i].path))
            return true;
    return false;
}

/* Why a file that a patch deleted need not have been a new file with this text. */
static const char *kind_doubt(struct planning *p, size_t i, struct slice text)
{
    const struct patch_change *x = &p->c.change[i];

    if (chmod_between(&p->c, 0, x->at, x->path))
        return "it was deleted, and a command had changed its permissions";
    if (patch_commit_mode(&p->infer.commit, x->path) || was_added(&p->c, i))
        return NULL;
    if (slice_starts(text, "#!"))
        return "it is a script that was deleted, and whether it was executable is not recorded";
    const char *root = p->plan.wide ? NULL : p->plan.root;
    bool twin = find_twin(p, i, text) || twin_may_exist(root, x->path, text);

    return twin ? "it was deleted, and had the text of another file: whether it was a link is not "
                  "recorded"
                : NULL;
}

static enum err_code patch_rewind_add_file(struct planning *p, size_t i, struct err *e)
{
    struct rewind_target t = { .path = p->c.change[i].path, .want = REWIND_UNKNOWN };
    struct patch_before before;
    enum err_code rc = patch_infer_before(&p->infer, i, &before, e);

    t.why = before.why;
    if (!rc && p->c.lossy && slice_has(before.state.text, "\xef\xbf\xbd")) {
        before.state.known = false;
        t.why = "it has a character that may stand for bytes that were not UTF-8";
    }
    if (!rc && before.state.known) {
        t.why = NULL;
        t.want = before.state.absent ? REWIND_ABSENT : REWIND_BYTES;
        t.source.bytes = before.state.text;
        t.doubt = before.doubt;
        t.is_late = before.is_late;
        if (before.state.absent && !before.was_free) {
            /* An addition is recorded even if the file replaced another one. */
            static const char why[] = "it was added or moved there, and nothing shows that "
                                      "it did not replace a file";

            if (access(t.path, F_OK) != 0) {
                t.want = REWIND_UNKNOWN;
                t.why = why;
            } else if (!t.doubt) {
                t.doubt = why;
            }
        }
        t.found_ms = before.is_late ? p->c.change[i].time_ms : 0;
        rc = patch_set_last(p, i, &before, &t, e);

        /* A restored file gets the mode that it had in the commit. */
        enum { LINK = 0120000, RUN = 0100755 };

        unsigned mode = t.want == REWIND_BYTES ? patch_commit_mode(&p->infer.commit, t.path) : 0;
        const char *doubt = NULL;

        if (mode == LINK) {
            t.want = REWIND_UNKNOWN;
            t.why = "it was a symbolic link: only the text of its target is recorded";
        } else if (t.want == REWIND_BYTES && access(t.path, F_OK) != 0) {
            t.has_mode = mode == RUN;
            t.mode = 0755;
            t.permissions = mode ? "those of the commit of that time" : NULL;
            doubt = kind_doubt(p, i, t.source.bytes);
        } else if (t.want == REWIND_BYTES &&
                   chmod_between(&p->c, p->infer.from, SIZE_MAX, t.path)) {
            doubt = "a command changed its permissions, and the former ones are not recorded";
        }
        if (!t.doubt)
            t.doubt = doubt;
    }
    return rc ? rc : rewind_plan_add(&p->plan, &t, e);
}

static bool patch_is_first(const struct planning *p, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (p->c.change[k].at >= p->infer.from &&
            patch_rewind_is_of(&p->c.change[k], p->c.change[i].path))
            return false;
    return true;
}

/* ---- the points ---- */

static size_t patch_files_between(const struct patch_log *c, size_t from, size_t to)
{
    size_t n = 0;

    for (size_t i = 0; i < c->changes; i++) {
        bool again = c->change[i].at < from || c->change[i].at >= to;

        for (size_t k = 0; k < i && !again; k++)
            again = c->change[k].at >= from && patch_rewind_is_of(&c->change[k], c->change[i].path);
        n += !again;
    }
    return n;
}

enum err_code patch_log_checkpoints(struct patch_log *log, struct checkpoint_list *out,
                                    struct err *e)
{
    struct patch_log c = *log;
    struct checkpoint_list list = { .arena = c.arena }; /* it owns the texts */

    *log = (struct patch_log){ .changes = 0 };
    list.checkpoint = arena_zalloc(&list.arena, (c.points + 1) * sizeof *list.checkpoint);
    for (size_t i = 0; list.checkpoint && i < c.points; i++) {
        size_t from = c.point[i].at, to = i + 1 < c.points ? c.point[i + 1].at : SIZE_MAX;

        list.checkpoint[list.n++] =
            (struct checkpoint){ .id = c.point[i].id,
                                 .message = c.point[i].id,
                                 .prompt = c.point[i].text,
                                 .time_ms = c.point[i].time_ms,
                                 .kind = CHECKPOINT_TURN,
                                 .files = patch_files_between(&c, from, to),
                                 .shell = patch_commands_between(&c, from, to, NULL) };
    }
    if (!list.checkpoint) {
        checkpoint_list_fini(&list);
        return err_nomem(e);
    }
    *out = list;
    return ERR_OK;
}

/* ---- the plan ---- */

/* A file has one path, even if patches reached it through links below the directory. */
static bool patch_name_files(struct patch_log *c, int64_t point_ms)
{
    bool ok = true;

    for (size_t i = 0; i < c->changes && ok; i++) {
        struct patch_change *x = &c->change[i];

        x->path = path_real_below(c->cwd, x->path, point_ms, &c->arena);
        if (x->other)
            x->other = path_real_below(c->cwd, x->other, point_ms, &c->arena);
        ok = x->path != NULL;
    }
    for (size_t i = 0; i < c->seen_n && ok; i++)
        ok = (c->seen[i].path = path_real_below(c->cwd, c->seen[i].path, point_ms, &c->arena)) !=
             NULL;
    return ok && !c->arena.failed;
}

static enum err_code patch_fill_plan(struct planning *p, const struct session_ref *ref,
                                     const struct patch_point *point, struct err *e)
{
    const struct store_env *env = ref->store->env;
    const char *root = p->c.cwd;
    struct rewind_plan *plan = &p->plan;

    if (root && !patch_name_files(&p->c, point->time_ms))
        return err_nomem(e);
    p->infer.c = &p->c;
    p->infer.arena = &plan->arena;

    p->infer.from = point->at;
    plan->system = ref->store->ops->name;
    plan->session = arena_copy(&plan->arena, ref->id).p;
    plan->point = arena_copy(&plan->arena, point->id).p;
    plan->point_ms = point->time_ms;
    if (root && rewind_root_is_above(env, root))
        root = NULL; /* only the session names it */
    enum err_code rc = rewind_plan_root(env, plan, root, e);

    return rc || (plan->session && plan->point) ? rc : err_nomem(e);
}

static enum err_code add_notes(struct planning *p, const char *agent, struct err *e)
{
    TRY(rewind_plan_note(&p->plan,
                         arena_format(&p->plan.arena,
                                      "reconstructed from the recorded patches (%s keeps no copies "
                                      "of files)",
                                      agent),
                         e));
    if (patch_commands_between(&p->c, p->infer.from, SIZE_MAX, NULL))
        TRY(rewind_plan_note(&p->plan, "commands ran since: what they changed is not recorded", e));
    return rewind_plan_note_modes(&p->plan, e);
}

enum err_code patch_log_plan(struct patch_log *log, const struct session_ref *ref,
                             const char *agent, struct slice point, struct rewind_plan *out,
                             struct err *e)
{
    struct planning p = { .c = *log };
    struct point_search search = { .id = point };

    *log = (struct patch_log){ .changes = 0 };
    patch_commit_open(&p.c, &p.infer.commit);
    for (size_t i = 0; i < p.c.points; i++)
        point_search_offer(&search, p.c.point[i].id, i);
    enum err_code rc = point_search_result(&search, ref, e);

    if (!rc)
        rc = patch_fill_plan(&p, ref, &p.c.point[search.at], e);
    for (size_t i = 0; !rc && i < p.c.changes; i++)
        if (p.c.change[i].at >= p.infer.from && patch_is_first(&p, i))
            rc = patch_rewind_add_file(&p, i, e);
    if (!rc)
        rc = add_notes(&p, agent, e);
    patch_commit_close(&p.infer.commit);
    patch_log_fini(&p.c);
    if (rc)
        rewind_plan_fini(&p.plan);
    else
        *out = p.plan;
    return rc;
}
