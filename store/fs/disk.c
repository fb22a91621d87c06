#include "store/fs/disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/base/cleanup.h"
#include "store/fs/file_at.h"
#include "store/fs/kernel.h"
#include "store/fs/path.h"

/* The promises of this library must hold on file systems that lack the calls for them, so many
 * functions try the strongest call first, and a weaker one only if the first is not supported.
 *
 *   open, without a name or with a temporary one -> write -> sync -> name -> sync the directory
 *
 * The bytes must be durable before they get a name, or a power cut could leave an empty file under
 * it. Once the name exists, a failure must not be reported as if nothing had happened. A temporary
 * file is locked while its writer lives, so that a sweep by another process leaves it alone. No
 * name is claimed in advance with an empty file, because a crash would leave that file. */

enum err_code disk_write(int fd, struct slice bytes, size_t *done, const char *path, struct err *e)
{
    size_t at = 0;
    struct signal_hold hold;
    enum err_code rc = ERR_OK;

    fs_signal_hold(&hold, SIGXFSZ);
    while (at < bytes.n && !rc) {
        ssize_t k = write(fd, bytes.p + at, bytes.n - at);

        if (k > 0)
            at += (size_t)k;
        else if (k == 0 || errno != EINTR)
            rc = err_sys(e, path, "write");
    }
    fs_signal_release(&hold, -1);
    if (done)
        *done = at;
    return rc;
}

enum err_code disk_sync(int fd, const char *path, struct err *e)
{
    while (fsync(fd)) {
        if (errno == EINVAL) /* some file systems cannot sync directories and need not */
            return ERR_OK;
        if (errno != EINTR)
            return err_sys(e, path, "sync to disk");
    }
    return ERR_OK;
}

void disk_start_sync(int fd, int64_t at, int64_t n)
{
    fs_start_writeback(fd, at,
                       n); /* only a hint: the later sync does the rest and reports the errors */
}

int disk_rename_new(int from_dir, const char *from, int to_dir, const char *to)
{
    struct stat st;

    if (fs_rename_new(from_dir, from, to_dir, to) == 0)
        return 0;
    if (!fs_is_lacking(errno))
        return -1;
    /* Claiming the name first with an empty file would leave that file after a crash. */
    if (fstatat(to_dir, to, &st, AT_SYMLINK_NOFOLLOW) == 0) {
        errno = EEXIST;
        return -1;
    }
    return errno == ENOENT ? renameat(from_dir, from, to_dir, to) : -1;
}

static int dir_open(const char *dir)
{
    return open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

enum err_code disk_sync_dir(const char *dir, struct err *e)
{
    int fd = dir_open(dir);

    if (fd < 0)
        return err_sys(e, dir, "open directory");
    enum err_code rc = disk_sync(fd, dir, e);

    close(fd);
    return rc;
}

enum err_code disk_sync_parent(const char *path, struct err *e)
{
    char dir[PATH_MAX];

    if (!path_parent(path, dir))
        return err_set(e, ERR_UNSAFE, path, "the name is too long");
    return disk_sync_dir(dir, e);
}

static enum err_code dir_make(char *path, mode_t mode, struct err *e)
{
    if (mkdir(path, mode) == 0)
        return disk_sync_parent(path, e);
    return errno == EEXIST ? ERR_OK : err_sys(e, path, "make directory");
}

enum err_code disk_make_dir(const char *dir, mode_t mode, struct err *e)
{
    char path[4096];
    int n = snprintf(path, sizeof path, "%s", dir);

    if (n <= 0 || (size_t)n >= sizeof path)
        return err_set(e, ERR_UNSAFE, dir, "make directory: the name is too long");
    for (char *p = path + 1; *p; p++) {
        if (*p != '/')
            continue;
        *p = '\0';
        enum err_code rc = dir_make(path, mode, e);

        *p = '/';
        if (rc)
            return rc;
    }
    return dir_make(path, mode, e);
}

enum err_code disk_private_dir(const char *dir, struct err *e)
{
    struct stat st;

    TRY(disk_make_dir(dir, 0700, e));
    if (lstat(dir, &st))
        return err_sys(e, dir, "examine directory");
    if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid())
        return err_set(e, ERR_UNSAFE, dir,
                       "a directory of our own is a link or belongs to another user");
    return ERR_OK;
}

enum err_code disk_check_own(const char *path, struct err *e)
{
    struct stat st;

    if (lstat(path, &st))
        return err_sys(e, path, "look at");
    return st.st_uid == geteuid() ? ERR_OK
                                  : err_set(e, ERR_UNSAFE, path, "it belongs to another user");
}

