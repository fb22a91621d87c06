#include <string.h>

#include "store/systems/entire/entire.h"
#include "store/systems/entire/names.h"
#include "store/systems/entire/read/links.h"
#include "store/systems/entire/rewind/concurrent_sessions.h"
#include "store/systems/entire/rewind/disktree.h"
#include "store/systems/entire/rewind/planning.h"

/* What a rewind to a checkpoint would be: its tree into the work tree. HEAD, the index, the branch and the shadow
 * branch stay where they are.
 *
 * Two rules. Ours: a file that the checkpoint lacks goes when it is known to be work of the sessions (some checkpoint of
 * the branch has it), so also one that is tracked in HEAD; what git ignores and what was there before the session stays; a
 * file that nobody knows is listed and left alone unless that is allowed. Entire's own (4.2): every file goes that
 * neither the checkpoint, nor HEAD, nor the list of the session's beginning has, ignored ones too. */

/* ---- which tree ---- */

static enum err_code find_plan_trees(struct planning *p, struct err *e)
{
    const struct view *v = &p->view;
    struct links links;

    p->has_head = view_head_tree(v, &p->head);
    if (p->point->source == POINT_SHADOW) {
        p->wanted = p->point->tree;
        p->has_last = view_branch_tree(v, p->point->branch.p, &p->last);
        return ERR_OK;
    }
    enum err_code rc = links_read(v->repo, &p->view.arena, &links, e);
    const struct link *link = rc ? NULL : links_find(&links, p->point->id);

    if (rc)
        return rc;
    if (!link || !view_commit_tree(v, &link->commit, &p->wanted))
        return err_set(e, ERR_NOT_FOUND, v->store->base.path,
                       "rewind: no commit of this repository carries checkpoint %s",
                       p->point->id.p);
    p->last = p->head;
    p->has_last = p->has_head;
    return ERR_OK;
}

/* The newest shadow tree says more of the present work than HEAD does. */
static void prefer_shadow(struct planning *p)
{
    const struct view *v = &p->view;
    char name[ENTIRE_SHADOW_NAME], hex[GIT_OID_HEXSZ + 1];
    git_oid head;

    if (p->point->source == POINT_SHADOW || git_reference_name_to_id(&head, v->repo, "HEAD"))
        return;
    git_oid_tostr(hex, sizeof hex, &head);
    entire_shadow_name((struct slice){ hex, GIT_OID_HEXSZ }, slice_of(v->store->worktree_id), name);
    p->has_last = view_branch_tree(v, name, &p->last) || p->has_last;
}

/* ---- files that are to go ---- */

static bool in_tree(struct planning *p, const git_oid *tree, const char *path)
{
    git_oid blob;
    unsigned mode;

    return planning_entry(p, tree, path, &blob, &mode);
}

/* Does any checkpoint of the branch have it? Of a commit: does HEAD? */
static bool is_known_path(struct planning *p, const char *path)
{
    const struct point_list *all = &p->view.catalog->points;

    if (p->has_last && in_tree(p, &p->last, path))
        return true;
    if (p->point->source != POINT_SHADOW)
        return p->has_head && in_tree(p, &p->head, path);
    for (size_t i = 0; i < all->n; i++)
        if (all->point[i].source == POINT_SHADOW &&
            slice_eq(all->point[i].branch, p->point->branch) &&
            in_tree(p, &all->point[i].tree, path))
            return true;
    return false;
}

/* Entire's own rule, the whole of it. */
static bool goes_by_entire(struct planning *p, const char *path)
{
    return p->has_start && !planning_at_start(p, path) &&
           !(p->has_head && in_tree(p, &p->head, path));
}

/* Ours. What was there at the start goes only when HEAD has it too, so that git can give it back. */
static bool goes(struct planning *p, const char *path)
{
    bool tracked = p->has_head && in_tree(p, &p->head, path);

    if (planning_at_start(p, path) && !tracked)
        return false;
    return is_known_path(p, path) || !tracked;
}

static enum err_code add_removals(struct planning *p, struct rewind_plan *plan, struct err *e)
{
    struct disktree disk;
    enum err_code rc =
        disktree_read(p->entire_rule ? NULL : &p->rules, p->view.root, &p->view.arena, &disk, e);

    for (size_t i = 0; i < disk.n && !rc; i++)
        if (!in_tree(p, &p->wanted, disk.path[i]) &&
            (p->entire_rule ? goes_by_entire(p, disk.path[i]) : goes(p, disk.path[i])))
            rc = planning_removal(p, disk.path[i], plan, e);
    return rc;
}

/* ---- the plan ---- */

static enum err_code make_plan(struct planning *p, struct rewind_plan *plan, struct err *e)
{
    enum err_code rc = find_plan_trees(p, e);

    if (rc)
        return rc;
    prefer_shadow(p);
    rc = planning_start(p, e);
    if (!rc)
        rc = planning_describe(p, plan, e);
    if (!rc)
        rc = planning_files(p, plan, e);
    if (!rc)
        rc = add_removals(p, plan, e);
    if (!rc)
        rc = entire_concurrent_mark(p, plan, e);
    return rc ? rc : planning_notes(p, plan, e);
}

enum err_code entire_plan(const struct store *st, const struct session_ref *ref, struct slice point,
                          struct rewind_plan *out, struct err *e)
{
    return planning_run(st, ref, point, &(struct planning){ .entire_rule = false }, make_plan, out,
                        e);
}

enum err_code entire_plan_own(const struct store *st, const struct session_ref *ref,
                              struct slice point, struct rewind_plan *out, struct err *e)
{
    return planning_run(st, ref, point, &(struct planning){ .entire_rule = true }, make_plan, out,
                        e);
}
