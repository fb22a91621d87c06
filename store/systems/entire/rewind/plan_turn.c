#include "store/rewind/plan/rewind.h"
#include "store/systems/entire/entire.h"
#include "store/systems/entire/rewind/concurrent_sessions.h"
#include "store/systems/entire/rewind/disktree.h"
#include "store/systems/entire/rewind/planning.h"
#include "store/systems/entire/rewind/turn.h"

/* What one turn did, for the engine to take it back alone: what each file was before it, and what the turn left. */

/* A session's first checkpoint has all that git calls untracked: also what lay there before the session began. */
static enum err_code take_added(struct planning *p, const char *path, struct rewind_plan *plan,
                                struct err *e)
{
    bool ignored;

    if (planning_at_start(p, path))
        return ERR_OK;
    enum err_code rc = disktree_is_ignored(&p->rules, path, false, &ignored, e);

    if (rc || ignored) {
        p->ignored += ignored;
        return rc;
    }
    if (p->has_start || p->point->source != POINT_SHADOW)
        return planning_removal(p, path, plan, e);
    const struct rewind_target t = {
        .path = arena_format(&plan->arena, "%s/%s", p->view.root, path),
        .want = REWIND_UNKNOWN,
        .why = "nothing says whether it was there before the session",
    };

    return t.path ? rewind_plan_add(plan, &t, e) : err_nomem(e);
}

static enum err_code plan_file(struct planning *p, const git_diff_delta *delta,
                               struct rewind_plan *plan, struct err *e)
{
    const char *path = delta->new_file.path;
    const git_diff_file *was = &delta->old_file;

    if (disktree_apart(path)) {
        p->apart += turn_is_work(delta);
        return ERR_OK;
    }
    if (!planning_is_plain(delta->status == GIT_DELTA_ADDED ? &delta->new_file : was)) {
        p->links++;
        return ERR_OK;
    }
    return delta->status == GIT_DELTA_ADDED ? take_added(p, path, plan, e)
                                            : planning_file(p, path, &was->id, was->mode, plan, e);
}

static enum err_code plan_files(struct planning *p, const git_diff *diff, struct rewind_plan *plan,
                                struct err *e)
{
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < git_diff_num_deltas(diff) && !rc; i++)
        rc = plan_file(p, git_diff_get_delta(diff, i), plan, e);
    return rc;
}

static enum err_code make_turn_plan(struct planning *p, struct rewind_plan *plan, struct err *e)
{
    struct links links = { 0 };
    struct turn_diff t = { .diff = NULL };
    bool committed = p->point->source != POINT_SHADOW;
    enum err_code rc = committed ? links_read(p->view.repo, &p->view.arena, &links, e) : ERR_OK;

    if (rc)
        return rc;
    const struct link *link = committed ? links_find(&links, p->point->id) : NULL;

    if (!turn_diff_open(&p->view, p->point, link, &t))
        rc = err_set(e, ERR_NOT_FOUND, p->view.store->base.path,
                     "rewind: what the turn of checkpoint %s found is not known", p->point->id.p);
    p->has_head = view_head_tree(&p->view, &p->head);
    p->wanted = t.before;
    p->last = t.after;
    p->has_last = true;
    if (!rc)
        rc = planning_describe(p, plan, e);
    if (!rc)
        rc = planning_start(p, e);
    if (!rc)
        rc = plan_files(p, t.diff, plan, e);
    turn_diff_close(&t);
    if (!rc)
        rc = entire_concurrent_mark(p, plan, e);
    return rc ? rc : planning_notes(p, plan, e);
}

enum err_code entire_plan_turn(const struct store *st, const struct session_ref *ref,
                               struct slice point, struct rewind_plan *out, struct err *e)
{
    return planning_run(st, ref, point, &(struct planning){ .entire_rule = false }, make_turn_plan,
                        out, e);
}
