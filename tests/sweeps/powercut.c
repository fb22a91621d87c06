#include "tests/sweeps/powercut.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* An injector is between a program and its libc, where no struct can be passed to it, so its state is here. All calls
 * go straight to the kernel, because the functions of libc are the injected ones. */
enum { DIRTY_MAX = 256, NAMES_MAX = 1024 };

struct saved {
    bool is_file;
    mode_t mode;
    struct timespec times[2];
    char *bytes;
    size_t n;
};

struct dirty_file {
    int fd;
    dev_t dev;
    ino_t ino;
    struct saved synced;
};

struct name {
    enum name_change what;
    int dir[2]; /* from, to: descriptors, so that a directory may be renamed meanwhile */
    char name[2][NAME_MAX + 1];
    struct saved old; /* the file whose name was lost */
    int gone;         /* GONE, DIR_GONE: the removed file or directory, still open */
};

static struct dirty_file dirty[DIRTY_MAX];
static int dirty_n;
static struct name names[NAMES_MAX];
static int names_n;

static int dup_high(int fd)
{
    return (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 200);
}

/* A test that the model cannot represent must not go on. */
static void give_up(const char *why)
{
    syscall(SYS_write, 2, why, strlen(why));
    syscall(SYS_exit_group, 99);
}

/* ---- contents ---- */

static ssize_t read_again(int fd, void *bytes, size_t n)
{
    char path[32];

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int in = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    ssize_t k = in < 0 ? -1 : syscall(SYS_pread64, in, bytes, n, 0);

    if (in >= 0)
        syscall(SYS_close, in);
    return k;
}

static struct saved save(int fd)
{
    struct stat st;
    struct saved s = { 0 };

    if (fstat(fd, &st) || !S_ISREG(st.st_mode))
        return s;
    s = (struct saved){ .is_file = true,
                        .mode = st.st_mode & 07777,
                        .times = { st.st_atim, st.st_mtim },
                        .bytes = malloc((size_t)st.st_size + 1) };
    /* Through the program's own descriptor: while it holds a lease, opening the file again would wait for it. */
    ssize_t n = s.bytes ? syscall(SYS_pread64, fd, s.bytes, st.st_size, 0) : -1;

    if (n < 0 && errno == EBADF) /* a library's own, for writing only */
        n = read_again(fd, s.bytes, (size_t)st.st_size);
    if (n != st.st_size)
        give_up("powercut: a file could not be saved\n");
    s.n = (size_t)n;
    return s;
}

static void put_back(int fd, const struct saved *s)
{
    if (syscall(SYS_ftruncate, fd, 0) ||
        syscall(SYS_pwrite64, fd, s->bytes, s->n, 0) != (long)s->n ||
        syscall(SYS_fchmod, fd, s->mode) || syscall(SYS_utimensat, fd, NULL, s->times, 0))
        give_up("powercut: a file could not be put back\n");
}

static int find_dirty(int fd)
{
    struct stat st;

    if (fstat(fd, &st))
        return -1;
    for (int i = 0; i < dirty_n; i++)
        if (dirty[i].dev == st.st_dev && dirty[i].ino == st.st_ino)
            return i;
    return -1;
}

void powercut_dirty(int fd)
{
    struct stat st;

    if (find_dirty(fd) >= 0 || fstat(fd, &st) || !S_ISREG(st.st_mode))
        return;
    if (dirty_n == DIRTY_MAX)
        give_up("powercut: too many files that were never synced\n");
    dirty[dirty_n++] = (struct dirty_file){
        .fd = dup_high(fd), .dev = st.st_dev, .ino = st.st_ino, .synced = save(fd)
    };
}

/* ---- names ---- */

