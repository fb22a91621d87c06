#include <stdio.h>
#include <string.h>

#include "lite/base/time.h"
#include "store/git/gitfiles.h"
#include "store/rewind/plan/plan.h"
#include "store/systems/entire/entire.h"
#include "store/systems/entire/rewind/concurrent_sessions.h"
#include "store/systems/entire/rewind/planning.h"
#include "store/systems/entire/rewind/safety_commit.h"

/* What plans of a rewind have in common, whatever files are in them. */

enum err_code planning_describe(struct planning *p, struct rewind_plan *plan, struct err *e)
{
    struct arena *a = &plan->arena;

    plan->system = "entire";
    plan->session = arena_copy(a, p->view.session->id).p;
    plan->point = arena_copy(a, p->point->id).p;
    plan->point_ms = p->point->time_ms;
    plan->before = safety_commit_make;
    enum err_code rc = rewind_plan_root(p->view.store->base.env, plan, p->view.root, e);

    /* core.worktree may name any directory; a work tree is one that has this repository. */
    plan->wide = plan->wide || !view_root_is_own(&p->view);
    return rc || (plan->session && plan->point) ? rc : err_nomem(e);
}

static enum err_code note_count(struct rewind_plan *plan, size_t n, const char *one,
                                const char *many, struct err *e)
{
    char text[160];

    if (n == 0)
        return ERR_OK;
    snprintf(text, sizeof text, "%zu %s", n, n == 1 ? one : many);
    return rewind_plan_note(plan, text, e);
}

enum err_code planning_notes(const struct planning *p, struct rewind_plan *plan, struct err *e)
{
    const char *beside = entire_concurrent_note(p->view.catalog, p->view.session, &plan->arena);
    enum err_code rc = beside ? rewind_plan_note(plan, beside, e) : ERR_OK;

    if (!rc)
        rc = note_count(
            plan, p->apart,
            "file in .claude or .gemini is in the checkpoint too, and is not touched",
            "files in .claude or .gemini are in the checkpoint too, and are not touched", e);

    if (!rc)
        rc = note_count(plan, p->links, "link or submodule of the checkpoint is left as it is",
                        "links or submodules of the checkpoint are left as they are", e);
    if (!rc)
        rc = note_count(plan, p->filtered, "file that a git filter looks after is left as it is",
                        "files that a git filter looks after are left as they are", e);
    if (!rc)
        rc = note_count(plan, p->ignored, "file that git ignores is left as it is",
                        "files that git ignores are left as they are", e);
    if (!rc && !p->rules.index && !p->entire_rule)
        rc = rewind_plan_note(
            plan, "the index of git cannot be read: what a rule ignores is left as it is", e);
    if (!rc && p->point->source != POINT_SHADOW)
        rc = rewind_plan_note(plan,
                              "the files are those of the commit that carries this checkpoint", e);
    return rc;
}

/* Asked anew: see disktree_is_ignored. */
static enum err_code confirm_removals(const struct planning *p, const struct rewind_plan *plan,
                                      struct err *e)
{
    struct disktree_rules again = { .repo = NULL };
    git_repository *repo = NULL;
    bool ignored = false;
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < plan->n && !rc && !ignored; i++) {
        const struct rewind_target *t = &plan->target[i];

        if (t->want != REWIND_ABSENT)
            continue;
        if (!repo && git_repository_open(&repo, p->view.root))
            return err_set(e, ERR_IO, p->view.root, "look through the work tree: what git ignores");
        if (!again.repo)
            disktree_rules_open(repo, &again);
        rc = disktree_is_ignored(&again, t->path + strlen(p->view.root) + 1, false, &ignored, e);
        if (ignored)
            rc = err_set(e, ERR_IO, t->path, "look through the work tree: what git ignores");
    }
    disktree_rules_close(&again);
    git_repository_free(repo);
    return rc;
}

enum err_code planning_run(const struct store *st, const struct session_ref *ref,
                           struct slice point, struct planning *p, planning_fn *make,
                           struct rewind_plan *out, struct err *e)
{
    struct rewind_plan plan = { .point_ms = TIME_NONE };
    enum err_code rc = view_open(st, ref, &p->view, e);

    if (rc)
        return rc;
    if (!p->view.root)
        rc = err_set(e, ERR_UNSUPPORTED, p->view.store->base.path,
                     "rewind: the repository has no work tree here");
    if (!rc)
        rc = view_point(&p->view, point, &p->point, e);
    if (!rc)
        rc = gitfiles_check_tree(p->view.root, e);
    if (!rc) {
        disktree_rules_open(p->view.repo, &p->rules);
        rc = make(p, &plan, e);
    }
    if (!rc && !p->entire_rule)
        rc = confirm_removals(p, &plan, e);
    disktree_rules_close(&p->rules);
    view_close(&p->view);
    if (rc)
        rewind_plan_fini(&plan);
    else
        *out = plan;
    return rc;
}
