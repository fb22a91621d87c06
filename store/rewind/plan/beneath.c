#include "store/rewind/plan/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "store/fs/disk.h"
#include "store/fs/kernel.h"
#include "store/journal/record.h"

/* The newest first: files come directory by directory. */
struct dir_like *beneath_dirs_find(const struct dirs *list, struct slice path)
{
    for (size_t i = list->n; i > 0; i--) {
        struct dir_like *d = &list->dir[i - 1];

        if (strncmp(d->path, path.p, path.n) == 0 && d->path[path.n] == '\0')
            return d;
    }
    return NULL;
}

bool beneath_dirs_add(struct dirs *list, struct arena *a, struct slice path, const struct attrs *x)
{
    if (beneath_dirs_find(list, path))
        return true;
    struct dir_like *all = arena_grow(a, list->dir, list->n, sizeof *all),
                    d = { .path = arena_copy(a, path).p, .attrs = *x };

    if (!fs_attrs_copy(a, &d.attrs)) /* fails if an allocation above failed */
        return false;
    list->dir = all;
    list->dir[list->n++] = d;
    return true;
}

bool beneath_dirs_add_all(struct dirs *list, struct arena *a, const struct dirs *from)
{
    bool ok = true;

    for (size_t i = 0; i < from->n && ok; i++) {
        const char *path = from->dir[i].path;

        ok = beneath_dirs_add(list, a, slice_of(path), &from->dir[i].attrs);
    }
    return ok;
}

static const struct record_field dir_fields[] = {
    RECORD_FIELD("path", RECORD_TEXT, struct dir_like, path),
    RECORD_FIELD("attrs", RECORD_ATTRS, struct dir_like, attrs),
};
static const struct record_table dir_table = RECORD_TABLE(struct dir_like, dir_fields);

bool beneath_dirs_write(cJSON *root, const struct dirs *list, struct buf *scratch)
{
    return record_put_list(root, "dirs", &dir_table, list->dir, list->n, scratch);
}

bool beneath_dirs_read(const cJSON *root, struct arena *a, struct dirs *out)
{
    return record_get_list(root, "dirs", &dir_table, &out->dir, &out->n, a) && out->dir;
}

enum err_code beneath_root(const char *root, int *fd, struct err *e)
{
    *fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return *fd < 0 ? err_sys(e, root, "open directory") : ERR_OK;
}

/* The newest of the links that lead from the name to the directory: a link may lead to another one. Directories above
 * the names do not count. False if the name is no link. */
static bool newest_link(const char *root, struct stat *out)
{
    enum { MOST_LINKS = 40 };
    char path[PATH_MAX], target[PATH_MAX];
    struct stat st;
    bool found = false;

    if (root[0] != '/' || strlen(root) >= sizeof path)
        return false;
    strcpy(path, root);
    for (int i = 0; i < MOST_LINKS && lstat(path, &st) == 0 && S_ISLNK(st.st_mode); i++) {
        if (!found || time_ns(st.st_ctim) > time_ns(out->st_ctim))
            *out = st;
        found = true;

        /* A trailing slash would make lstat follow the next link. */
        ssize_t n = readlink(path, target, sizeof target);

        while (n > 1 && target[n - 1] == '/')
            n--;
        size_t keep = n > 0 && target[0] != '/' ? (size_t)(strrchr(path, '/') + 1 - path) : 0;

        if (n <= 0 || keep + (size_t)n >= sizeof path)
            break;
        memcpy(path + keep, target, (size_t)n);
        path[keep + (size_t)n] = '\0';
    }
    return found;
}

/* Through links, if they are the same before and after: every rename of one changes its ctime. */
static enum err_code open_linked(const char *root, int *fd, int64_t *link_ms, bool *again,
                                 struct err *e)
{
    struct stat at, before, after;

    *again = lstat(root, &at) != 0 || S_ISDIR(at.st_mode);
    if (*again)
        return ERR_OK;
    bool is_link = newest_link(root, &before);
    enum err_code rc = beneath_root(root, fd, e);

    if (rc || !is_link)
        return rc;
    *again = !newest_link(root, &after) || !S_ISLNK(after.st_mode) ||
             before.st_dev != after.st_dev || before.st_ino != after.st_ino ||
             before.st_ctim.tv_sec != after.st_ctim.tv_sec ||
             before.st_ctim.tv_nsec != after.st_ctim.tv_nsec;
    if (*again) {
        close(*fd);
        *fd = -1;
    }
    *link_ms = time_ms_of(before.st_ctim);
    return ERR_OK;
}

enum err_code beneath_root_link(const char *root, int *fd, int64_t *link_ms, struct err *e)
{
    enum { TRIES = 64 };
    bool again = true;
    enum err_code rc = ERR_OK;

    for (int i = 0; i < TRIES && again && !rc; i++) {
        *link_ms = INT64_MIN;
        *fd = open(root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (*fd >= 0)
            return ERR_OK;
        if (errno != ELOOP && errno != ENOTDIR)
            return err_sys(e, root, "open directory");
        rc = open_linked(root, fd, link_ms, &again, e);
    }
    return rc || !again
               ? rc
               : err_set(e, ERR_UNSAFE, root, "a directory and a link keep changing places");
}

/* File system ids and birth times are optional: if they are not available, device and inode
 * decide. On overlayfs a directory gets another birth time when something below it is first written. */
enum err_code beneath_root_id(int fd, const char *root, struct root_id *out, struct err *e)
{
    struct stat st;
    struct statvfs fs;
    struct root_id id = { 0 };

