#include <stdio.h>
#include <string.h>

#include "store/git/repo.h"
#include "store/rewind/plan/rewind.h"
#include "store/systems/entire/entire.h"
#include "store/systems/entire/names.h"
#include "store/systems/entire/read/point.h"
#include "store/systems/entire/rewind/plan_common.h"

/* The plan of a rewind to a checkpoint makes the work tree equal to that of the checkpoint. HEAD,
 * the index, the branch and the shadow branch are not changed.
 *
 * There are two rules for files that the checkpoint lacks. By ours, such a file is removed if it is
 * known to be work of the sessions, because some checkpoint of the branch contains it, even if HEAD
 * has it too. Files that git ignores and files that existed before the session stay; any other file
 * is listed, and kept unless its removal is allowed. By Entire's own rule (docs/formats/entire.md
 * 4.2), every file is removed that is neither in the checkpoint, nor in HEAD, nor in the list of
 * the session's beginning, even if git ignores it. */

/* ---- the plan of all files ---- */

static bool in_tree(struct planning *p, const git_oid *tree, const char *path)
{
    git_oid blob;
    unsigned mode;

    return view_tree_entry(&p->view, tree, path, &blob, &mode);
}

/* Finds the tree that the work tree is to become, and the newest one that the sessions recorded of it. */
static enum err_code find_plan_trees(struct planning *p, struct err *e)
{
    const struct view *v = &p->view;
    char name[ENTIRE_SHADOW_NAME], hex[GIT_OID_HEXSZ + 1];
    struct links links;
    git_oid head;

    p->has_head = view_head_tree(v, &p->head);
    if (p->point->source == POINT_SHADOW) {
        p->wanted = p->point->tree;
        p->has_last = view_branch_tree(v, p->point->branch.p, &p->last);
        return ERR_OK;
    }
    TRY(point_links_read(v->repo, &p->view.arena, &links, e));
    const struct link *link = point_link_find(&links, p->point->id);

    if (!link || !view_commit_tree(v, &link->commit, &p->wanted))
        return err_set(e, ERR_NOT_FOUND, v->store->base.path,
                       "rewind: no commit of this repository names checkpoint %s", p->point->id.p);
    p->last = p->head;
    p->has_last = p->has_head;

    /* The newest shadow tree is closer to the present work tree than HEAD is. */
    if (git_reference_name_to_id(&head, v->repo, "HEAD"))
        return ERR_OK;
    git_oid_tostr(hex, sizeof hex, &head);
    entire_shadow_name((struct slice){ hex, GIT_OID_HEXSZ }, slice_of(v->store->worktree_id), name);
    p->has_last = view_branch_tree(v, name, &p->last) || p->has_last;
    return ERR_OK;
}

