#include "store/systems/entire/entire.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "store/fs/path.h"
#include "store/git/repo.h"
#include "store/systems/common/jsonl.h"
#include "store/systems/entire/names.h"

/* Which repository handle and which trees: a repository has several work trees, and a session belongs to one of them,
 * which may be gone, or may have been replaced by something else. Paths that a state file names are used only if git
 * lists them as work trees of this very repository; a rewind also checks that the .git there leads back to it. */

/* The path in a state file is used only if it is a work tree of the repository. */
const char *view_root(const struct entire *x, const struct catalog_session *s)
{
    for (size_t i = 0; s->state && i < x->trees; i++)
        if (slice_eq(s->state->worktree_path, slice_of(x->tree[i])) && path_is_dir(x->tree[i]))
            return x->tree[i];
    return x->worktree;
}

/* If the repository is opened from its work tree, git knows what it ignores there. Without a .git in it, the git
 * directory has to be opened. */
static bool has_git(const char *root)
{
    char path[PATH_MAX];
    struct stat st;

    return root && (size_t)snprintf(path, sizeof path, "%s/.git", root) < sizeof path &&
           lstat(path, &st) == 0;
}

enum err_code view_open(const struct store *st, const struct session_ref *ref, struct view *out,
                        struct err *e)
{
    CLEANUP(view_close) struct view v = { .store = entire_of(st) };

    TRY(entire_session(st, ref->id, &v.catalog, &v.session, e));
    v.root = view_root(v.store, v.session);
    TRY(repo_open(has_git(v.root) ? v.root : v.store->git, &v.repo, e));
    HAND_OVER(out, v);
    return ERR_OK;
}

bool view_root_is_own(const struct view *v)
{
    const char *common = git_repository_commondir(v->repo);
    size_t n = strlen(v->store->common);

    return has_git(v->root) && strncmp(common, v->store->common, n) == 0 &&
           strspn(common + n, "/") == strlen(common + n);
}

void view_close(struct view *v)
{
    repo_close(v->repo);
    catalog_close(v->catalog);
    arena_fini(&v->arena);
}

bool view_commit_tree(const struct view *v, const git_oid *commit, git_oid *tree)
{
    AUTO_COMMIT *c = NULL;

    if (git_commit_lookup(&c, v->repo, commit))
        return false;
    *tree = *git_commit_tree_id(c);
    return true;
}

bool view_head_tree(const struct view *v, git_oid *tree)
{
    git_oid head;

    return repo_has_ref(v->repo, "HEAD", &head) && view_commit_tree(v, &head, tree);
}

bool view_tree_entry(const struct view *v, const git_oid *tree, const char *path, git_oid *blob,
                     unsigned *mode)
{
    AUTO_TREE *t = NULL;
    CLEANUP(git_tree_entry_free_at) git_tree_entry *x = NULL;

    if (git_tree_lookup(&t, v->repo, tree) || git_tree_entry_bypath(&x, t, path) ||
        git_tree_entry_type(x) != GIT_OBJECT_BLOB)
        return false;
    *blob = *git_tree_entry_id(x);
    *mode = (unsigned)git_tree_entry_filemode_raw(x);
    return true;
}

bool view_branch_tree(const struct view *v, const char *branch, git_oid *tree)
{
    char ref[256];
    git_oid tip;

    return (size_t)snprintf(ref, sizeof ref, ENTIRE_HEADS "%s", branch) < sizeof ref &&
           repo_has_ref(v->repo, ref, &tip) && view_commit_tree(v, &tip, tree);
}

enum err_code view_point(const struct view *v, struct slice id, const struct point **out,
                         struct err *e)
{
    struct point_search s = { .id = id };

    for (size_t i = 0; i < v->session->n; i++)
        point_search_offer(&s, v->session->point[i].id, i);
    if (s.hits != 1)
        return point_search_error(&s, v->store->base.path, "checkpoints",
                                  "the session has no checkpoint", e);
    *out = &v->session->point[s.at];
    return ERR_OK;
}

