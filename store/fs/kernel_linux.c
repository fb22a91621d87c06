#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "store/fs/file_at.h"
#include "store/fs/kernel.h"

int fs_rename_new(int from_dir, const char *from, int to_dir, const char *to)
{
    return renameat2(from_dir, from, to_dir, to, RENAME_NOREPLACE);
}

int fs_exchange(int dir, const char *a, const char *b)
{
    return renameat2(dir, a, dir, b, RENAME_EXCHANGE);
}

/* Kernels before 5.6 and filters that forbid openat2 leave the walk. */
int fs_open_below(int root, const char *relative)
{
    struct open_how how = { .flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
                            .resolve =
                                RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS };

    if (!*relative)
        return fcntl(root, F_DUPFD_CLOEXEC, 0);
    for (int tries = 0; tries < 8; tries++) {
        long fd = syscall(SYS_openat2, root, relative, &how, sizeof how);

        if (fd >= 0)
            return (int)fd;
        if (errno == ENOSYS || errno == EPERM || errno == E2BIG)
            return file_at_walk(root, relative);
        if (errno != EAGAIN && errno != EINTR) /* EAGAIN: something was renamed during the lookup */
            return -1;
    }
    return -1;
}

/* Compares the kernel's path of the descriptor, which is not known without /proc. */
bool fs_is_at(int dir, const char *path)
{
    char self[FS_FD_PATH], real[PATH_MAX];

    fs_fd_path(dir, self);
    ssize_t n = readlink(self, real, sizeof real - 1);

    if (n < 0)
        return true;
    real[n] = '\0';
    return strcmp(real, path) == 0;
}

/* It gets its name through /proc, which an empty root does not have. */
int fs_open_nameless(int dir, mode_t mode)
{
    struct stat st;

    return stat("/proc/self/fd", &st) ? -1 : openat(dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
}

/* Through /proc, which needs no privilege (linkat with AT_EMPTY_PATH does). */
int fs_name_nameless(int fd, int dir, const char *name)
{
    char self[FS_FD_PATH];

    fs_fd_path(fd, self);
    return linkat(AT_FDCWD, self, dir, name, AT_SYMLINK_FOLLOW);
}

int fs_open_memory(const char *what)
{
    return memfd_create(what, MFD_CLOEXEC);
}

void fs_fd_path(int fd, char out[FS_FD_PATH])
{
    snprintf(out, FS_FD_PATH, "/proc/self/fd/%d", fd);
}

int fs_open_reference(int fd)
{
    char path[FS_FD_PATH];

    fs_fd_path(fd, path);
    return open(path, O_PATH | O_CLOEXEC);
}

void fs_start_writeback(int fd, int64_t at, int64_t n)
{
    int error = errno;

    (void)sync_file_range(fd, at, n, SYNC_FILE_RANGE_WRITE);
    errno = error;
}

/* ---- what is known of an open file ---- */

static bool kernel_linux_look_at(int fd, unsigned mask, struct statx *out)
{
    return statx(fd, "", AT_EMPTY_PATH, mask, out) == 0;
}

/* Kernels before 5.8 show only mounts of other file systems. */
bool fs_is_mount(int fd, int dir)
{
    struct statx file, parent;

    if (!kernel_linux_look_at(fd, STATX_BASIC_STATS, &file))
        return false;
    if (file.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT)
        return (file.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
    return kernel_linux_look_at(dir, STATX_BASIC_STATS, &parent) &&
           (file.stx_dev_major != parent.stx_dev_major ||
            file.stx_dev_minor != parent.stx_dev_minor);
}

/* Kernels before 5.8 have no numbers of mounts. */
bool fs_mount_of(int dir, const char *path, uint64_t *mount, uint64_t *dev)
{
    struct statx sx;

    if (statx(dir, path, AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_MNT_ID, &sx))
        return false;
    *mount = sx.stx_mask & STATX_MNT_ID ? sx.stx_mnt_id : 0;
    *dev = makedev(sx.stx_dev_major, sx.stx_dev_minor);
    return true;
}

bool fs_is_fixed(int fd)
{
    struct statx sx;

    return kernel_linux_look_at(fd, STATX_BASIC_STATS, &sx) &&
           (sx.stx_attributes & (STATX_ATTR_IMMUTABLE | STATX_ATTR_APPEND));
}

bool fs_hold_shared(int fd, int64_t at, int64_t n)
{
    struct flock shared = {
        .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = (off_t)at, .l_len = (off_t)n
    };

    return fcntl(fd, F_OFD_SETLK, &shared) == 0 || (errno != EAGAIN && errno != EACCES);
}

int64_t fs_born_ns(int fd)
{
    struct statx sx;

    if (!kernel_linux_look_at(fd, STATX_BTIME, &sx) || !(sx.stx_mask & STATX_BTIME))
        return 0;
    return (int64_t)sx.stx_btime.tv_sec * 1000000000 + sx.stx_btime.tv_nsec;
}

bool fs_kind_keeps_births(uint32_t kind)
{
    static const uint32_t kinds[] = { 0xef53 /* ext4 */,      0x58465342 /* XFS */,
                                      0x9123683e /* btrfs */, 0xf2f52010 /* F2FS */,
                                      0x01021994 /* tmpfs */, 0xca451a4e /* bcachefs */ };

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i] == kind)
            return true;
    return false;
}

bool fs_births_are_true(int fd)
{
    struct statfs fs;

    /* What an overlayfs copied into its upper layer began there, wherever that is looked at. Without privileges only
     * the second name shows it. */
    return fstatfs(fd, &fs) == 0 && fs_kind_keeps_births((uint32_t)fs.f_type) &&
           fgetxattr(fd, "trusted.overlay.origin", NULL, 0) < 0 &&
           fgetxattr(fd, "user.overlay.origin", NULL, 0) < 0;
}

