/* libc has these functions under two names, and both are replaced: the headers must not rename ours. */
#undef _FILE_OFFSET_BITS
#include "tests/sweeps/inject.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/coverage.h"
#include "tests/sweeps/powercut.h"

/* The state of the one injector that a process has: see powercut.c. */
static struct inject armed;
static _Atomic long own_counter;

enum kind { KIND_WRITE, KIND_SYNC, KIND_RENAME, KIND_OTHER, KIND_LOOK, KIND_READ };

static bool cutting(void)
{
    return armed.mode == INJECT_POWER_CUT || armed.mode == INJECT_POWER_CUT_ZEROS;
}

void inject_arm(const struct inject *how)
{
    armed = *how;
    own_counter = 0;
    if (!armed.counter)
        armed.counter = &own_counter;
}

/* ---- configured by the environment ---- */

/* clang-format off */
static const char *const mode_names[INJECT_MODES] = {
    [INJECT_NOTHING] = "nothing",     [INJECT_KILL] = "kill",
    [INJECT_KILL_AFTER] = "kill-after", [INJECT_TORN] = "torn",
    [INJECT_SHORT] = "short",         [INJECT_ERROR] = "error",
    [INJECT_ERROR_AFTER] = "error-after", [INJECT_POWER_CUT] = "power-cut",
    [INJECT_POWER_CUT_ZEROS] = "power-cut-zeros", [INJECT_STOP] = "stop",
    [INJECT_INTERRUPTED] = "interrupted", [INJECT_NO_MEMORY] = "no-memory",
};
/* clang-format on */

static long number_of(const char *variable)
{
    const char *text = getenv(variable);

    return text ? strtol(text, NULL, 10) : 0;
}

static _Atomic long *counter_in(const char *path)
{
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    void *p = MAP_FAILED;

    if (fd >= 0 && syscall(SYS_ftruncate, fd, sizeof(long)) == 0)
        p = mmap(NULL, sizeof(long), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0)
        syscall(SYS_close, fd);
    return p == MAP_FAILED ? NULL : p;
}

__attribute__((constructor)) static void arm_by_environment(void)
{
    const char *mode = getenv("INJECT_MODE"), *counter = getenv("INJECT_COUNTER");
    struct inject how = { .nth = number_of("INJECT_NTH"),
                          .error = (int)number_of("INJECT_ERRNO"),
                          .stays = number_of("INJECT_STAYS") != 0,
                          .looks = number_of("INJECT_LOOKS") != 0,
                          .counter = counter ? counter_in(counter) : NULL };

    for (int m = 0; mode && m < INJECT_MODES; m++)
        if (mode_names[m] && strcmp(mode, mode_names[m]) == 0)
            how.mode = (enum inject_mode)m;
    inject_arm(&how);
}

/* ---- the moment ---- */

static void die(void)
{
    armed = (struct inject){ 0 };
    coverage_keep();
    kill(getpid(), SIGKILL);
    for (;;)
        pause();
}

static bool counts(enum kind kind)
{
    if (armed.looks != (kind >= KIND_LOOK) || (armed.renames && kind != KIND_RENAME))
        return false;
    switch (armed.mode) {
    case INJECT_TORN:
    case INJECT_SHORT: return kind == KIND_WRITE;
    case INJECT_ERROR_AFTER: return kind == KIND_SYNC;
    case INJECT_INTERRUPTED: return kind == KIND_WRITE || kind == KIND_SYNC || kind == KIND_READ;
    case INJECT_NO_MEMORY: return false;
    default: return true;
    }
}

/* Decides whether this call is to fail. Returns the mode that the caller has to carry out itself, or INJECT_NOTHING. */
static enum inject_mode strike(enum kind kind)
{
    if (!armed.counter || !counts(kind))
        return INJECT_NOTHING;
    long at = ++*armed.counter;

    if (armed.nth == 0 || at < armed.nth || (at > armed.nth && !armed.stays))
        return INJECT_NOTHING;
    switch (armed.mode) {
    case INJECT_KILL: die(); break;
    case INJECT_POWER_CUT:
    case INJECT_POWER_CUT_ZEROS:
        powercut_now(armed.mode == INJECT_POWER_CUT_ZEROS);
        die();
        break;
    case INJECT_STOP: kill(getpid(), SIGSTOP); return INJECT_NOTHING;
    case INJECT_INTERRUPTED: return INJECT_ERROR;
    default: break;
    }
    return armed.mode;
}

static long fail(void)
{
    errno = armed.error;
    return -1;
}

static long after(enum inject_mode mode, long result)
{
    if (mode == INJECT_KILL_AFTER)
        die();
    return mode == INJECT_ERROR_AFTER ? fail() : result;
}