    if (fstat(fd, &st))
        return err_sys(e, root, "examine directory");
    id.dev = st.st_dev;
    id.ino = st.st_ino;
    if (fs_births_are_true(fd))
        id.born_ns = fs_born_ns(fd);
    if (fstatvfs(fd, &fs) == 0)
        id.fs = fs.f_fsid;
    *out = id;
    return ERR_OK;
}

struct beneath_at beneath_at(int dir, const char *path)
{
    struct beneath_at at;

    return fs_mount_of(dir, path, &at.mount, &at.dev) ? at : (struct beneath_at){ 0 };
}

bool beneath_same_at(struct beneath_at a, struct beneath_at b)
{
    return a.mount == b.mount && a.dev == b.dev;
}

enum err_code beneath_same_root(const char *root, const struct root_id *id, int *fd, struct err *e)
{
    struct root_id now;

    TRY(beneath_root(root, fd, e));
    if (!id || !id->ino)
        return ERR_OK;
    enum err_code rc = beneath_root_id(*fd, root, &now, e);
    const bool same_fs = !rc && id->fs && id->fs == now.fs;
    const bool same = !rc && id->ino == now.ino && (id->dev == now.dev || same_fs) &&
                      (!id->born_ns || !now.born_ns || id->born_ns == now.born_ns);

    /* Where the numbers of directories change by themselves, only the file system is known to be the same. */
    if (!rc && !same && !(same_fs && !fs_keeps_dir_numbers(*fd)))
        rc = err_set(e, ERR_STALE, root, "another directory has its name now");
    if (rc)
        close(*fd);
    return rc;
}

/* Splits path into the directories between the root and the last part, and that part. */
static enum err_code beneath_split(const char *root, const char *path, char relative[PATH_MAX],
                                   const char **name, struct err *e)
{
    size_t n = strlen(root);

    while (n && root[n - 1] == '/')
        n--;
    if (strncmp(path, root, n) != 0 || path[n] != '/' || path[strlen(path) - 1] == '/')
        return err_set(e, ERR_UNSAFE, path, "not below %s", root);
    const char *slash = strrchr(path, '/');

    if (strstr(path + n, "/../"))
        return err_set(e, ERR_UNSAFE, path, "it leads out of its directory");
    size_t len = slash > path + n ? (size_t)(slash - (path + n + 1)) : 0;

    if (len >= PATH_MAX)
        return err_set(e, ERR_UNSAFE, path, "the path is too long");
    memcpy(relative, path + n + 1, len);
    relative[len] = '\0';
    *name = slash + 1;
    return ERR_OK;
}

static enum err_code refused(const char *path, struct err *e)
{
    if (errno == ELOOP || errno == ENOTDIR || errno == EXDEV || errno == EAGAIN)
        return err_set(e, ERR_UNSAFE, path, "a link or file took the place of a parent directory");
    return err_sys(e, path, "open its directory");
}

enum err_code beneath_parent(int root_fd, const char *root, const char *path, int *fd,
                             const char **name, struct err *e)
{
    char relative[PATH_MAX];

    TRY(beneath_split(root, path, relative, name, e));
    *fd = fs_open_below(root_fd, relative);
    return *fd < 0 ? refused(path, e) : ERR_OK;
}

/* Makes one directory below an open one and steps into it. */
static enum err_code step_into(int *at, const char *part, const char *path, struct dir_like *like,
                               struct err *e)
{
    enum err_code rc = ERR_OK;
    bool made = mkdirat(*at, part, like ? 0700 : 0755) == 0;

    if (made)
        rc = disk_sync(*at, path, e);
    else if (errno != EEXIST)
        rc = err_sys(e, path, "make directory");
    if (rc)
        return rc;
    int next = openat(*at, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (next < 0)
        return refused(path, e);
    close(*at);
    *at = next;
    if (!made || !like)
        return ERR_OK;

    /* A new directory was private so far. */
    rc = fs_attrs_apply(next, &like->attrs, like->path, e);
    if (!rc && fchmod(next, like->attrs.mode))
        rc = err_sys(e, like->path, "set the mode");
    if (!rc)
        rc = disk_sync(next, like->path, e);
    like->made = true;
    return rc;
}

enum err_code beneath_make_parent(int root_fd, const char *root, const char *path,
                                  struct dirs *like, int *fd, const char **name, struct err *e)
{
    char relative[PATH_MAX];
    enum err_code rc = beneath_split(root, path, relative, name, e);

    if (rc)
        return rc;
    size_t below = (size_t)(*name - 1 - path) - strlen(relative); /* where it begins in the path */
    int at = fcntl(root_fd, F_DUPFD_CLOEXEC, 0);

    if (at < 0)
        return err_sys(e, path, "open its directory");
    for (char *part = relative; !rc && *part;) {
        char *slash = strchrnul(part, '/'), *next = slash + (*slash == '/');
        struct slice dir = { path, below + (size_t)(slash - relative) };

        *slash = '\0';
        rc = step_into(&at, part, path, like ? beneath_dirs_find(like, dir) : NULL, e);
        part = next;
    }
    if (rc)
        close(at);
    else
        *fd = at;
    return rc;
}
