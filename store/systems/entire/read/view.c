#include "store/systems/entire/entire.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "store/git/repo.h"
#include "store/systems/entire/names.h"

enum { PREFIX_MIN = 4 };

/* The path in a state file is used only if it is a work tree of the repository. */
const char *view_root(const struct entire *x, const struct catalog_session *s)
{
    struct stat st;

    for (size_t i = 0; s->state && i < x->trees; i++)
        if (slice_eq(s->state->worktree_path, slice_of(x->tree[i])) && stat(x->tree[i], &st) == 0 &&
            S_ISDIR(st.st_mode))
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
    struct view v = { .store = entire_of(st) };
    enum err_code rc = entire_session(st, ref->id, &v.catalog, &v.session, e);

    if (rc)
        return rc;
    v.root = view_root(v.store, v.session);
    rc = repo_open(has_git(v.root) ? v.root : v.store->git, &v.repo, e);
    if (rc)
        view_close(&v);
    else
        *out = v;
    return rc;
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
    catalog_close(v->store->cache, v->catalog);
    arena_fini(&v->arena);
}

bool view_commit_tree(const struct view *v, const git_oid *commit, git_oid *tree)
{
    git_commit *c = NULL;

    if (git_commit_lookup(&c, v->repo, commit))
        return false;
    *tree = *git_commit_tree_id(c);
    git_commit_free(c);
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
    git_tree *t = NULL;
    git_tree_entry *x = NULL;
    bool found = git_tree_lookup(&t, v->repo, tree) == 0 &&
                 git_tree_entry_bypath(&x, t, path) == 0 &&
                 git_tree_entry_type(x) == GIT_OBJECT_BLOB;

    if (found) {
        *blob = *git_tree_entry_id(x);
        *mode = (unsigned)git_tree_entry_filemode_raw(x);
    }
    git_tree_entry_free(x);
    git_tree_free(t);
    return found;
}

bool view_branch_tree(const struct view *v, const char *branch, git_oid *tree)
{
    char ref[256];
    git_oid tip;

    return (size_t)snprintf(ref, sizeof ref, ENTIRE_HEADS "%s", branch) < sizeof ref &&
           repo_has_ref(v->repo, ref, &tip) && view_commit_tree(v, &tip, tree);
}

/* Finds the tree of the commit after which a shadow branch is named, by its first digits. */
static bool base_tree(const struct view *v, const struct point *p, git_oid *tree)
{
    static const char front[] = "entire/";
    struct slice hex = { p->branch.p + sizeof front - 1, p->branch.n - (sizeof front - 1) };
    const char *dash = memchr(hex.p, '-', hex.n);
    git_object *commit = NULL;
    git_oid id;
    size_t n = dash ? (size_t)(dash - hex.p) : hex.n;

    if (git_oid_fromstrn(&id, hex.p, n) ||
        git_object_lookup_prefix(&commit, v->repo, &id, n, GIT_OBJECT_COMMIT))
        return false;
    bool found = view_commit_tree(v, git_object_id(commit), tree);

    git_object_free(commit);
    return found;
}

/* The tree before a shadow point: the tree of the previous commit, or else of the commit that it
 * was made on. */
static bool find_tree_before(const struct view *v, const struct point *p, git_oid *tree)
{
    git_commit *c = NULL;
    git_oid up;

    if (git_commit_lookup(&c, v->repo, &p->commit))
        return false;
    bool has_parent = git_commit_parentcount(c) > 0;

    if (has_parent)
        up = *git_commit_parent_id(c, 0);
    git_commit_free(c);
    return has_parent ? view_commit_tree(v, &up, tree) : base_tree(v, p, tree);
}

enum err_code view_point(const struct view *v, struct slice id, const struct point **out,
                         struct err *e)
{
    size_t hits = 0;
    int n = id.n > 64 ? 64 : (int)id.n;

    for (size_t i = 0; i < v->session->n; i++) {
        const struct point *p = &v->session->point[i];

        if (slice_eq(p->id, id)) {
            *out = p;
            return ERR_OK;
        }
        if (id.n >= PREFIX_MIN && p->id.n > id.n && memcmp(p->id.p, id.p, id.n) == 0) {
            *out = p;
            hits++;
        }
    }
    if (hits == 1)
        return ERR_OK;
    return hits ? err_set(e, ERR_USAGE, v->store->base.path,
                          "rewind: several checkpoints begin with %.*s", n, id.p)
                : err_set(e, ERR_NOT_FOUND, v->store->base.path,
                          "rewind: the session has no checkpoint %.*s", n, id.p);
}

bool view_is_work(const git_diff_delta *delta)
{
    return strncmp(delta->new_file.path, ".entire/", 8) != 0;
}

static bool trees_of_commit(const struct view *v, const git_oid *commit, struct view_turn *t)
{
    git_commit *c = NULL;
    git_oid up;

    if (git_commit_lookup(&c, v->repo, commit))
        return false;
    t->after = *git_commit_tree_id(c);
    t->has_before = git_commit_parentcount(c) > 0;
    if (t->has_before)
        up = *git_commit_parent_id(c, 0);
    git_commit_free(c);
    return !t->has_before || view_commit_tree(v, &up, &t->before);
}

static bool find_turn_trees(const struct view *v, const struct point *p, const struct link *link,
                            struct view_turn *t)
{
    if (p->source != POINT_SHADOW)
        return link && trees_of_commit(v, &link->commit, t);
    t->after = p->tree;
    t->has_before = find_tree_before(v, p, &t->before);
    return t->has_before;
}

bool view_turn_open(const struct view *v, const struct point *p, const struct link *link,
                    struct view_turn *out)
{
    struct view_turn t = { .diff = NULL };
    git_tree *before = NULL, *after = NULL;
    bool ok = find_turn_trees(v, p, link, &t);

    t.too_large = ok && repo_tree_fits(v->repo, &t.after, t.has_before ? &t.before : NULL, NULL) ==
                            ERR_UNSUPPORTED;
    ok = ok && !t.too_large && git_tree_lookup(&after, v->repo, &t.after) == 0 &&
         (!t.has_before || git_tree_lookup(&before, v->repo, &t.before) == 0) &&
         git_diff_tree_to_tree(&t.diff, v->repo, before, after, NULL) == 0;

    git_tree_free(before);
    git_tree_free(after);
    *out = t;
    return ok;
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