/* `closed` has the permissions of others that are removed; `follow` is O_NOFOLLOW or 0. */
static enum err_code close_dir(const char *dir, int follow, mode_t closed, struct err *e)
{
    struct stat st;
    enum err_code rc = ERR_OK;
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | follow);

    if (fd < 0)
        return err_sys(e, dir, "open directory");
    if (fstat(fd, &st))
        rc = err_sys(e, dir, "examine directory");
    else if (st.st_uid != geteuid())
        rc = err_set(e, ERR_UNSAFE, dir, "a directory of our own belongs to another user");
    else if ((st.st_mode & closed) && fchmod(fd, st.st_mode & 07777 & ~closed))
        rc = err_sys(e, dir, "make the directory private");
    close(fd);
    return rc;
}

enum err_code disk_own_dir(const char *above, const char *dir, struct err *e)
{
    TRY(disk_private_dir(dir, e));
    TRY(close_dir(above, 0, 0022, e));
    return close_dir(dir, O_NOFOLLOW, 0077, e);
}

static const char temp_start[] = ".reprise-", temp_end[] = ".tmp";
enum { TEMP_RANDOM = 8 };

static bool temp_name(char out[48])
{
    unsigned char r[TEMP_RANDOM];

    if (getentropy(r, sizeof r))
        return false;
    int n = snprintf(out, 48, "%s", temp_start);

    for (size_t i = 0; i < sizeof r; i++)
        n += snprintf(out + n, 48 - (size_t)n, "%02x", r[i]);
    snprintf(out + n, 48 - (size_t)n, "%s", temp_end);
    return true;
}

/* Temporary files of a rewind have longer names and belong to its record: store/rewind/record/record.h. */
bool disk_is_temp(const char *name)
{
    size_t n = sizeof temp_start - 1;

    return strncmp(name, temp_start, n) == 0 &&
           strspn(name + n, "0123456789abcdef") == TEMP_RANDOM * (size_t)2 &&
           strcmp(name + n + TEMP_RANDOM * 2, temp_end) == 0;
}

/* Held while the descriptor is open, to show that a process is at work. A file that cannot be locked is no worse off
 * than without the lock. */
static void temp_hold(int fd)
{
    if (flock(fd, LOCK_EX | LOCK_NB))
        errno = 0;
}

static bool sweep_one(int dir, const char *name)
{
    int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0)
        return errno == ENOENT || errno == ELOOP;
    bool free_to_go = flock(fd, LOCK_EX | LOCK_NB) == 0, held = !free_to_go && errno == EWOULDBLOCK;
    bool gone = free_to_go && (unlinkat(dir, name, 0) == 0 || errno == ENOENT);
    int sys = errno;

    close(fd);
    errno = sys;
    return gone || held;
}

bool disk_new_sweep(const char *dir)
{
    DIR *d = opendir(dir);
    const struct dirent *x;
    bool clean = true;
    int sys = errno;

    if (!d)
        return sys == ENOENT;
    while (errno = 0, (x = readdir(d)))
        if (disk_is_temp(x->d_name) && !sweep_one(dirfd(d), x->d_name)) {
            clean = false;
            sys = errno;
        }
    if (errno) {
        clean = false;
        sys = errno;
    }
    closedir(d);
    errno = sys;
    return clean;
}

enum err_code disk_check_names(const char *path, struct err *e)
{
    AUTO_DIR *d = opendir(path);

    while (d && (errno = 0, readdir(d)))
        ;
    return errno ? err_sys(e, path, "read directory") : ERR_OK;
}

static enum err_code temp_open(struct disk_new *f, mode_t mode, struct err *e)
{
    if (!temp_name(f->temp))
        return err_sys(e, f->path, "generate a random name");
    f->fd = openat(f->dir, f->temp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (f->fd < 0)
        return err_sys(e, f->path, "create a file");
    temp_hold(f->fd);
    return ERR_OK;
}

enum err_code disk_new_open(const char *dir, mode_t mode, struct disk_new *out, struct err *e)
{
    struct disk_new f = { .fd = -1, .dir = -1 };

    if ((size_t)snprintf(f.path, sizeof f.path, "%s", dir) >= sizeof f.path)
        return err_set(e, ERR_UNSAFE, dir, "create a file: the directory's name is too long");
    f.dir = dir_open(dir);
    if (f.dir < 0)
        return err_sys(e, dir, "open directory");
    f.fd = fs_open_nameless(f.dir, mode);
    enum err_code rc = ERR_OK;

    /* File systems without O_TMPFILE (NFS, vfat, some FUSE) report different errors. */
    if (f.fd < 0)
        rc = (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL || errno == ENOENT)
                 ? temp_open(&f, mode, e)
                 : err_sys(e, dir, "create a file");
    if (rc) {
        close(f.dir);
        return rc;
    }
    *out = f;
    return ERR_OK;
}

enum err_code disk_new_write(struct slice bytes, void *arg, struct err *e)
{
    const struct disk_new *f = arg;

