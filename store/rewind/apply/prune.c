#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/fs/disk.h"
#include "store/fs/file_at.h"
#include "store/rewind/plan/beneath.h"
#include "store/rewind/record/tx.h"

/* Directories above an entry that go when they are empty: those that a rewind made itself and drops again, and those
 * that held nothing but what it deletes. Reached like everything else: a directory that was swapped for a link is not
 * followed. What one is like is written down before it may go. */

struct above {
    int root;
    char path[PATH_MAX]; /* an entry's path is shorter, and lies below its root */
    size_t floor;
    unsigned left;
};

static size_t bare_length(const char *root)
{
    size_t n = strlen(root);

    while (n && root[n - 1] == '/')
        n--;
    return n;
}

/* A root that is gone has no directories: ERR_NOT_FOUND. */
static enum err_code above_open(const struct rewind_tx_entry *x, struct above *a, struct err *e)
{
    snprintf(a->path, sizeof a->path, "%s", x->path);
    a->floor = bare_length(x->root);
    a->left = x->dirs;
    return beneath_same_root(x->root, x->root_id, &a->root, e);
}

/* One level up; false at the last of them. */
static bool above_next(struct above *a)
{
    if (a->left == 0)
        return false;
    a->left--;
    *strrchr(a->path, '/') = '\0';
    return strlen(a->path) > a->floor;
}

/* ---- taking away ---- */

/* What it is like cannot have been written down for another one. */
static bool is_like(const struct stat *st, const struct dirs *as, const char *path)
{
    const struct dir_like *d = as ? dirs_find(as, slice_of(path)) : NULL;

    return !as || (d && d->attrs.mode == (st->st_mode & 07777) && d->attrs.uid == st->st_uid &&
                   d->attrs.gid == st->st_gid);
}

/* *gone: so that the one above may be empty now. Looked for first: a read-only file system refuses before it says that
 * there is nothing. */
static enum err_code remove_in(int dir, const char *name, const char *path, const struct dirs *as,
                               bool *gone, struct err *e)
{
    struct stat st;

    *gone = fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0;
    if (*gone)
        return errno == ENOENT ? ERR_OK : err_sys(e, path, "look at directory");
    if (!is_like(&st, as, path))
        return ERR_OK;
    *gone = unlinkat(dir, name, AT_REMOVEDIR) == 0 || errno == ENOENT;
    if (!*gone && (errno == EIO || errno == ENOSPC || errno == EDQUOT || errno == EROFS))
        return err_sys(e, path, "remove an empty directory");
    return ERR_OK;
}

/* Whoever removed it: a crash may have come before it was durable. */
static enum err_code prune_one(const struct above *a, const struct rewind_tx_entry *x,
                               const struct dirs *as, bool *more, struct err *e)
{
    const char *name;
    int dir;
    enum err_code rc = beneath_parent(a->root, x->root, a->path, &dir, &name, e);

    *more = rc == ERR_NOT_FOUND; /* never made, or gone already */
    if (rc)
        return rc == ERR_NOT_FOUND || rc == ERR_UNSAFE ? ERR_OK : rc;
    rc = remove_in(dir, name, a->path, as, more, e);
    if (!rc && *more)
        rc = disk_sync(dir, a->path, e);
    close(dir);
    return rc;
}

enum err_code rewind_tx_prune(const struct rewind_tx_entry *x, const struct dirs *as, struct err *e)
{
    struct above a;
    bool more = true;
    enum err_code rc = above_open(x, &a, e);

    if (rc)
        return rc == ERR_NOT_FOUND ? ERR_OK : rc;
    while (!rc && more && above_next(&a))
        rc = prune_one(&a, x, as, &more, e);
    close(a.root);
    return rc;
}

/* ---- writing down ---- */

/* *fd -1: a directory that is gone by now, or that may not be read. */
static enum err_code open_dir(const struct above *a, const struct rewind_tx_entry *x, int *fd,
                              struct err *e)
{
    const char *name;
    int dir;
    enum err_code rc = beneath_parent(a->root, x->root, a->path, &dir, &name, e);

    *fd = -1;
    if (rc)
        return rc == ERR_NOT_FOUND || rc == ERR_UNSAFE ? ERR_OK : rc;
    *fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (*fd < 0 && errno != ENOENT && errno != EACCES && errno != ENOTDIR && errno != ELOOP)
        rc = err_sys(e, a->path, "open directory");
    close(dir);
    return rc;
}

/* One that could not be given back to whom it belongs is not written down: so it stays, as does one that may not be
 * read. */
static enum err_code note_one(struct rewind_tx *tx, const struct above *a, int fd, struct err *e)
{
    struct attrs x;
    enum err_code rc = attrs_get(fd, &tx->arena, a->path, &x, e);

    if (rc || (geteuid() != 0 && geteuid() != x.uid))
        return rc;
    return dirs_add(&tx->dirs, &tx->arena, slice_of(a->path), &x) ? ERR_OK : err_nomem(e);
}

static struct dir_like *known(const struct rewind_tx *tx, const struct above *a)
{
    return dirs_find(&tx->dirs, slice_of(a->path));
}

enum err_code rewind_tx_record_dirs(struct rewind_tx *tx, const struct rewind_tx_entry *x,
                                    struct err *e)
{
    struct above a;
    enum err_code rc = above_open(x, &a, e);

    if (rc)
        return rc;
    while (!rc && above_next(&a)) {
        int fd = -1;

        if (!known(tx, &a))
            rc = open_dir(&a, x, &fd, e);
        if (fd < 0)
            continue;
        rc = note_one(tx, &a, fd, e);
        close(fd);
    }
    close(a.root);
    return rc;
}

/* ---- giving times back ---- */

/* A time is not worth a failure. */
static void put_times_above(const struct rewind_tx *tx, const struct rewind_tx_entry *x)
{
    struct above a;
    struct err unused;

    if (above_open(x, &a, &unused))
        return;
    while (above_next(&a)) {
        const struct dir_like *d = known(tx, &a);
        int fd;

        if (!d || !d->made || open_dir(&a, x, &fd, &unused) || fd < 0)
            continue;
        file_at_set_mtime(fd, d->attrs.mtime_ns);
        close(fd);
    }
    close(a.root);
}

void rewind_tx_restore_dir_times(const struct rewind_tx *tx)
{
    for (size_t i = 0; i < tx->n && tx->dirs.n; i++)
        if (tx->entry[i].action == REWIND_CREATE)
            put_times_above(tx, &tx->entry[i]);
}
