#include "store/api/scope.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "store/git/worktree.h"

static enum err_code add_trees(struct scope *scope, struct arena *a, struct err *e)
{
    struct worktree *list;
    size_t n;
    enum err_code rc = worktree_list(scope->project.p, a, &list, &n, e);

    if (rc || n < 2)
        return rc;
    struct slice *tree = arena_alloc(a, n * sizeof *tree);

    if (!tree)
        return err_nomem(e);
    for (size_t i = 0; i < n; i++)
        tree[i] = list[i].path;
    scope->tree = tree;
    scope->trees = n;
    return ERR_OK;
}

enum err_code scope_of(const char *dir, bool worktrees, struct arena *a, struct scope *out,
                       struct err *e)
{
    char real[PATH_MAX];
    const char *path = realpath(dir, real) ? real : dir;
    struct scope scope = { .project = arena_copy(a, slice_of(path)) };
    enum err_code rc = ERR_OK;

    if (!scope.project.p)
        return err_nomem(e);
    if (worktrees)
        rc = add_trees(&scope, a, e);
    if (!rc)
        *out = scope;
    return rc;
}