    return disk_write(f->fd, bytes, NULL, f->path, e);
}

void disk_new_discard(struct disk_new *f)
{
    if (f->temp[0] && f->dir >= 0)
        unlinkat(f->dir, f->temp, 0);
    f->temp[0] = '\0';
    if (f->fd >= 0)
        close(f->fd);
    if (f->dir >= 0)
        close(f->dir);
    f->fd = f->dir = -1;
}

enum err_code disk_new_move(struct disk_new *f, const char *dir, struct err *e)
{
    const int to = dir_open(dir);

    if (to < 0)
        return err_sys(e, dir, "open directory");
    if (f->temp[0] && renameat(f->dir, f->temp, to, f->temp)) {
        enum err_code rc = err_sys(e, dir, "move a new file");

        close(to);
        return rc;
    }
    close(f->dir);
    f->dir = to;
    snprintf(f->path, sizeof f->path, "%s", dir);
    return ERR_OK;
}

/* Sets `linked` if the file has both names now: it is in its place, whatever becomes of the other. */
static int rename_temp(const struct disk_new *f, const char *name, bool *linked)
{
    *linked = false;
    if (fs_rename_new(f->dir, f->temp, f->dir, name) == 0)
        return 0;
    if (!fs_is_lacking(errno))
        return -1;
    *linked = linkat(f->dir, f->temp, f->dir, name, 0) == 0;
    if (*linked)
        return 0;

    /* File systems without links (exFAT, some FUSE) report different errors. */
    return (errno == EPERM || errno == ENOSYS || errno == EOPNOTSUPP)
               ? disk_rename_new(f->dir, f->temp, f->dir, name)
               : -1;
}

static int name_new(struct disk_new *f, const char *name)
{
    bool linked;

    if (!f->temp[0])
        return fs_name_nameless(f->fd, f->dir, name);
    if (rename_temp(f, name, &linked))
        return -1;
    if (!linked || unlinkat(f->dir, f->temp, 0) == 0)
        f->temp[0] = '\0'; /* otherwise disk_new_discard tries once more */
    return 0;
}

/* After the naming, which succeeded if rc is 0. */
static enum err_code end_new(struct disk_new *f, enum err_code rc, struct err *e)
{
    f->named = !rc;
    if (!rc) {
        /* It is too late to report that nothing happened. */
        rc = f->lazy_dir ? ERR_OK : disk_sync(f->dir, f->path, e);
        rc = rc ? err_wrap(e, rc, "it is in place, but perhaps not durably") : ERR_OK;
    }
    disk_new_discard(f);
    return rc;
}

enum err_code disk_new_publish(struct disk_new *f, const char *name, struct err *e)
{
    enum err_code rc = disk_sync(f->fd, f->path, e);

    if (!rc && name_new(f, name))
        rc = errno == EEXIST ? err_set(e, ERR_STALE, name, "create a file: the name exists already")
                             : err_sys(e, name, "name a new file");
    return end_new(f, rc, e);
}

/* Only a name can be renamed over another, or exchanged with it. */
static enum err_code name_temp(struct disk_new *f, struct err *e)
{
    TRY(disk_sync(f->fd, f->path, e));
    if (f->temp[0])
        return ERR_OK;
    temp_hold(f->fd);
    if (temp_name(f->temp) && fs_name_nameless(f->fd, f->dir, f->temp) == 0)
        return ERR_OK;
    f->temp[0] = '\0';
    return err_sys(e, f->path, "name a new file");
}

static enum err_code rename_over(struct disk_new *f, const char *name, struct err *e)
{
    if (renameat(f->dir, f->temp, f->dir, name))
        return err_sys(e, name, "replace a file");
    f->temp[0] = '\0';
    return ERR_OK;
}

enum err_code disk_new_replace(struct disk_new *f, const char *name, struct err *e)
{
    enum err_code rc = name_temp(f, e);

    if (!rc)
        rc = rename_over(f, name, e);
    return end_new(f, rc, e);
}

/* ---- replacing only what is expected ---- */

struct expected {
    disk_expects_fn *fn;
    void *arg;
};

/* Asks about a file in the directory of the new one. */
static enum err_code check_expected(const struct disk_new *f, const char *name,
                                    const struct expected *x, struct err *e)
{
    char path[PATH_MAX];
    bool is = false;

    if ((size_t)snprintf(path, sizeof path, "%s/%s", f->path, name) >= sizeof path)
        return err_set(e, ERR_UNSAFE, f->path, "change a file: its path is too long");
    TRY(x->fn(path, x->arg, &is, e));
    return is ? ERR_OK
              : err_set(e, ERR_STALE, name, "change a file: it was changed in the meantime");
}

/* Gives the file that was there its name back. If another program has replaced the new file by then, its file stays, and
 * the one before it keeps the temporary name. */
static enum err_code exchange_back(struct disk_new *f, const char *name, enum err_code why,
                                   struct err *e)
{
    struct stat ours, there;

