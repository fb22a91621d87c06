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
    enum err_code rc = point_links_read(v->repo, &p->view.arena, &links, e);
    const struct link *link = rc ? NULL : point_link_find(&links, p->point->id);

    if (rc)
        return rc;
    if (!link || !view_commit_tree(v, &link->commit, &p->wanted))
        return err_set(e, ERR_NOT_FOUND, v->store->base.path,
                       "rewind: no commit of this repository names checkpoint %s", p->point->id.p);
    p->last = p->head;
    p->has_last = p->has_head;
    return ERR_OK;
}

/* The newest shadow tree is closer to the present work tree than HEAD is. */
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

    return view_tree_entry(&p->view, tree, path, &blob, &mode);
}

/* Returns true if any checkpoint of the branch contains the path or, for a committed point, HEAD does. */
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

/* Entire's own rule. */
static bool is_removed_by_entire(struct planning *p, const char *path)
{
    return p->has_start && !planning_at_start(p, path) &&
           !(p->has_head && in_tree(p, &p->head, path));
}

/* Our rule. A file that existed at the start is removed only if HEAD has it, so that git can restore it. */
static bool is_removed(struct planning *p, const char *path)
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
            (p->entire_rule ? is_removed_by_entire(p, disk.path[i]) : is_removed(p, disk.path[i])))
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
        rc = planning_mark_concurrent(p, plan, e);
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

/* The plan of a single turn: what each file was before it, and what the turn left. */

/* A session's first checkpoint contains all untracked files, even those that existed before the session. */
static enum err_code plan_added(struct planning *p, const char *path, struct rewind_plan *plan,
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
        .why = "unknown whether it existed before the session",
    };

    return t.path ? rewind_plan_add(plan, &t, e) : err_nomem(e);
}

/* Returns true for a file, false for a link or a submodule. */
static bool is_plain_file(const git_diff_file *file)
{
    return (file->mode & 0170000) == 0100000;
}

static enum err_code plan_file(struct planning *p, const git_diff_delta *delta,
                               struct rewind_plan *plan, struct err *e)
{
    const char *path = delta->new_file.path;
    const git_diff_file *was = &delta->old_file;

    if (disktree_apart(path)) {
        p->apart += view_is_work(delta);
        return ERR_OK;
    }
    if (!is_plain_file(delta->status == GIT_DELTA_ADDED ? &delta->new_file : was)) {
        p->links++;
        return ERR_OK;
    }
    return delta->status == GIT_DELTA_ADDED ? plan_added(p, path, plan, e)
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
    struct view_turn t = { .diff = NULL };
    bool committed = p->point->source != POINT_SHADOW;
    enum err_code rc =
        committed ? point_links_read(p->view.repo, &p->view.arena, &links, e) : ERR_OK;

    if (rc)
        return rc;
    const struct link *link = committed ? point_link_find(&links, p->point->id) : NULL;

    if (!view_turn_open(&p->view, p->point, link, &t))
        rc = err_set(e, ERR_NOT_FOUND, p->view.store->base.path,
                     "rewind: the files before the turn of checkpoint %s are unknown",
                     p->point->id.p);
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
    view_turn_close(&t);
    if (!rc)
        rc = planning_mark_concurrent(p, plan, e);
    return rc ? rc : planning_notes(p, plan, e);
}

enum err_code entire_plan_turn(const struct store *st, const struct session_ref *ref,
                               struct slice point, struct rewind_plan *out, struct err *e)
{
    return planning_run(st, ref, point, &(struct planning){ .entire_rule = false }, make_turn_plan,
                        out, e);
}

/* Moving the shadow branch back together with the files, as Entire's own rewind did (docs/formats/entire.md 4.2).
 * Other sessions work on it too; therefore it is moved only on request, the dropped commits keep a ref, and undo
 * moves it forward again. */

struct moving {
    const struct view *v;
    const struct point *point;
    struct rewind_plan *plan;
    git_oid tip;
    char ref[ENTIRE_SHADOW_NAME + sizeof ENTIRE_HEADS];
    struct err *e;
};

static enum err_code find_tip(struct moving *m)
{
    const struct point *p = m->point;
    bool there;

