#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h> /* MNT_LOCAL, where it exists */
#include <sys/param.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __has_include
#if __has_include(<sys/xattr.h>)
#include <sys/xattr.h>
#define HAS_XATTR
#endif
#endif

#include "store/fs/file_at.h"
#include "store/fs/kernel.h"

static int refuse(int error)
{
    errno = error;
    return -1;
}

/* A link and an unlink would work for files, but not for directories, and leave both names after a crash; so callers
 * decide. */
int fs_rename_new(int from_dir, const char *from, int to_dir, const char *to)
{
    (void)from_dir, (void)from, (void)to_dir, (void)to;
    return refuse(ENOSYS);
}

int fs_exchange(int dir, const char *a, const char *b)
{
    (void)dir, (void)a, (void)b;
    return refuse(ENOSYS);
}

int fs_open_below(int root, const char *relative)
{
    return *relative ? file_at_walk(root, relative) : fcntl(root, F_DUPFD_CLOEXEC, 0);
}

/* By what the path leads to now. */
bool fs_is_at(int dir, const char *path)
{
    struct stat here, there;
    char *real = realpath(path, NULL);
    bool at = real && strcmp(real, path) == 0 && fstat(dir, &here) == 0 &&
              stat(path, &there) == 0 && here.st_dev == there.st_dev && here.st_ino == there.st_ino;

    free(real);
    return at;
}

int fs_open_nameless(int dir, mode_t mode)
{
    (void)dir, (void)mode;
    return refuse(EOPNOTSUPP);
}

int fs_name_nameless(int fd, int dir, const char *name)
{
    (void)fd, (void)dir, (void)name;
    return refuse(EOPNOTSUPP);
}

int fs_open_memory(const char *what)
{
    FILE *f = tmpfile();
    int fd = f ? fcntl(fileno(f), F_DUPFD_CLOEXEC, 0) : -1, error = errno;

    (void)what;
    if (f)
        fclose(f);
    errno = error;
    return fd;
}

void fs_fd_path(int fd, char out[FS_FD_PATH])
{
    snprintf(out, FS_FD_PATH, "/dev/fd/%d", fd);
}

void fs_start_writeback(int fd, int64_t at, int64_t n)
{
    (void)fd, (void)at, (void)n;
}

/* ---- what is known of an open file ---- */

bool fs_is_mount(int fd, int dir)
{
    struct stat file, parent;

    return fstat(fd, &file) == 0 && fstat(dir, &parent) == 0 && file.st_dev != parent.st_dev;
}

bool fs_mount_of(int dir, const char *path, uint64_t *mount, uint64_t *dev)
{
    struct stat st;

    if (*path ? fstatat(dir, path, &st, 0) : fstat(dir, &st))
        return false;
    *mount = 0;
    *dev = st.st_dev;
    return true;
}

bool fs_is_fixed(int fd)
{
#ifdef UF_IMMUTABLE /* the BSDs and macOS */
    struct stat st;

    return fstat(fd, &st) == 0 &&
           (st.st_flags & (UF_IMMUTABLE | UF_APPEND | SF_IMMUTABLE | SF_APPEND));
#else
    (void)fd;
    return false;
#endif
}

int64_t fs_born_ns(int fd)
{
    (void)fd;
    return 0;
}

bool fs_is_shared(int fd, const char *path)
{
#ifdef MNT_LOCAL /* the BSDs and macOS */
    struct statfs fs;

    return (fd >= 0 ? fstatfs(fd, &fs) : statfs(path, &fs)) != 0 || !(fs.f_flags & MNT_LOCAL);
#else
    (void)fd, (void)path;
    return false;
#endif
}

/* ---- extended attributes ---- */

/* POSIX has none. macOS has the calls of Linux with more arguments, and the BSDs have others, which are not used. */
#if defined(HAS_XATTR) && defined(__APPLE__)
#define XATTR(linux_call, apple_call) (apple_call)
#elif defined(HAS_XATTR)
#define XATTR(linux_call, apple_call) (linux_call)
#else
#define XATTR(linux_call, apple_call) refuse(ENOTSUP)
#endif

ssize_t fs_xattr_list(int fd, char *names, size_t size)
{
    (void)fd, (void)names, (void)size;
    return XATTR(flistxattr(fd, names, size), flistxattr(fd, names, size, 0));
}

ssize_t fs_xattr_get(int fd, const char *name, void *value, size_t size)
{
    (void)fd, (void)name, (void)value, (void)size;
    return XATTR(fgetxattr(fd, name, value, size), fgetxattr(fd, name, value, size, 0, 0));
}

int fs_xattr_set(int fd, const char *name, const void *value, size_t size)
{
    (void)fd, (void)name, (void)value, (void)size;
    return XATTR(fsetxattr(fd, name, value, size, 0), fsetxattr(fd, name, value, size, 0, 0));
}

int fs_xattr_remove(int fd, const char *name)
{
    (void)fd, (void)name;
    return XATTR(fremovexattr(fd, name), fremovexattr(fd, name, 0));
}

/* ---- leases ---- */

int fs_lease_set(int fd, enum fs_lease kind)
{
    (void)fd, (void)kind;
    return refuse(EINVAL);
}

bool fs_lease_is_held(int fd)
{
    (void)fd;
    return false;
}

/* There are no lease signals. A signal that another thread can take does not stay pending. */
void fs_signal_discard(int signo, int fd)
{
    sigset_t set;
    int taken;

    (void)fd;
    if (sigpending(&set) || sigismember(&set, signo) != 1)
        return;
    sigemptyset(&set);
    sigaddset(&set, signo);
    sigwait(&set, &taken);
}
