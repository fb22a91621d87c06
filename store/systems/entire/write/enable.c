#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "store/fs/disk.h"
#include "store/git/gitfiles.h"
#include "store/git/repo.h"
#include "store/systems/entire/entire.h"
#include "store/systems/entire/names.h"
#include "store/systems/entire/write/committed_write.h"

/* In a repository in which Entire was never used, writes exactly what its own `enable` writes (cli
 * f446dcfc, setup.go): the settings, the list of files for git to ignore, and the branch of the
 * checkpoints. The hooks of git and of the agent are left out: they run Entire's program, and a
 * host of ours reports its events itself. Nothing that exists is changed, so that `entire enable`
 * can still follow. */

static const char settings[] = "{\n  \"strategy\": \"manual-commit\",\n  \"enabled\": true\n}\n";
static const char ignored[] = "tmp/\nsettings.local.json\nmetadata/\nlogs/\n";

/* An existing file stays, and so does anything else with this name. */
static enum err_code write_new(const char *dir, const char *name, const char *text, struct err *e)
{
    char path[PATH_MAX];
    struct disk_new f;
    struct stat st;

    if (snprintf(path, sizeof path, "%s/%s", dir, name) >= PATH_MAX)
        return err_set(e, ERR_UNSAFE, dir, "make store: the path is too long");
    if (lstat(path, &st) == 0)
        return ERR_OK;
    enum err_code rc = disk_new_open(dir, 0644, &f, e);

    if (rc)
        return rc;
    rc = disk_write(f.fd, slice_of(text), NULL, path, e);
    if (rc)
        disk_new_discard(&f);
    else
        rc = disk_new_publish(&f, name, e);
    return rc == ERR_STALE ? ERR_OK : rc;
}

/* Files are not written through a link in place of the folder. */
static enum err_code write_folder(const char *root, struct err *e)
{
    char dir[PATH_MAX];
    struct stat st;

    if (snprintf(dir, sizeof dir, "%s/.entire", root) >= PATH_MAX)
        return err_set(e, ERR_UNSAFE, root, "make store: the path is too long");
    if (lstat(dir, &st) == 0 && !S_ISDIR(st.st_mode))
        return err_set(e, ERR_UNSAFE, dir, "make store: a link or a file is in its place");
    enum err_code rc = disk_make_dir(dir, 0755, e);

    if (!rc)
        rc = write_new(dir, ".gitignore", ignored, e);
    return rc ? rc : write_new(dir, "settings.json", settings, e);
}

static enum err_code enable(git_repository *repo, struct err *e)
{
    const char *named = git_repository_workdir(repo);
    char root[PATH_MAX];
    size_t n;
    enum err_code rc = ERR_OK;

    if (named && gitfiles_is_tree(named, git_repository_path(repo)) &&
        (n = (size_t)snprintf(root, sizeof root, "%s", named)) < sizeof root) {
        if (n > 1 && root[n - 1] == '/')
            root[n - 1] = '\0';
        rc = write_folder(root, e);
    }
    return rc ? rc : committed_begin(repo, e);
}

enum err_code entire_make(const struct store_env *env, const char *path, struct err *e)
{
    const char *dir = path ? path : env->cwd;
    char whole[PATH_MAX], states[PATH_MAX];
    git_repository *repo = NULL;
    enum err_code rc;

    if (snprintf(whole, sizeof whole, "%s%s%s", dir[0] == '/' ? "" : env->cwd,
                 dir[0] == '/' ? "" : "/", dir) >= PATH_MAX)
        return err_set(e, ERR_UNSAFE, dir, "make store: the path is too long");
    rc = repo_open(whole, &repo, e);
    if (rc)
        return rc;
    if (snprintf(states, sizeof states, "%s" ENTIRE_STATES, git_repository_commondir(repo)) >=
        PATH_MAX)
        rc = err_set(e, ERR_UNSAFE, dir, "make store: the path is too long");
    if (!rc && !entire_is_enabled(repo, states))
        rc = enable(repo, e);
    if (!rc)
        rc = disk_make_dir(states, 0750, e);
    repo_close(repo);
    return rc;
}
