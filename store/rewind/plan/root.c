#include "store/rewind/plan/root.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "store/fs/path_normalize.h"
#include "store/git/repo.h"
#include "store/rewind/plan/pathrule.h"

/* Is dir the path itself or above it, by their names or by where they really are? */
static bool dir_contains(const char *dir, const char *path)
{
    char real_dir[PATH_MAX], real_path[PATH_MAX];

    if (pathrule_under(slice_of(path), slice_of(dir)))
        return true;
    return realpath(dir, real_dir) && realpath(path, real_path) &&
           pathrule_under(slice_of(real_path), slice_of(real_dir));
}

enum err_code rewind_plan_root(const struct store_env *env, struct rewind_plan *plan,
                               const char *root, struct err *e)
{
    plan->root = root ? path_normalize("", root, &plan->arena) : NULL;
    if (root && !plan->root)
        return err_nomem(e);
    plan->wide = root && (dir_contains(plan->root, "/") ||
                          (env && env->home && *env->home && dir_contains(plan->root, env->home)));
    return ERR_OK;
}

bool rewind_root_is_above(const struct store_env *env, const char *root)
{
    git_repository *repo = NULL;

    if (!env || !env->cwd || !dir_contains(root, env->cwd) || dir_contains(env->cwd, root))
        return false;
    const char *top = repo_open(env->cwd, &repo, NULL) ? NULL : git_repository_workdir(repo);
    bool above = !top || !dir_contains(top, root);

    repo_close(repo);
    return above;
}

bool rewind_is_inside(const struct rewind_plan *plan, const char *path)
{
    return plan->root && !plan->wide && pathrule_under(slice_of(path), slice_of(plan->root));
}
