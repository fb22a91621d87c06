#include "store/systems/entire/write/migrate_shadow.h"

#include <stdio.h>
#include <string.h>

#include "store/git/ref.h"
#include "store/git/repo.h"
#include "store/systems/entire/names.h"
#include "store/systems/entire/write/state_write.h"
#include "store/systems/entire/write/treewrite.h"

static void name_ref(struct slice base, struct slice worktree, char ref[ENTIRE_SHADOW_NAME + 16])
{
    char name[ENTIRE_SHADOW_NAME];

    entire_shadow_name(base, worktree, name);
    snprintf(ref, ENTIRE_SHADOW_NAME + 16, ENTIRE_HEADS "%s", name);
}

/* The new name comes before the old one goes: a crash between them leaves the commits named twice. Where a session has
 * begun under the new name already, both stay. */
static enum err_code rename_branch(const struct view *v, const char *from, const char *to,
                                   struct err *e)
{
    git_oid tip, other;
    bool old, new;

    if (strcmp(from, to) == 0)
        return ERR_OK;
    enum err_code rc = repo_ref(v->repo, from, &old, &tip, e);

    if (!rc)
        rc = repo_ref(v->repo, to, &new, &other, e);
    if (rc || !old || new)
        return rc;
    rc = ref_move(v->repo, to, NULL, &tip, "entire: HEAD moved", e);

    return rc ? rc : ref_move(v->repo, from, &tip, NULL, "entire: HEAD moved", e);
}

enum err_code migrate_shadow(struct view *v, struct slice *base, struct err *e)
{
    const struct entire_state *s = v->session->state;
    char hex[GIT_OID_HEXSZ + 1], from[ENTIRE_SHADOW_NAME + 16], to[ENTIRE_SHADOW_NAME + 16];
    git_oid head;
    bool there;
    enum err_code rc = repo_ref(v->repo, "HEAD", &there, &head, e);

    if (rc)
        return rc;
    if (!there)
        return err_set(e, ERR_FORMAT, v->store->base.path,
                       "write a checkpoint: there is no commit yet");
    git_oid_tostr(hex, sizeof hex, &head);
    *base = arena_copy(&v->arena, (struct slice){ hex, GIT_OID_HEXSZ });
    if (!base->p)
        return err_nomem(e);
    if (slice_eq(s->base, *base))
        return ERR_OK;
    name_ref(s->base, s->worktree_id, from);
    name_ref(*base, s->worktree_id, to);
    /* Lines of people and agents are counted from the old base on, also where the file did not say so. */
    const struct go_json_member set[] = {
        { "base_commit", state_text(&v->arena, *base) },
        { "attribution_base_commit",
          state_text(&v->arena, s->attribution_base.n ? s->attribution_base : *base) },
    };
    /* A session that began before the first commit has no branch. */
    rc = s->base.n ? rename_branch(v, from, to, e) : ERR_OK;
    return rc ? rc : state_change(v->store, s, set, sizeof set / sizeof *set, e);
}
