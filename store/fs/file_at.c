#include "store/fs/file_at.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lite/base/time.h"
#include "store/fs/kernel.h"

void fs_signal_hold(struct signal_hold *h, int signo)
{
    sigset_t set;

    h->signo = signo;
    sigemptyset(&set);
    h->pending = sigpending(&set) == 0 && sigismember(&set, signo) == 1;
    sigemptyset(&set);
    sigaddset(&set, signo);
    pthread_sigmask(SIG_BLOCK, &set, &h->before);
}

void fs_signal_release(struct signal_hold *h, int fd)
{
    int error = errno;

    if (!h->pending)
        fs_signal_discard(h->signo, fd);
    pthread_sigmask(SIG_SETMASK, &h->before, NULL);
    errno = error;
}

int64_t file_at_mtime(const struct stat *st)
{
    return time_ns(st->st_mtim);
}

bool file_at_set_mtime(int fd, int64_t ns)
{
    struct timespec t[2] = { { .tv_nsec = UTIME_OMIT },
                             { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 } };
    struct stat st;

    if (ns == MTIME_NOW)
        return true;
    if (t[1].tv_nsec < 0) { /* before the epoch */
        t[1].tv_sec--;
        t[1].tv_nsec += 1000000000;
    }
    /* File systems behind libfuse 2 ignore a time that comes without the other, and report
     * success. */
    if (fstat(fd, &st) == 0)
        t[0] = st.st_atim;
    return futimens(fd, t) == 0 ||
           (errno != EIO && errno != ENOSPC && errno != EDQUOT && errno != EROFS);
}

enum err_code file_at_stat(const char *path, bool *there, struct stat *st, struct err *e)
{
    struct stat unused;

    *there = lstat(path, st ? st : &unused) == 0;
    /* Below a file, and with a name that is too long, there is nothing either. */
    return *there || errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG
               ? ERR_OK
               : err_sys(e, path, "look at");
}

enum err_code file_at_reject_link(const char *path, struct err *e)
{
    struct stat st;
    bool there;
    enum err_code rc = file_at_stat(path, &there, &st, e);

    return rc || !there || !S_ISLNK(st.st_mode)
               ? rc
               : err_set(e, ERR_UNSAFE, path, "open: it is a link");
}

enum err_code file_at_open(const char *path, int *fd, struct stat *st, struct err *e)
{
    *fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (*fd < 0)
        return errno == ELOOP ? err_set(e, ERR_UNSAFE, path, "open for writing: it is a link")
                              : err_sys(e, path, "open for writing");
    enum err_code rc = ERR_OK;

    if (fstat(*fd, st))
        rc = err_sys(e, path, "examine the file");
    else if (!S_ISREG(st->st_mode))
        rc = err_set(e, ERR_UNSAFE, path, "open for writing: not a regular file");
    if (rc) {
        close(*fd);
        *fd = -1;
    }
    return rc;
}

int file_at_walk(int dir, const char *relative)
{
    char part[NAME_MAX + 1];
    int at = fcntl(dir, F_DUPFD_CLOEXEC, 0);

    while (at >= 0 && *relative) {
        size_t n = strcspn(relative, "/");

        if (n > NAME_MAX) {
            close(at);
            errno = ENAMETOOLONG;
            return -1;
        }
        memcpy(part, relative, n);
        part[n] = '\0';
        int next = openat(at, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), sys = errno;

        close(at);
        errno = sys;
        at = next;
        relative += n + (relative[n] == '/');
    }
    return at;
}

enum err_code file_at_holds(int fd, struct slice bytes, int64_t offset, bool *same,
                            const char *path, struct err *e)
{
    char piece[4096];

    *same = false;
    while (bytes.n) {
        ssize_t k = pread(fd, piece, bytes.n < sizeof piece ? bytes.n : sizeof piece, offset);

        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return err_sys(e, path, "read");
        if (k == 0 || memcmp(piece, bytes.p, (size_t)k) != 0)
            return ERR_OK;
        bytes.p += k;
        bytes.n -= (size_t)k;
        offset += k;
    }
    *same = true;
    return ERR_OK;
}

enum err_code file_at_read(int fd, char *out, size_t n, int64_t offset, size_t *got,
                           const char *path, struct err *e)
{
    *got = 0;
    while (*got < n) {
        ssize_t k = pread(fd, out + *got, n - *got, offset + (int64_t)*got);

        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return err_sys(e, path, "read");
        if (k == 0)
            break;
        *got += (size_t)k;
    }
    return ERR_OK;
}

enum err_code file_at_write(int fd, struct slice bytes, int64_t offset, const char *path,
                            struct err *e)
{
    struct signal_hold hold;
    enum err_code rc = ERR_OK;

    fs_signal_hold(&hold, SIGXFSZ);
    while (bytes.n) {
        ssize_t k = pwrite(fd, bytes.p, bytes.n, offset);

        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            rc = err_sys(e, path, "write");
        if (rc)
            break;
        bytes.p += k;
        bytes.n -= (size_t)k;
        offset += k;
    }
    fs_signal_release(&hold, -1);
    return rc;
}

enum err_code file_at_blank(int fd, size_t n, int64_t offset, const char *path, struct err *e)
{
    char blanks[4096];
    enum err_code rc = ERR_OK;

    memset(blanks, ' ', sizeof blanks);
    while (n && !rc) {
        size_t k = n < sizeof blanks ? n : sizeof blanks;

        if (k == n)
            blanks[k - 1] = '\n';
        rc = file_at_write(fd, (struct slice){ blanks, k }, offset, path, e);
        n -= k;
        offset += (int64_t)k;
    }
    return rc;
}