    if (p->source != POINT_SHADOW)
        return err_set(
            m->e, ERR_UNSUPPORTED, m->v->store->base.path,
            "rewind: checkpoint %s is committed, so the shadow branch cannot be moved back to it",
            p->id.p);
    if (p->branch.n >= ENTIRE_SHADOW_NAME)
        return err_set(m->e, ERR_UNSAFE, p->branch.p, "rewind: the branch's name is too long");
    snprintf(m->ref, sizeof m->ref, ENTIRE_HEADS "%s", p->branch.p);
    if (repo_is_checked_out(m->v->repo, p->branch.p))
        return err_set(m->e, ERR_UNSUPPORTED, m->ref, "rewind: a work tree has it checked out");
    enum err_code rc = repo_ref(m->v->repo, m->ref, &there, &m->tip, m->e);

    return rc || there ? rc
                       : err_set(m->e, ERR_NOT_FOUND, m->ref, "rewind: the shadow branch is gone");
}

/* The ref is named after the commit, so that the same tip has one ref only. */
static enum err_code keep_tip(struct moving *m, const char *tip)
{
    const char *branch = m->point->branch.p + strlen("entire/");
    const char *kept = arena_format(&m->plan->arena, ENTIRE_MOVED "%s-%.12s", branch, tip);
    git_oid now;
    bool there;

    if (!kept)
        return err_nomem(m->e);
    enum err_code rc = repo_ref(m->v->repo, kept, &there, &now, m->e);

    if (rc)
        return rc;
    if (there)
        return git_oid_equal(&now, &m->tip)
                   ? ERR_OK
                   : err_set(m->e, ERR_STALE, kept, "rewind: this ref names another commit");
    const struct step keep = { .kind = STEP_REF,
                               .path = m->v->store->common,
                               .to = kept,
                               .bytes = { tip, GIT_OID_HEXSZ },
                               .old_absent = true };

    return change_add(m->plan->conversation.change, &keep, m->e);
}

static enum err_code note_dropped_commits(struct moving *m)
{
    const struct point_list *all = &m->v->catalog->points;
    size_t later = 0, others = 0;

    for (size_t i = 0; i < all->n; i++) {
        const struct point *p = &all->point[i];
        bool drops = p->source == POINT_SHADOW && slice_eq(p->branch, m->point->branch) &&
                     p->order < m->point->order;

        later += drops;
        others += drops && !slice_eq(p->session, m->point->session);
    }
    const char *text = arena_format(&m->plan->arena,
                                    "the shadow branch moves back too: %zu checkpoint%s of "
                                    "it, %zu of other sessions, stay "
                                    "under " ENTIRE_MOVED " only",
                                    later, later == 1 ? "" : "s", others);

    return text ? rewind_plan_note(m->plan, text, m->e) : err_nomem(m->e);
}

static enum err_code add_steps(struct moving *m)
{
    struct rewind_conversation *conversation = &m->plan->conversation;
    char tip[GIT_OID_HEXSZ + 1], to[GIT_OID_HEXSZ + 1];

    git_oid_tostr(tip, sizeof tip, &m->tip);
    git_oid_tostr(to, sizeof to, &m->point->commit);
    const struct step back = { .kind = STEP_REF,
                               .path = m->v->store->common,
                               .to = m->ref,
                               .bytes = { to, GIT_OID_HEXSZ },
                               .old = { tip, GIT_OID_HEXSZ } };

    if (!conversation->change) {
        conversation->change = change_new("rewind");
        conversation->how = CONVERSATION_REFS;
        if (!conversation->change)
            return err_nomem(m->e);
        conversation->change->text = "the shadow branch was moved back";
    }
    enum err_code rc = keep_tip(m, tip);

    if (!rc)
        rc = change_add(conversation->change, &back, m->e);
    if (!rc && conversation->how == CONVERSATION_REFS)
        rc = change_add_session(conversation->change, m->plan->system, m->point->session, m->e);
    return rc ? rc : note_dropped_commits(m);
}

enum err_code entire_plan_refs(const struct store *st, const struct session_ref *ref,
                               struct rewind_plan *plan, struct err *e)
{
    struct view v;
    struct moving m = { .v = &v, .plan = plan, .e = e };
    const struct slice point = slice_of(plan->point);
    enum err_code rc = view_open(st, ref, &v, e);

    if (rc)
        return rc;
    rc = view_point(&v, point, &m.point, e);
    if (!rc)
        rc = find_tip(&m);
    if (!rc && !git_oid_equal(&m.tip, &m.point->commit))
        rc = add_steps(&m);
    view_close(&v);
    return rc;
}