/* A call that a power cut need not remember. */
#define PLAIN(...)                                                                                 \
    do {                                                                                           \
        enum inject_mode mode_ = strike(KIND_OTHER);                                               \
        return (int)(mode_ == INJECT_ERROR ? fail() : after(mode_, syscall(__VA_ARGS__)));         \
    } while (0)

/* ---- open ---- */

static int open_any(int dir, const char *path, int flags, mode_t mode)
{
    bool temp = (flags & O_TMPFILE) == O_TMPFILE, makes = temp || (flags & O_CREAT);

    if (temp && armed.no_tmpfile) {
        errno = EOPNOTSUPP;
        return -1;
    }
    if (!makes)
        return strike(KIND_LOOK) == INJECT_ERROR ? (int)fail()
                                                 : (int)syscall(SYS_openat, dir, path, flags, mode);
    enum inject_mode m = strike(KIND_OTHER);
    struct stat st;

    if (m == INJECT_ERROR)
        return (int)fail();
    bool named = cutting() && !temp && fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW) != 0;

    if (named)
        powercut_name(NAME_MADE, dir, path, -1, NULL);
    long fd = syscall(SYS_openat, dir, path, flags, mode);

    if (named && fd < 0)
        powercut_name_failed();
    return (int)after(m, fd);
}

#define OPEN(dir, path, flags)                                                                     \
    do {                                                                                           \
        mode_t mode_ = 0;                                                                          \
        va_list args_;                                                                             \
        va_start(args_, flags);                                                                    \
        if ((flags) & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY)))                                      \
            mode_ = va_arg(args_, mode_t);                                                         \
        va_end(args_);                                                                             \
        return open_any(dir, path, flags, mode_);                                                  \
    } while (0)

int open(const char *path, int flags, ...)
{
    OPEN(AT_FDCWD, path, flags);
}

int openat(int dir, const char *path, int flags, ...)
{
    OPEN(dir, path, flags);
}

int open64(const char *path, int flags, ...)
{
    OPEN(AT_FDCWD, path, flags);
}

int openat64(int dir, const char *path, int flags, ...)
{
    OPEN(dir, path, flags);
}

/* ---- write ---- */

static bool is_regular(int fd)
{
    struct stat st;

    return syscall(SYS_fstat, fd, &st) == 0 && S_ISREG(st.st_mode);
}

/* Output to a terminal or a pipe is not data to keep. offset -1: the current one. */
static ssize_t write_any(int fd, const void *bytes, size_t n, off_t offset)
{
    enum inject_mode m = is_regular(fd) ? strike(KIND_WRITE) : INJECT_NOTHING;

    if (m == INJECT_ERROR)
        return fail();
    if (cutting())
        powercut_dirty(fd);
    if ((m == INJECT_TORN || m == INJECT_SHORT) && n > 1)
        n /= 2;
    long k =
        offset < 0 ? syscall(SYS_write, fd, bytes, n) : syscall(SYS_pwrite64, fd, bytes, n, offset);

    if (m == INJECT_TORN)
        die();
    return after(m, k);
}

ssize_t write(int fd, const void *bytes, size_t n)
{
    return write_any(fd, bytes, n, -1);
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t offset)
{
    return write_any(fd, bytes, n, offset);
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t offset)
{
    return write_any(fd, bytes, n, offset);
}

int ftruncate(int fd, off_t size)
{
    enum inject_mode m = strike(KIND_OTHER);

    if (m == INJECT_ERROR)
        return (int)fail();
    if (cutting())
        powercut_dirty(fd);
    return (int)after(m, syscall(SYS_ftruncate, fd, size));
}

int ftruncate64(int fd, off64_t size)
{
    return ftruncate(fd, size);
}

/* ---- sync ---- */

static int sync_any(long call, int fd)
{
    enum inject_mode m = strike(KIND_SYNC);

    if (m == INJECT_ERROR)
        return (int)fail();
    long r = syscall(call, fd);

    if (r == 0 && cutting())
        powercut_synced(fd);
    return (int)after(m, r);
}

int fsync(int fd)
{
    return sync_any(SYS_fsync, fd);
}

int fdatasync(int fd)
{
    return sync_any(SYS_fdatasync, fd);
}

/* ---- names ---- */

/* A call that changes names: remembered before it is made, because a lost file cannot be examined afterwards. */
#define NAMED(kind, what, from_dir, from, to_dir, to, ...)                                         \
    do {                                                                                           \
        enum inject_mode mode_ = strike(kind);                                                     \
        if (mode_ == INJECT_ERROR)                                                                 \
            return (int)fail();                                                                    \
        if (cutting())                                                                             \
            powercut_name(what, from_dir, from, to_dir, to);                                       \
        long r_ = syscall(__VA_ARGS__);                                                            \
        if (r_ && cutting())                                                                       \
            powercut_name_failed();                                                                \
        return (int)after(mode_, r_);                                                              \
    } while (0)

