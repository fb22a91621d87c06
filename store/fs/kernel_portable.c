#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h> /* MNT_LOCAL, where it exists */
#include <sys/param.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#ifdef __has_include
#if __has_include(<sys/xattr.h>)
#include <sys/xattr.h>
#define HAS_XATTR
#endif
#endif

#include "lite/base/array.h"
#include "lite/base/time.h"
#include "store/fs/file_at.h"
#include "store/fs/kernel.h"

static int kernel_portable_refuse(int error)
{
    errno = error;
    return -1;
}

/* A link and an unlink would work for files, but not for directories, and leave both names after a crash; so callers
 * decide. */
int fs_rename_new(int from_dir, const char *from, int to_dir, const char *to)
{
    (void)from_dir, (void)from, (void)to_dir, (void)to;
    return kernel_portable_refuse(ENOSYS);
}

int fs_exchange(int dir, const char *a, const char *b)
{
    (void)dir, (void)a, (void)b;
    return kernel_portable_refuse(ENOSYS);
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
    return kernel_portable_refuse(EOPNOTSUPP);
}

int fs_name_nameless(int fd, int dir, const char *name)
{
    (void)fd, (void)dir, (void)name;
    return kernel_portable_refuse(EOPNOTSUPP);
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

int fs_open_reference(int fd)
{
    (void)fd;
    errno = EOPNOTSUPP;
    return -1;
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

bool fs_hold_shared(int fd, int64_t at, int64_t n)
{
    (void)fd, (void)at, (void)n;
    return true;
}

int64_t fs_born_ns(int fd)
{
    (void)fd;
    return 0;
}

bool fs_kind_keeps_births(uint32_t kind)
{
    (void)kind;
    return false;
}

bool fs_births_are_true(int fd)
{
    (void)fd;
    return false;
}

bool fs_is_overlay(int fd)
{
    (void)fd;
    return false;
}

bool fs_keeps_dir_numbers(int dir)
{
    (void)dir;
    return true;
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
#define XATTR(linux_call, apple_call) kernel_portable_refuse(ENOTSUP)
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
    return kernel_portable_refuse(EINVAL);
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

/* Scans may take a fiftieth of the time. */
enum { LOOK_MS = 1000, SHARE = 50 };

struct folder {
    char *path;
    bool deep;
    uint64_t state; /* the state of all its files: names, sizes, times */
};

struct fs_watch {
    int out, in; /* a pipe: a byte for each change */
    pthread_t thread;
    pthread_mutex_t lock; /* protects all below */
    pthread_cond_t wake;
    bool stop;
    struct folder *folder;
    size_t n, cap;
};

static uint64_t kernel_portable_mix(uint64_t h, uint64_t x)
{
    return (h ^ x) * UINT64_C(0x100000001b3);
}

/* The order of a folder's names does not matter. Only the names of subfolders count, because they have watches of their
 * own. */
static bool kernel_portable_look(const char *path, uint64_t *state)
{
    DIR *dir = opendir(path);
    const struct dirent *d;
    struct stat st;

    *state = 0;
    while (dir && (d = readdir(dir))) {
        if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0 ||
            fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW))
            continue;
        if (S_ISDIR(st.st_mode))
            st = (struct stat){ .st_ino = st.st_ino };

        const char *name = d->d_name;
        uint64_t h = UINT64_C(0xcbf29ce484222325);

        for (; *name; name++)
            h = kernel_portable_mix(h, (unsigned char)*name);
        h = kernel_portable_mix(h, st.st_ino);
        h = kernel_portable_mix(h, (uint64_t)st.st_size);
        *state += kernel_portable_mix(h, (uint64_t)time_ns(st.st_mtim));
    }
    if (dir)
        closedir(dir);
    return dir != NULL;
}

static bool add_locked(struct fs_watch *w, const char *path, bool deep)
{
    struct folder f = { .deep = deep };

    for (size_t i = 0; i < w->n; i++)
        if (strcmp(w->folder[i].path, path) == 0)
            return true;
    if (!kernel_portable_look(path, &f.state) || !array_reserve(w->folder, w->cap, w->n + 1))
        return false;
    f.path = strdup(path);
    if (f.path)
        w->folder[w->n++] = f;
    return f.path != NULL;
}

static bool kernel_portable_look_at_all(struct fs_watch *w)
{
    bool changed = false;

    for (size_t i = 0, n = w->n; i < n; i++) {
        uint64_t state;

        kernel_portable_look(w->folder[i].path, &state);
        if (state == w->folder[i].state)
            continue;
        w->folder[i].state = state;
        changed = true;
        if (w->folder[i].deep) {
            /* Files that are in a new folder already are part of this change. */
            const char *root = w->folder[i].path;
            char path[PATH_MAX];
            DIR *dir = opendir(root);
            const struct dirent *d;
            struct stat st;

            while (dir && (d = readdir(dir)))
                if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0 &&
                    fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
                    S_ISDIR(st.st_mode) &&
                    snprintf(path, sizeof path, "%s/%s", root, d->d_name) < (int)sizeof path)
                    add_locked(w, path, false);
            if (dir)
                closedir(dir);
        }
    }
    return changed;
}

static void *keep_looking(void *arg)
{
    struct fs_watch *w = arg;
    int64_t rest = LOOK_MS;

    pthread_mutex_lock(&w->lock);
    while (!w->stop) {
        struct timespec until;

        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += rest / 1000;
        until.tv_nsec += rest % 1000 * 1000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;

        if (pthread_cond_timedwait(&w->wake, &w->lock, &until) != ETIMEDOUT)
            continue;
        int64_t begun = time_clock_ms(CLOCK_MONOTONIC);

        if (kernel_portable_look_at_all(w) && write(w->in, "", 1) != 1)
            errno = 0; /* the pipe is full, and so it is readable */
        rest = (time_clock_ms(CLOCK_MONOTONIC) - begun) * SHARE;
        rest = rest > LOOK_MS ? rest : LOOK_MS;
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

struct fs_watch *fs_watch_new(void)
{
    struct fs_watch *w = calloc(1, sizeof *w);
    int ends[2] = { -1, -1 };

    if (!w)
        return NULL;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->wake, NULL);
    if (pipe(ends) == 0) {
        for (int i = 0; i < 2; i++)
            (void)(fcntl(ends[i], F_SETFD, FD_CLOEXEC) | fcntl(ends[i], F_SETFL, O_NONBLOCK));
        w->out = ends[0];
        w->in = ends[1];
        if (pthread_create(&w->thread, NULL, keep_looking, w) == 0)
            return w;
        close(w->out);
        close(w->in);
    }
    free(w);
    return NULL;
}

void fs_watch_free(struct fs_watch *w)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->stop = true;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->wake);
    close(w->out);
    close(w->in);
    for (size_t i = 0; i < w->n; i++)
        free(w->folder[i].path);
    free(w->folder);
    free(w);
}

int fs_watch_fd(const struct fs_watch *w)
{
    return w->out;
}

bool fs_watch_add(struct fs_watch *w, const char *folder, bool deep)
{
    pthread_mutex_lock(&w->lock);
    bool added = add_locked(w, folder, deep);

    pthread_mutex_unlock(&w->lock);
    return added;
}

bool fs_watch_read(struct fs_watch *w)
{
    char bytes[64];
    bool changed = false;

    while (read(w->out, bytes, sizeof bytes) > 0)
        changed = true;
    return changed;
}