bool fs_is_overlay(int fd)
{
    struct statfs fs;

    return fstatfs(fd, &fs) == 0 && (uint32_t)fs.f_type == 0x794c7630;
}

/* Such an overlayfs reports its own device for directories and others for files, so any file in the directory shows it.
 * Without a file, the numbers are trusted. */
bool fs_keeps_dir_numbers(int dir)
{
    const struct dirent *entry;
    struct stat own, sb;
    bool kept = true, found = false;

    if (!fs_is_overlay(dir) || fstat(dir, &own))
        return true;
    int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = fd >= 0 ? fdopendir(fd) : NULL;

    while (list && !found && (entry = readdir(list))) {
        found = !fstatat(dir, entry->d_name, &sb, AT_SYMLINK_NOFOLLOW) && !S_ISDIR(sb.st_mode);
        kept = !found || sb.st_dev == own.st_dev;
    }
    if (list)
        closedir(list);
    else if (fd >= 0)
        close(fd);
    return kept;
}

bool fs_is_shared(int fd, const char *path)
{
    static const uint32_t kinds[] = { 0x6969 /* NFS */, 0xff534d42 /* CIFS */,
                                      0xfe534d42 /* SMB2 */, 0x65735546 /* FUSE */ };
    struct statfs fs;

    if ((fd >= 0 ? fstatfs(fd, &fs) : statfs(path, &fs)) != 0)
        return false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if ((uint32_t)fs.f_type == kinds[i])
            return true;
    return false;
}

/* ---- extended attributes ---- */

ssize_t fs_xattr_list(int fd, char *names, size_t size)
{
    return flistxattr(fd, names, size);
}

ssize_t fs_xattr_get(int fd, const char *name, void *value, size_t size)
{
    return fgetxattr(fd, name, value, size);
}

int fs_xattr_set(int fd, const char *name, const void *value, size_t size)
{
    return fsetxattr(fd, name, value, size, 0);
}

int fs_xattr_remove(int fd, const char *name)
{
    return fremovexattr(fd, name);
}

/* ---- leases ---- */

/* An owner that is set before the lease is kept. With F_SETSIG the kernel also reports the descriptor. */
int fs_lease_set(int fd, enum fs_lease kind)
{
    static const int kinds[] = { F_UNLCK, F_RDLCK, F_WRLCK };
    const struct f_owner_ex own = { .type = F_OWNER_TID, .pid = gettid() };

    if (kind && (fcntl(fd, F_SETOWN_EX, &own) || fcntl(fd, F_SETSIG, SIGIO)))
        return -1;
    return fcntl(fd, F_SETLEASE, kinds[kind]);
}

bool fs_lease_is_held(int fd)
{
    return fcntl(fd, F_GETLEASE) == F_WRLCK;
}

/* A signal sent to the thread comes before one sent to the process. */
void fs_signal_discard(int signo, int fd)
{
    const struct timespec now = { 0 };
    siginfo_t info;
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, signo);

    /* A signal without a sender is one for which the kernel had no memory. It is treated as ours,
     * because sending it again could end the host. */
    if (sigtimedwait(&set, &info, &now) == signo && fd >= 0 && info.si_fd != fd &&
        !(info.si_code == SI_USER && info.si_pid == 0))
        syscall(SYS_rt_sigqueueinfo, getpid(), signo, &info);
}

enum { DEEP_MAX = 32 };

struct deep {
    int id; /* inotify's */
    char *path;
};

struct fs_watch {
    int fd;
    struct deep deep[DEEP_MAX];
    size_t n;
};

struct fs_watch *fs_watch_new(void)
{
    struct fs_watch *w = calloc(1, sizeof *w);

    if (!w)
        return NULL;
    w->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (w->fd >= 0)
        return w;
    free(w);
    return NULL;
}

void fs_watch_free(struct fs_watch *w)
{
    if (!w)
        return;
    close(w->fd);
    for (size_t i = 0; i < w->n; i++)
        free(w->deep[i].path);
    free(w);
}

int fs_watch_fd(const struct fs_watch *w)
{
    return w->fd;
}

bool fs_watch_add(struct fs_watch *w, const char *folder, bool deep)
{
    int id = inotify_add_watch(w->fd, folder,
                               IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_MODIFY |
                                   IN_ONLYDIR | IN_EXCL_UNLINK);
    char *path = id >= 0 && deep && w->n < DEEP_MAX ? strdup(folder) : NULL;

    if (path)
        w->deep[w->n++] = (struct deep){ id, path };
    return id >= 0 && (!deep || path);
}

static void handle_event(struct fs_watch *w, const struct inotify_event *ev)
{
    char path[PATH_MAX];

    if (!(ev->mask & IN_ISDIR) || !(ev->mask & (IN_CREATE | IN_MOVED_TO)) || ev->len == 0)
        return;
    for (size_t i = 0; i < w->n; i++)
        if (w->deep[i].id == ev->wd &&
            snprintf(path, sizeof path, "%s/%s", w->deep[i].path, ev->name) < (int)sizeof path)
            (void)fs_watch_add(w, path, false);
}

bool fs_watch_read(struct fs_watch *w)
{
    union {
        struct inotify_event event; /* for its alignment */
        char bytes[4096];
    } in;
    bool changed = false;
    ssize_t n;

    while ((n = read(w->fd, in.bytes, sizeof in.bytes)) > 0) {
        changed = true;
        for (ssize_t at = 0; at < n;) {
            const struct inotify_event *ev = (const void *)(in.bytes + at);

            handle_event(w, ev);
            at += (ssize_t)(sizeof *ev + ev->len);
        }
    }
    return changed;
}