bool view_is_work(const git_diff_delta *delta)
{
    return strncmp(delta->new_file.path, ".entire/", 8) != 0;
}

/* Finds the trees before and after the turn of a shadow commit: its own, and that of its parent or else of the commit
 * that the branch was made on, whose first digits are in the name of the branch (entire/1234567-a1b2c3). */
static bool find_shadow_trees(const struct view *v, const struct point *p, struct view_turn *t)
{
    AUTO_COMMIT *c = NULL;
    CLEANUP(git_object_free_at) git_object *base = NULL;
    const git_oid *up;
    git_oid id;

    t->after = p->tree;
    if (git_commit_lookup(&c, v->repo, &p->commit))
        return false;
    up = git_commit_parent_id(c, 0);
    if (!up) {
        const char *hex = p->branch.p + strlen("entire/");
        size_t n = strcspn(hex, "-");

        if (git_oid_fromstrn(&id, hex, n) ||
            git_object_lookup_prefix(&base, v->repo, &id, n, GIT_OBJECT_COMMIT))
            return false;
        up = git_object_id(base);
    }
    return view_commit_tree(v, up, &t->before);
}

bool view_turn_open(const struct view *v, const struct point *p, const struct link *link,
                    struct view_turn *out)
{
    AUTO_COMMIT *c = NULL;
    AUTO_TREE *before = NULL, *after = NULL;
    bool known;

    *out = (struct view_turn){ .diff = NULL };
    if (p->source == POINT_SHADOW) {
        known = out->has_before = find_shadow_trees(v, p, out);
    } else if ((known = link && git_commit_lookup(&c, v->repo, &link->commit) == 0)) {
        out->after = *git_commit_tree_id(c);
        out->has_before = git_commit_parentcount(c) > 0;
        known = !out->has_before || view_commit_tree(v, git_commit_parent_id(c, 0), &out->before);
    }
    if (!known)
        return false;

    const git_oid *from = out->has_before ? &out->before : NULL;

    out->too_large = repo_tree_fits(v->repo, &out->after, from, NULL) == ERR_UNSUPPORTED;
    return !out->too_large && git_tree_lookup(&after, v->repo, &out->after) == 0 &&
           (!from || git_tree_lookup(&before, v->repo, from) == 0) &&
           git_diff_tree_to_tree(&out->diff, v->repo, before, after, NULL) == 0;
}

void view_turn_close(struct view_turn *t)
{
    git_diff_free(t->diff);
    t->diff = NULL;
}

/* ---- the shadow branch ---- */

/* The branch that the session works on now, without refs/heads/. */
static struct slice own_branch(const struct view *v, char name[ENTIRE_SHADOW_NAME])
{
    assert(v->session->state);
    entire_shadow_name(v->session->state->base, v->session->state->worktree_id, name);
    return slice_of(name);
}

bool view_shadow_is_unread(const struct view *v)
{
    const struct shadow_list *all = &v->catalog->shadows;
    char name[ENTIRE_SHADOW_NAME], ref[ENTIRE_SHADOW_NAME + 16];
    struct slice branch = own_branch(v, name);
    git_oid tip;
    bool there;

    for (size_t i = 0; i < all->n; i++)
        if (slice_eq(all->shadow[i].branch, branch))
            return false;
    snprintf(ref, sizeof ref, ENTIRE_HEADS "%s", name);
    return repo_ref(v->repo, ref, &there, &tip, NULL) || there;
}

bool view_owns_shadow(const struct view *v, const struct shadow *shadow)
{
    char name[ENTIRE_SHADOW_NAME];
    const struct catalog_session *s = v->session;

    if (s->state && slice_eq(shadow->branch, own_branch(v, name)))
        return true;
    for (size_t i = 0; i < s->n; i++)
        if (s->point[i].source == POINT_SHADOW && slice_eq(s->point[i].branch, shadow->branch))
            return true;
    return false;
}