/* Returns true if a file that the checkpoint lacks is one of the removals of the plan, by the rules above. */
static bool is_removal(struct planning *p, const char *path)
{
    bool at_start = planning_at_start(p, path), tracked = p->has_head && in_tree(p, &p->head, path);

    if (p->entire_rule)
        return p->has_start && !at_start && !tracked;
    /* A file that existed at the start is removed only if HEAD has it, so that git can restore it. */

    if (!tracked)
        return !at_start;
    /* Any checkpoint of the branch may contain the path or, for a committed point, HEAD. */
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

static enum err_code entire_make_plan(struct planning *p, struct rewind_plan *plan, struct err *e)
{
    struct disktree disk;

    TRY(find_plan_trees(p, e));
    TRY(planning_start(p, e));
    TRY(planning_describe(p, plan, e));
    TRY(planning_files(p, plan, e));
    TRY(disktree_read(p->entire_rule ? NULL : &p->rules, p->view.root, &p->view.arena, &disk, e));
    for (size_t i = 0; i < disk.n; i++)
        if (!in_tree(p, &p->wanted, disk.path[i]) && is_removal(p, disk.path[i]))
            TRY(planning_removal(p, disk.path[i], plan, e));
    TRY(planning_mark_concurrent(p, plan, e));
    return planning_notes(p, plan, e);
}

enum err_code entire_plan(const struct store *st, const struct session_ref *ref, struct slice point,
                          struct rewind_plan *out, struct err *e)
{
    return planning_run(st, ref, point, false, entire_make_plan, out, e);
}

enum err_code entire_plan_own(const struct store *st, const struct session_ref *ref,
                              struct slice point, struct rewind_plan *out, struct err *e)
{
    return planning_run(st, ref, point, true, entire_make_plan, out, e);
}

/* ---- the plan of a single turn ---- */

/* Each file becomes what it was before the turn, and is expected to be what the turn left. */

static enum err_code entire_plan_file(struct planning *p, const git_diff_delta *delta,
                                      struct rewind_plan *plan, struct err *e)
{
    bool added = delta->status == GIT_DELTA_ADDED;

    const git_diff_file *was = &delta->old_file, *known = added ? &delta->new_file : was;
    const char *path = delta->new_file.path;

    if (disktree_apart(path)) {
        p->apart += view_is_work(delta);
        return ERR_OK;
    }
    if ((known->mode & 0170000) != 0100000) {
        p->links++; /* or a submodule */
        return ERR_OK;
    }

    /* A session's first checkpoint contains all untracked files, even those that existed before the
     * session. */
    if (!added)
        return planning_file(p, path, &was->id, was->mode, plan, e);

    bool ignored = false;

    if (planning_at_start(p, path))
        return ERR_OK;
    TRY(disktree_is_ignored(&p->rules, path, false, &ignored, e));
    if (ignored) {
        p->ignored++;
        return ERR_OK;
    }
    if (p->has_start || p->point->source != POINT_SHADOW)
        return planning_removal(p, path, plan, e);
    const struct rewind_target t = {
        .path = arena_format(&plan->arena, "%s/%s", p->view.root, path),
        .want = REWIND_UNKNOWN,
        .why = "unknown whether it existed before the session",
    };

    NEED(t.path);
    return rewind_plan_add(plan, &t, e);
}

static enum err_code make_turn_plan(struct planning *p, struct rewind_plan *plan, struct err *e)
{
    CLEANUP(view_turn_close) struct view_turn t = { .diff = NULL };
    struct links links = { 0 };
    const struct link *link = NULL;

    if (p->point->source != POINT_SHADOW) {
        TRY(point_links_read(p->view.repo, &p->view.arena, &links, e));
        link = point_link_find(&links, p->point->id);
    }
    if (!view_turn_open(&p->view, p->point, link, &t))
        return err_set(e, ERR_NOT_FOUND, p->view.store->base.path,
                       "rewind: the files before the turn of checkpoint %s are unknown",
                       p->point->id.p);
    p->has_head = view_head_tree(&p->view, &p->head);
    p->wanted = t.before;
    p->last = t.after;
    p->has_last = true;
    TRY(planning_describe(p, plan, e));
    TRY(planning_start(p, e));
    for (size_t i = 0; i < git_diff_num_deltas(t.diff); i++)
        TRY(entire_plan_file(p, git_diff_get_delta(t.diff, i), plan, e));
    TRY(planning_mark_concurrent(p, plan, e));
    return planning_notes(p, plan, e);
}

enum err_code entire_plan_turn(const struct store *st, const struct session_ref *ref,
                               struct slice point, struct rewind_plan *out, struct err *e)
{
    return planning_run(st, ref, point, false, make_turn_plan, out, e);
}

/* ---- the shadow branch ---- */

/* Moving the shadow branch back together with the files, as Entire's own rewind did (docs/formats/entire.md 4.2).
 * Other sessions work on it too; therefore it is moved only on request, the dropped commits keep a ref, and undo
 * moves it forward again. */

/* Keeps the tip under a ref that is named after the commit, so that the same tip has one ref only. */
static enum err_code keep_tip(const struct view *v, const struct point *point, const git_oid *tip,
                              struct rewind_plan *plan, struct err *e)
{
    const char *branch = point->branch.p + strlen("entire/"), *kept;
    char hex[GIT_OID_HEXSZ + 1];
    git_oid now;
    bool there;

    git_oid_tostr(hex, sizeof hex, tip);
    NEED(kept = arena_format(&plan->arena, ENTIRE_MOVED "%s-%.12s", branch, hex));
    TRY(repo_ref(v->repo, kept, &there, &now, e));
    if (there)
        return git_oid_equal(&now, tip)
                   ? ERR_OK
                   : err_set(e, ERR_STALE, kept, "rewind: this ref names another commit");
    const struct step keep = { .kind = STEP_REF,
                               .path = v->store->common,
                               .to = kept,
                               .bytes = { hex, GIT_OID_HEXSZ },
                               .old_absent = true };

    return change_add(plan->conversation.change, &keep, e);
}

/* Adds the steps that move the shadow branch `ref` from its tip back to the point. */
static enum err_code move_branch_back(const struct view *v, const struct point *point,
                                      const char *ref, const git_oid *tip, struct rewind_plan *plan,
                                      struct err *e)
{
    struct rewind_conversation *conversation = &plan->conversation;
    const struct point_list *all = &v->catalog->points;
    char from[GIT_OID_HEXSZ + 1], to[GIT_OID_HEXSZ + 1];
    size_t later = 0, others = 0;
    const char *note;

    git_oid_tostr(from, sizeof from, tip);
    git_oid_tostr(to, sizeof to, &point->commit);
    const struct step back = { .kind = STEP_REF,
                               .path = v->store->common,
                               .to = ref,
                               .bytes = { to, GIT_OID_HEXSZ },
                               .old = { from, GIT_OID_HEXSZ } };

    /* The steps join those of the conversation, if that is rewound too. */
    if (!conversation->change) {
        NEED(conversation->change = change_new("rewind"));
        conversation->how = CONVERSATION_REFS;
        conversation->change->text = "the shadow branch was moved back";
    }
    TRY(keep_tip(v, point, tip, plan, e));
    TRY(change_add(conversation->change, &back, e));
    if (conversation->how == CONVERSATION_REFS)
        TRY(change_add_session(conversation->change, plan->system, point->session, e));

    /* Tell the user which commits the branch loses. */
    for (size_t i = 0; i < all->n; i++) {
        const struct point *p = &all->point[i];
        bool lost = p->source == POINT_SHADOW && slice_eq(p->branch, point->branch) &&
                    p->order < point->order;

        later += lost;
        others += lost && !slice_eq(p->session, point->session);
    }
    NEED(note = arena_format(&plan->arena,
                             "the shadow branch moves back too: %zu checkpoint%s of it, %zu of "
                             "other sessions, stay under " ENTIRE_MOVED " only",
                             later, later == 1 ? "" : "s", others));
    return rewind_plan_note(plan, note, e);
}

enum err_code entire_plan_refs(const struct store *st, const struct session_ref *ref,
                               struct rewind_plan *plan, struct err *e)
{
    CLEANUP(view_close) struct view v = { 0 };
    const struct point *p;
    char branch[ENTIRE_SHADOW_NAME + sizeof ENTIRE_HEADS];
    git_oid tip;
    bool there;

    TRY(view_open(st, ref, &v, e));
    TRY(view_point(&v, slice_of(plan->point), &p, e));
    if (p->source != POINT_SHADOW)
        return err_set(
            e, ERR_UNSUPPORTED, v.store->base.path,
            "rewind: checkpoint %s is committed, so the shadow branch cannot be moved back to it",
            p->id.p);
    if (p->branch.n >= ENTIRE_SHADOW_NAME)
        return err_set(e, ERR_UNSAFE, p->branch.p, "rewind: the branch's name is too long");
    snprintf(branch, sizeof branch, ENTIRE_HEADS "%s", p->branch.p);
    if (repo_is_checked_out(v.repo, p->branch.p))
        return err_set(e, ERR_UNSUPPORTED, branch, "rewind: a work tree has it checked out");
    TRY(repo_ref(v.repo, branch, &there, &tip, e));
    if (!there)
        return err_set(e, ERR_NOT_FOUND, branch, "rewind: the shadow branch is gone");
    return git_oid_equal(&tip, &p->commit) ? ERR_OK
                                           : move_branch_back(&v, p, branch, &tip, plan, e);
}
