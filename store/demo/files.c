#include "store/demo/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/fs/disk.h"

enum err_code demo_make_dirs(const char *path, struct err *e)
{
    char part[PATH_MAX];
    size_t n = strlen(path);

    if (n == 0 || n >= sizeof part)
        return err_set(e, ERR_USAGE, path, "make directory: name too long");
    for (size_t i = 1; i <= n; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        memcpy(part, path, i);
        part[i] = '\0';
        if (mkdir(part, 0700) != 0 && errno != EEXIST)
            return err_sys(e, part, "make directory");
    }
    return ERR_OK;
}

static enum err_code set_mtime(int fd, int64_t ms, const char *path, struct err *e)
{
    struct timespec t = { .tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000 };

    if (t.tv_nsec < 0) {
        t.tv_sec--;
        t.tv_nsec += 1000000000;
    }
    if (futimens(fd, (const struct timespec[2]){ t, t }) != 0)
        return err_sys(e, path, "set time");
    return ERR_OK;
}

static enum err_code make_parent(const char *path, struct err *e)
{
    char parent[PATH_MAX];
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) : 0;

    if (n == 0)
        return ERR_OK;
    if (n >= sizeof parent)
        return err_set(e, ERR_USAGE, path, "make directory: name too long");
    memcpy(parent, path, n);
    parent[n] = '\0';
    return demo_make_dirs(parent, e);
}

enum err_code demo_put(const char *path, struct slice bytes, int64_t mtime_ms, struct err *e)
{
    enum err_code rc = make_parent(path, e);

    if (rc)
        return rc;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_sys(e, path, "create");
    rc = disk_write(fd, bytes, NULL, path, e);
    if (!rc)
        rc = set_mtime(fd, mtime_ms, path, e);
    if (close(fd) != 0 && !rc)
        rc = err_sys(e, path, "close");
    return rc;
}
