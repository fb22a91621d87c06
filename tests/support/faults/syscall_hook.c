#include "support/faults/syscall_hook.h"

#include <dirent.h>
#include <errno.h>
#include <fts.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/types.h>
#include <unistd.h>

enum { MOMENTS = 3 };

static struct {
    struct syscall_hook m;
    bool came;
    int seen;
} at[MOMENTS];
static int armed; /* their number */

void syscall_hook_arm_also(const struct syscall_hook *m)
{
    at[armed].m = *m;
    at[armed].came = false;
    at[armed++].seen = 0;
}

void syscall_hook_arm(const struct syscall_hook *m)
{
    armed = 0;
    syscall_hook_arm_also(m);
}

bool syscall_hook_fired(void)
{
    bool all = true;

    for (; armed; armed--)
        all = all && at[armed - 1].came;
    return all;
}

static bool is_named(const char *name, const char *path)
{
    const char *slash = strrchr(path, '/'), *last = slash ? slash + 1 : path;

    if (!name)
        return true;
    if (*name != '*')
        return strcmp(last, name) == 0;
    size_t n = strlen(++name), k = strlen(last);

    return k >= n && strcmp(last + k - n, name) == 0;
}

static bool is_it(int i, const char *call, const char *path, const char *other)
{
    const struct syscall_hook *m = &at[i].m;

    return strcmp(call, m->call) == 0 && (is_named(m->name, path) || is_named(m->name, other));
}

static bool strikes_at(int i)
{
    const struct syscall_hook *m = &at[i].m;
    int nth = m->nth ? m->nth : 1, kept = armed;

    if (++at[i].seen < nth || (at[i].seen > nth && !m->stays))
        return false;
    at[i].came = true;
    if (m->then && at[i].seen == nth) {
        armed = 0; /* calls of the hook itself do not count */
        m->then(m->arg);
        armed = kept;
    }
    errno = m->error;
    return m->error != 0;
}

/* Returns true if the call is to fail; errno is set then. */
static bool strikes(const char *call, const char *path, const char *other)
{
    bool any = false;

    for (int i = 0; i < armed && !any; i++)
        any = is_it(i, call, path, other) && strikes_at(i);
    return any;
}

static bool strikes_fd(const char *call, int fd)
{
    char link[64], path[PATH_MAX];
    int kept = errno;
    bool any = false;

    for (int i = 0; i < armed; i++)
        any = any || strcmp(call, at[i].m.call) == 0;
    if (!any)
        return false;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);

    path[n > 0 ? n : 0] = '\0';
    errno = kept;
    return strikes(call, path, path);
}

/* clang-format off */
#define WRAP(type, name, takes, gives, at)      \
    type __real_##name takes;                   \
    type __wrap_##name takes;                   \
    type __wrap_##name takes                    \
    {                                           \
        return at ? -1 : __real_##name gives;   \
    }
#define BY_FD(type, name, takes, gives) WRAP(type, name, takes, gives, strikes_fd(#name, fd))
#define BY_NAME(type, name, takes, gives) WRAP(type, name, takes, gives, strikes(#name, path, path))

BY_NAME(int, openat64, (int dir, const char *path, int flags, mode_t mode), (dir, path, flags, mode))
BY_NAME(int, open64, (const char *path, int flags, mode_t mode), (path, flags, mode))
BY_NAME(int, fstatat64, (int dir, const char *path, struct stat *st, int flags), (dir, path, st, flags))
BY_NAME(int, stat64, (const char *path, struct stat *st), (path, st))
BY_NAME(int, lstat64, (const char *path, struct stat *st), (path, st))
BY_NAME(int, statvfs64, (const char *path, struct statvfs *fs), (path, fs))
BY_NAME(int, unlinkat, (int dir, const char *path, int flags), (dir, path, flags))
BY_NAME(int, unlink, (const char *path), (path))
BY_NAME(int, rmdir, (const char *path), (path))
BY_NAME(int, mkdirat, (int dir, const char *path, mode_t mode), (dir, path, mode))
WRAP(int, renameat2, (int a, const char *from, int b, const char *to, unsigned flags), (a, from, b, to, flags),
     strikes("renameat2", from, to))
#ifdef REPRISE_PORTABLE /* no system call begins an exchange there: the moment is that of the call that refuses it */
WRAP(int, fs_exchange, (int dir, const char *from, const char *to), (dir, from, to), strikes("renameat2", from, to))
WRAP(int, fs_rename_new, (int a, const char *from, int b, const char *to), (a, from, b, to),
     strikes("renameat2", from, to))
#endif
WRAP(int, renameat, (int a, const char *from, int b, const char *to), (a, from, b, to),
     strikes("renameat", from, to))
WRAP(int, linkat, (int a, const char *from, int b, const char *to, int flags), (a, from, b, to, flags),
     strikes("linkat", from, to))
BY_FD(int, fstat64, (int fd, struct stat *st), (fd, st))
BY_FD(int, fsync, (int fd), (fd))
BY_FD(int, fchmod, (int fd, mode_t mode), (fd, mode))
BY_FD(int, fchown, (int fd, uid_t uid, gid_t gid), (fd, uid, gid))
BY_FD(ssize_t, flistxattr, (int fd, char *list, size_t n), (fd, list, n))
BY_FD(ssize_t, fgetxattr, (int fd, const char *key, void *p, size_t n), (fd, key, p, n))
BY_FD(int, fsetxattr, (int fd, const char *key, const void *p, size_t n, int flags), (fd, key, p, n, flags))
BY_FD(int, fremovexattr, (int fd, const char *key), (fd, key))
BY_FD(ssize_t, pread64, (int fd, void *p, size_t n, off_t offset), (fd, p, n, offset))
BY_FD(ssize_t, pwrite64, (int fd, const void *p, size_t n, off_t offset), (fd, p, n, offset))
BY_FD(int, ftruncate64, (int fd, off_t n), (fd, n))
BY_FD(int, faccessat, (int fd, const char *path, int mode, int flags), (fd, path, mode, flags))
BY_FD(int, fstatvfs64, (int fd, struct statvfs *fs), (fd, fs))
BY_FD(int, statx, (int fd, const char *path, int flags, unsigned mask, struct statx *stx), (fd, path, flags, mask, stx))
BY_FD(int, fcntl64, (int fd, int what, long arg), (fd, what, arg))
WRAP(int, getentropy, (void *p, size_t n), (p, n), strikes("getentropy", "", ""))
BY_FD(ssize_t, write, (int fd, const void *p, size_t n), (fd, p, n))
/* clang-format on */

/* Calls that return a pointer. */
DIR *__real_opendir(const char *path);
DIR *__wrap_opendir(const char *path);
DIR *__wrap_opendir(const char *path)
{
    return strikes("opendir", path, path) ? NULL : __real_opendir(path);
}

typedef int fts_order(const FTSENT **, const FTSENT **);
FTS *__real_fts64_open(char *const *paths, int flags, fts_order *order);
FTS *__wrap_fts64_open(char *const *paths, int flags, fts_order *order);
FTS *__wrap_fts64_open(char *const *paths, int flags, fts_order *order)
{
    return strikes("fts64_open", paths[0], paths[0]) ? NULL
                                                     : __real_fts64_open(paths, flags, order);
}

/* The descriptor is closed in any case, as the kernel does it. */
int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd)
{
    bool fails = strikes_fd("close", fd);
    int error = errno, r = __real_close(fd);

    if (fails)
        errno = error;
    return fails ? -1 : r;
}