static int open_dir(int dir, const char *path)
{
    int fd = (int)syscall(SYS_openat, dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    int high = dup_high(fd);

    syscall(SYS_close, fd);
    return high;
}

static int open_path(int dir, const char *name)
{
    int fd = (int)syscall(SYS_openat, dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0);
    int high = fd < 0 ? -1 : dup_high(fd);

    if (fd >= 0)
        syscall(SYS_close, fd);
    return high;
}

/* Opens the directory that contains the last component of a path. */
static int open_parent(int dir, const char *path, char name[NAME_MAX + 1])
{
    char parent[PATH_MAX];
    const char *slash = strrchr(path, '/');

    snprintf(name, NAME_MAX + 1, "%s", slash ? slash + 1 : path);
    if (!slash && dir != AT_FDCWD)
        return dup_high(dir);
    snprintf(parent, sizeof parent, "%.*s", slash ? (int)(slash - path) + 1 : 1,
             slash ? path : ".");
    return open_dir(dir, parent);
}

static struct saved save_name(int dir, const char *name)
{
    int fd = (int)syscall(SYS_openat, dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
    struct saved s = { 0 };

    if (fd < 0)
        return s;
    s = save(fd);
    syscall(SYS_close, fd);
    return s;
}

void powercut_name(enum name_change what, int from_dir, const char *from, int to_dir,
                   const char *to)
{
    int keep = errno;

    if (names_n == NAMES_MAX)
        give_up("powercut: too many names that were never synced\n");
    struct name *n = &names[names_n++];

    *n = (struct name){ .what = what, .dir = { -1, -1 }, .gone = -1 };
    n->dir[0] = open_parent(from_dir, from, n->name[0]);
    n->dir[1] = to ? open_parent(to_dir, to, n->name[1]) : -1;
    if (what == NAME_GONE) {
        n->old = save_name(n->dir[0], n->name[0]);
        n->gone = open_path(n->dir[0], n->name[0]);
    }
    if (what == NAME_DIR_GONE)
        n->gone = open_dir(n->dir[0], n->name[0]);
    else if (what == NAME_MOVED)
        n->old = save_name(n->dir[1], n->name[1]);
    errno = keep;
}

static void name_drop(int i)
{
    syscall(SYS_close, names[i].dir[0]);
    if (names[i].dir[1] >= 0)
        syscall(SYS_close, names[i].dir[1]);
    if (names[i].gone >= 0)
        syscall(SYS_close, names[i].gone);
    free(names[i].old.bytes);
    names_n--;
    memmove(&names[i], &names[i + 1], sizeof *names * (size_t)(names_n - i));
}

void powercut_name_failed(void)
{
    int keep = errno;

    name_drop(names_n - 1);
    errno = keep;
}

static bool same_dir(int fd, const struct stat *st)
{
    struct stat other;

    return fstat(fd, &other) == 0 && other.st_dev == st->st_dev && other.st_ino == st->st_ino;
}

void powercut_synced(int fd)
{
    struct stat st;
    int i = find_dirty(fd);

    if (i >= 0) {
        syscall(SYS_close, dirty[i].fd);
        free(dirty[i].synced.bytes);
        dirty[i] = dirty[--dirty_n];
    }
    if (fstat(fd, &st) || !S_ISDIR(st.st_mode))
        return;
    for (i = names_n - 1; i >= 0; i--)
        if (same_dir(names[i].dir[names[i].dir[1] >= 0], &st))
            name_drop(i);
}

/* ---- the cut ---- */

/* A directory whose own name was never durable is lost with all its contents: readers of the tree skip "lost-..."
 * afterwards. */
static void lose_dir(const struct name *n, int number)
{
    char away[64];

    if (syscall(SYS_unlinkat, n->dir[0], n->name[0], AT_REMOVEDIR) == 0)
        return;
    snprintf(away, sizeof away, "lost-%d-%d", (int)getpid(), number);
    syscall(SYS_renameat2, n->dir[0], n->name[0], n->dir[0], away, 0);
}

static void bring_back(int dir, const char *name, const struct saved *old)
{
    if (!old->is_file)
        return;
    int fd = (int)syscall(SYS_openat, dir, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (fd < 0 && errno == ENOENT) /* its directory was removed later, and that is durable */
        return;
    if (fd < 0)
        give_up("powercut: a name could not be brought back\n");
    put_back(fd, old);
    syscall(SYS_close, fd);
}

/* A file that has another name is the same one again. */
static bool is_linked_back(const struct name *n)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/self/fd/%d", n->gone);
    return n->gone >= 0 &&
           syscall(SYS_linkat, AT_FDCWD, path, n->dir[0], n->name[0], AT_SYMLINK_FOLLOW) == 0;
}

/* It comes back as another directory: earlier operations in it are undone in that one. */
static void bring_dir_back(int number)
{
    const struct name *n = &names[number];
    struct stat st;

    if (syscall(SYS_mkdirat, n->dir[0], n->name[0], 0700)) {
        if (errno == ENOENT) /* its parent was removed later, and that is durable */
            return;
        give_up("powercut: a directory could not be brought back\n");
    }
    if (fstat(n->gone, &st))
        give_up("powercut: a directory was not kept open\n");
    int fresh = open_dir(n->dir[0], n->name[0]);

    for (int i = 0; i < number; i++)
        for (int end = 0; end < 2; end++)
            if (names[i].dir[end] >= 0 && same_dir(names[i].dir[end], &st))
                syscall(SYS_dup3, fresh, names[i].dir[end], O_CLOEXEC);
    if (syscall(SYS_fchmod, fresh, st.st_mode & 07777))
        give_up("powercut: a directory did not get its mode back\n");
    syscall(SYS_close, fresh);
}

static void name_undo(const struct name *n, int number)
{
    switch (n->what) {
    case NAME_MADE: syscall(SYS_unlinkat, n->dir[0], n->name[0], 0); break;
    case NAME_DIR_MADE: lose_dir(n, number); break;
    case NAME_GONE:
        if (!is_linked_back(n))
            bring_back(n->dir[0], n->name[0], &n->old);
        break;
    case NAME_DIR_GONE: bring_dir_back(number); break;
    case NAME_MOVED:
        syscall(SYS_renameat2, n->dir[1], n->name[1], n->dir[0], n->name[0], 0);
        bring_back(n->dir[1], n->name[1], &n->old);
        break;
    case NAME_EXCHANGED:
        syscall(SYS_renameat2, n->dir[1], n->name[1], n->dir[0], n->name[0], 2);
        break;
    }
}

void powercut_now(bool zeros)
{
    struct stat st;

    for (int i = 0; i < dirty_n; i++) {
        if (fstat(dirty[i].fd, &st))
            continue;
        put_back(dirty[i].fd, &dirty[i].synced);
        if (zeros && st.st_size > (off_t)dirty[i].synced.n &&
            syscall(SYS_ftruncate, dirty[i].fd, st.st_size))
            give_up("powercut: zeros\n");
    }
    for (int i = names_n - 1; i >= 0; i--)
        name_undo(&names[i], i);
}