int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
    NAMED(KIND_RENAME, flags & RENAME_EXCHANGE ? NAME_EXCHANGED : NAME_MOVED, from_dir, from,
          to_dir, to, SYS_renameat2, from_dir, from, to_dir, to, flags);
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
    return renameat2(from_dir, from, to_dir, to, 0);
}

int rename(const char *from, const char *to)
{
    return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int linkat(int from_dir, const char *from, int to_dir, const char *to, int flags)
{
    NAMED(KIND_OTHER, NAME_MADE, to_dir, to, -1, NULL, SYS_linkat, from_dir, from, to_dir, to,
          flags);
}

int link(const char *from, const char *to)
{
    return linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int symlinkat(const char *target, int dir, const char *path)
{
    NAMED(KIND_OTHER, NAME_MADE, dir, path, -1, NULL, SYS_symlinkat, target, dir, path);
}

int symlink(const char *target, const char *path)
{
    return symlinkat(target, AT_FDCWD, path);
}

int unlinkat(int dir, const char *path, int flags)
{
    NAMED(KIND_OTHER, flags & AT_REMOVEDIR ? NAME_DIR_GONE : NAME_GONE, dir, path, -1, NULL,
          SYS_unlinkat, dir, path, flags);
}

int unlink(const char *path)
{
    return unlinkat(AT_FDCWD, path, 0);
}

int rmdir(const char *path)
{
    return unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

int mkdirat(int dir, const char *path, mode_t mode)
{
    NAMED(KIND_OTHER, NAME_DIR_MADE, dir, path, -1, NULL, SYS_mkdirat, dir, path, mode);
}

int mkdir(const char *path, mode_t mode)
{
    return mkdirat(AT_FDCWD, path, mode);
}

/* ---- attributes ---- */

int fchmod(int fd, mode_t mode)
{
    PLAIN(SYS_fchmod, fd, mode);
}

int fchown(int fd, uid_t owner, gid_t group)
{
    PLAIN(SYS_fchown, fd, owner, group);
}

int futimens(int fd, const struct timespec times[2])
{
    PLAIN(SYS_utimensat, fd, NULL, times, 0);
}

int utimensat(int dir, const char *path, const struct timespec times[2], int flags)
{
    PLAIN(SYS_utimensat, dir, path, times, flags);
}

int fsetxattr(int fd, const char *name, const void *value, size_t n, int flags)
{
    PLAIN(SYS_fsetxattr, fd, name, value, n, flags);
}

/* ---- calls that only look ---- */

#define LOOK(type, ...)                                                                            \
    do {                                                                                           \
        if (strike(KIND_LOOK) == INJECT_ERROR)                                                     \
            return (type)fail();                                                                   \
        return (type)syscall(__VA_ARGS__);                                                         \
    } while (0)

int fstat(int fd, struct stat *st)
{
    LOOK(int, SYS_fstat, fd, st);
}

int fstat64(int fd, struct stat64 *st)
{
    LOOK(int, SYS_fstat, fd, st);
}

int fstatat(int dir, const char *path, struct stat *st, int flags)
{
    LOOK(int, SYS_newfstatat, dir, path, st, flags);
}

int fstatat64(int dir, const char *path, struct stat64 *st, int flags)
{
    LOOK(int, SYS_newfstatat, dir, path, st, flags);
}

int stat64(const char *path, struct stat64 *st)
{
    LOOK(int, SYS_newfstatat, AT_FDCWD, path, st, 0);
}

int lstat64(const char *path, struct stat64 *st)
{
    LOOK(int, SYS_newfstatat, AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);
}

ssize_t pread64(int fd, void *bytes, size_t n, off64_t offset)
{
    return strike(KIND_READ) == INJECT_ERROR ? fail() : syscall(SYS_pread64, fd, bytes, n, offset);
}

ssize_t flistxattr(int fd, char *list, size_t n)
{
    LOOK(ssize_t, SYS_flistxattr, fd, list, n);
}

ssize_t fgetxattr(int fd, const char *name, void *value, size_t n)
{
    LOOK(ssize_t, SYS_fgetxattr, fd, name, value, n);
}

int getentropy(void *bytes, size_t n)
{
    if (strike(KIND_LOOK) == INJECT_ERROR)
        return (int)fail();
    return syscall(SYS_getrandom, bytes, n, 0) == (long)n ? 0 : -1;
}

int flock(int fd, int how)
{
    LOOK(int, SYS_flock, fd, how);
}

/* The descriptor is closed in any case, as the kernel does it. */
int close(int fd)
{
    enum inject_mode m = strike(KIND_LOOK);
    long r = syscall(SYS_close, fd);

    return m == INJECT_ERROR ? (int)fail() : (int)r;
}
