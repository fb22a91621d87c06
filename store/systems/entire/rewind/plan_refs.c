#include <stdio.h>
#include <string.h>

#include "store/git/repo.h"
#include "store/rewind/plan/rewind.h"
#include "store/systems/entire/names.h"
#include "store/systems/entire/read/view.h"

/* The shadow branch goes back with the files, as Entire's own rewind moved it (entire.md 4.2). Others work on it too: so it
 * is asked for, what it drops keeps a name, and undo moves it forth again. */

#define MOVED_REFS "refs/reprise/moved/"

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
        return err_set(m->e, ERR_UNSUPPORTED, m->v->store->base.path,
                       "rewind: checkpoint %s is committed: no shadow branch can go back to it",
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

/* Named for what it keeps: the same tip twice is one ref. */
static enum err_code keep_tip(struct moving *m, const char *tip)
{
    const char *branch = m->point->branch.p + strlen("entire/");
    const char *kept = arena_format(&m->plan->arena, MOVED_REFS "%s-%.12s", branch, tip);
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
    const char *text = arena_format(
        &m->plan->arena,
        "the shadow branch goes back too: %zu checkpoint%s of it, %zu of other sessions, stay "
        "under " MOVED_REFS " only",
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
        conversation->change->text = "the shadow branch went back";
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
