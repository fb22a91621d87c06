#include "store/fs/move.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/fs/copy.h"
#include "store/fs/disk.h"
#include "store/fs/file_at.h"

/* A copy under way lies beside its goal; a crash leaves it there, and recovery removes it. */
static const char copy_suffix[] = ".reprise-copy";

static enum err_code parent_dir(const char *path, char out[PATH_MAX], struct err *e)
{
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) : 0;

    if (n >= PATH_MAX)
        return err_set(e, ERR_UNSAFE, path, "the name is too long");
    memcpy(out, n ? path : (slash ? "/" : "."), n ? n : 1);
    out[n ? n : 1] = '\0';
    return ERR_OK;
}

static enum err_code sync_parent_dir(const char *path, struct err *e)
{
    char dir[PATH_MAX];
    enum err_code rc = parent_dir(path, dir, e);

    return rc ? rc : disk_sync_dir(dir, e);
}

static enum err_code move_across(const char *from, const char *to, struct err *e)
{
    char temp[PATH_MAX];

    if ((size_t)snprintf(temp, sizeof temp, "%s%s", to, copy_suffix) >= sizeof temp)
        return err_set(e, ERR_UNSAFE, to, "the name is too long");
    enum err_code rc = copy_remove(temp, e);

    if (!rc)
        rc = copy_tree(from, temp, e);
    if (!rc && disk_rename_new(AT_FDCWD, temp, AT_FDCWD, to))
        rc = errno == EEXIST ? err_set(e, ERR_STALE, to, "move: the name is taken")
                             : err_sys(e, to, "name the copy");
    if (rc) {
        if (copy_remove(temp, NULL))
            err_wrap(e, rc, "an unfinished copy stays behind");
        return rc;
    }
    rc = sync_parent_dir(to, e);
    if (rc)
        return rc;
    /* Not removed blindly: what a live writer added since the copy must not go. The whole of it is compared before
     * the first file goes, so that a refusal leaves the source as it was. */
    rc = copy_compare(from, to, e);
    if (rc == ERR_STALE && copy_remove(to, NULL))
        return err_wrap(e, rc, "a copy stays behind");
    return rc ? rc : copy_remove_source(from, to, e);
}

enum err_code move_repair(const char *from, const char *to, struct err *e)
{
    char temp[PATH_MAX];

    (void)from;
    if ((size_t)snprintf(temp, sizeof temp, "%s%s", to, copy_suffix) >= sizeof temp)
        return ERR_OK;
    return copy_remove(temp, e);
}

enum err_code move_path(const char *from, const char *to, struct err *e)
{
    if (disk_rename_new(AT_FDCWD, from, AT_FDCWD, to) == 0)
        return ERR_OK;
    if (errno == EEXIST)
        return err_set(e, ERR_STALE, to, "move: the name is taken");
    return errno == EXDEV ? move_across(from, to, e) : err_sys(e, from, "move");
}

enum err_code move_is_done(const char *from, const char *to, bool *done, struct err *e)
{
    bool left;
    struct stat x, y;
    enum err_code rc = file_at_stat(to, done, &y, e);

    if (!rc && *done)
        rc = file_at_stat(from, &left, &x, e);
    if (rc || !*done || !left) {
        *done = *done && !rc;
        return rc;
    }
    /* Both: a copy across file systems was named, and its source is not gone yet. On one file system this cannot
     * be ours. Which way it went is told by what is whole: nothing goes that does not lie in the other place. */
    *done = false;
    if (x.st_dev == y.st_dev)
        return ERR_OK;
    rc = copy_compare(from, to, e);

    if (!rc) {
        rc = copy_remove_source(from, to, e);
        *done = rc == ERR_OK;
    } else if (rc == ERR_STALE) { /* perhaps it was being moved back */
        rc = copy_compare(to, from, e);
        rc = rc ? rc : copy_remove_source(to, from, e);
    }
    return rc == ERR_STALE ? ERR_OK : rc;
}

enum err_code move_sync(const char *from, const char *to, struct err *e)
{
    enum err_code rc = sync_parent_dir(to, e);

    return rc ? rc : sync_parent_dir(from, e);
}