    if (fs_exchange(f->dir, f->temp, name) == 0) {
        if (fstat(f->fd, &ours) == 0 &&
            fstatat(f->dir, f->temp, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
            ours.st_dev == there.st_dev && ours.st_ino == there.st_ino)
            return why;
        (void)!fs_exchange(f->dir, f->temp, name);
    }
    why = err_wrap(e, ERR_IO, "the file that was there is now %s", f->temp);
    f->temp[0] = '\0';
    return why;
}

enum err_code disk_new_replace_expected(struct disk_new *f, const char *name, disk_expects_fn *fn,
                                        void *arg, struct err *e)
{
    const struct expected x = { fn, arg };
    enum err_code rc = name_temp(f, e);

    if (rc)
        return end_new(f, rc, e);
    if (fs_exchange(f->dir, f->temp, name) == 0) {
        rc = check_expected(f, f->temp, &x, e);
        if (rc)
            rc = exchange_back(f, name, rc, e);
        else if (unlinkat(f->dir, f->temp, 0) == 0)
            f->temp[0] = '\0'; /* otherwise disk_new_discard tries once more */
    } else if (fs_is_lacking(errno)) {
        rc = check_expected(f, name, &x, e);
        if (!rc)
            rc = rename_over(f, name, e);
    } else {
        rc = errno == ENOENT ? err_set(e, ERR_STALE, name, "replace a file: it is gone")
                             : err_sys(e, name, "replace a file");
    }
    return end_new(f, rc, e);
}

enum err_code disk_remove_expected(const char *dir, const char *name, disk_expects_fn *fn,
                                   void *arg, struct err *e)
{
    const struct expected x = { fn, arg };
    struct disk_new f = { .fd = -1, .dir = dir_open(dir) };
    enum err_code rc = ERR_OK;

    snprintf(f.path, sizeof f.path, "%s", dir);
    if (f.dir < 0)
        return err_sys(e, dir, "open directory");
    if (!temp_name(f.temp) || renameat(f.dir, name, f.dir, f.temp)) {
        rc = err_sys(e, name, "remove");
        close(f.dir);
        return rc;
    }
    rc = check_expected(&f, f.temp, &x, e);
    if (!rc && unlinkat(f.dir, f.temp, 0))
        rc = err_sys(e, name, "remove");
    if (rc && disk_rename_new(f.dir, f.temp, f.dir, name))
        rc = err_wrap(e, ERR_IO, "the file that was there is now %s", f.temp);
    close(f.dir);
    return rc;
}

static enum err_code open_written(const char *dir, struct slice bytes, mode_t mode,
                                  struct disk_new *f, struct err *e)
{
    TRY(disk_new_open(dir, mode, f, e));
    enum err_code rc = disk_write(f->fd, bytes, NULL, dir, e);

    if (rc)
        disk_new_discard(f);
    return rc;
}

enum err_code disk_create_file(const char *dir, const char *name, struct slice bytes, mode_t mode,
                               struct err *e)
{
    struct disk_new f;

    TRY(open_written(dir, bytes, mode, &f, e));
    return disk_new_publish(&f, name, e);
}

enum err_code disk_replace_file(const char *dir, const char *name, struct slice bytes, mode_t mode,
                                struct err *e)
{
    struct disk_new f;

    TRY(open_written(dir, bytes, mode, &f, e));
    return disk_new_replace(&f, name, e);
}

enum err_code disk_put_file(const char *dir, const char *name, struct slice bytes, mode_t mode,
                            struct err *e)
{
    char path[PATH_MAX];

    if ((size_t)snprintf(path, sizeof path, "%s/%s", dir, name) >= sizeof path)
        return err_set(e, ERR_UNSAFE, dir, "create a file: the directory's name is too long");
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);

    if (fd < 0)
        return errno == EEXIST
                   ? err_set(e, ERR_STALE, path, "create a file: the name exists already")
                   : err_sys(e, path, "create a file");
    enum err_code rc = disk_write(fd, bytes, NULL, path, e);

    close(fd);
    return rc;
}

enum err_code fs_memory_file_open(struct fs_memory_file *f, struct slice bytes, struct err *e)
{
    *f = (struct fs_memory_file){ .fd = fs_open_memory("transcript") };
    if (f->fd < 0)
        return err_sys(e, "a transcript", "create a file in memory");
    fs_fd_path(f->fd, f->path);
    enum err_code rc = disk_write(f->fd, bytes, NULL, f->path, e);

    if (rc)
        fs_memory_file_close(f);
    return rc;
}

void fs_memory_file_close(struct fs_memory_file *f)
{
    if (f->fd >= 0)
        close(f->fd);
    f->fd = -1;
}
