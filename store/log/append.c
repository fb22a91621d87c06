#include "store/log/append.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "store/fs/disk.h"
#include "store/fs/file_at.h"
#include "store/log/lease.h"

/* A fresh tail without a newline may be a line that is still being written, so it is examined again after this time. */
enum { FRESH_MS = 200 };
/* Other programs that use this library hold the lock for the few milliseconds of one append. */
enum { LOCK_WAIT_MS = 10000, LOCK_NAP_MS = 2, REPLACED_MOST = 8 };

static enum err_code append_open_log(const char *path, unsigned flags, int *fd, struct file_id *id,
                                     struct err *e)
{
    int follow = flags & APPEND_FOLLOW ? 0 : O_NOFOLLOW;
    struct stat st;

    AUTO_FD log = open(path, O_RDWR | O_APPEND | O_NONBLOCK | O_CLOEXEC | O_NOCTTY | follow);

    if (log < 0)
        return errno == ELOOP ? err_set(e, ERR_UNSAFE, path, "open for appending: it is a link")
                              : err_sys(e, path, "open for appending");
    if (fstat(log, &st))
        return err_sys(e, path, "examine the file");
    if (!S_ISREG(st.st_mode))
        return err_set(e, ERR_UNSAFE, path, "open for appending: not a regular file");
    *id = file_id_of(&st);
    *fd = log;
    log = -1;
    return ERR_OK;
}

/* The lock is held until the descriptor is closed. On a file system without locks, the append is done without one. */
static enum err_code log_lock(int fd, const char *path, struct err *e)
{
    const struct timespec nap = { .tv_nsec = LOCK_NAP_MS * 1000000L };

    for (int waited = 0; flock(fd, LOCK_EX | LOCK_NB); waited += LOCK_NAP_MS) {
        if (errno == ENOLCK || errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL)
            return ERR_OK;
        if (errno != EWOULDBLOCK && errno != EINTR)
            return err_sys(e, path, "lock for appending");
        if (waited >= LOCK_WAIT_MS)
            return err_set(e, ERR_LOCKED, path,
                           "append: another program has held the lock for 10 s");
        nanosleep(&nap, NULL);
    }
    return ERR_OK;
}

/* *same is false if the path names another file now. `now` may be NULL. */
static enum err_code still_named(const char *path, unsigned flags, const struct file_id *id,
                                 bool *same, struct file_id *now, struct err *e)
{
    struct stat st;

    if (fstatat(AT_FDCWD, path, &st, flags & APPEND_FOLLOW ? 0 : AT_SYMLINK_NOFOLLOW))
        return err_sys(e, path, "append: examine the file again");
    *same = st.st_dev == id->dev && st.st_ino == id->ino;
    if (now)
        *now = file_id_of(&st);
    return ERR_OK;
}

/* A failure to read is an error, because a record that is glued to a torn line is lost. */
static enum err_code tail_is_torn(int fd, const char *path, bool *torn, struct stat *st,
                                  struct err *e)
{
    bool ends = true;

    *torn = false;
    if (fstat(fd, st))
        return err_sys(e, path, "examine the file");
    if (st->st_size > 0)
        TRY(file_at_holds(fd, SLICE("\n"), st->st_size - 1, &ends, path, e));
    *torn = !ends;
    return ERR_OK;
}

static enum err_code torn_after_a_moment(int fd, const char *path, bool *torn, struct err *e)
{
    struct stat st;
    struct timespec now, nap = { .tv_nsec = FRESH_MS * 1000000L };

    TRY(tail_is_torn(fd, path, torn, &st, e));
    if (!*torn || clock_gettime(CLOCK_REALTIME, &now))
        return ERR_OK;
    int64_t age = time_ns(now) - time_ns(st.st_mtim);

    if (age < 0 || age > FRESH_MS * (int64_t)1000000)
        return ERR_OK;
    nanosleep(&nap, NULL);
    return tail_is_torn(fd, path, torn, &st, e);
}

enum err_code log_tail_is_torn(const char *path, unsigned flags, bool *torn, struct err *e)
{
    struct file_id id;
    AUTO_FD fd = -1;

    TRY(append_open_log(path, flags, &fd, &id, e));
    return torn_after_a_moment(fd, path, torn, e);
}

/* Cuts our bytes off if no other program can have written after them. */
static bool cut_off(int fd, off_t end, size_t done, int64_t mtime_ns)
{
    struct lease lease;
    struct stat st;

    if (!lease_acquire(&lease, fd))
        return false;
    bool last = fstat(fd, &st) == 0 && st.st_size == end && lease_is_held(&lease);
    bool cut = last && ftruncate(fd, end - (off_t)done) == 0;

    if (cut)
        file_at_set_mtime(fd, mtime_ns);
    lease_release(&lease);
    return cut;
}

/* Writes the rest after the part that was written, if no other process has the file open and so none can have
 * written. */
static enum err_code append_write_rest(int fd, struct slice rest, off_t end, const char *path,
                                       struct err *e)
{
    struct lease lease;
    struct stat st;

    if (!lease_acquire(&lease, fd)) {
        errno = ENOSPC; /* what a short write to a regular file means */
        return err_sys(e, path, "append");
    }
    enum err_code rc = fstat(fd, &st) ? err_sys(e, path, "examine the file") : ERR_OK;

    if (!rc && st.st_size != end)
        rc = err_set(e, ERR_STALE, path, "append: another program wrote after the first part");
    if (!rc)
        rc = disk_write(fd, rest, NULL, path, e);
    lease_release(&lease);
    return rc;
}

/* After a partial write, so that the next record of any program begins on a line of its own. */
static void undo_partial_write(int fd, struct slice bytes, off_t begin, int64_t mtime_ns)
{
    off_t end = lseek(fd, 0, SEEK_CUR);

    if (end <= begin || (size_t)(end - begin) > bytes.n)
        return;
    bytes.n = (size_t)(end - begin);
    if (!cut_off(fd, end, bytes.n, mtime_ns)) {
        /* Overwrite our bytes with blanks, if they are no longer at the end or another process
         * has the file open. A newline that guards them stays. */
        bool ours;
        int flags = fcntl(fd, F_GETFL), guard = bytes.p[0] == '\n';

        if (file_at_holds(fd, bytes, begin, &ours, "", NULL) || !ours ||
            fcntl(fd, F_SETFL, flags & ~O_APPEND) ||
            file_at_blank(fd, bytes.n - (size_t)guard, begin + guard, "", NULL))
            errno = 0; /* nothing is left to try */
    }
}

/* Makes one write call: a second one could put the rest after another program's record, unless that is certainly
 * impossible. */
static enum err_code write_once(int fd, struct slice bytes, const struct file_id *before,
                                const char *path, off_t *end, struct err *e)
{
    struct signal_hold hold;
    ssize_t k;

    /* At the limit for the size of a file, the write has to fail and not to end the process. */
    fs_signal_hold(&hold, SIGXFSZ);
    do
        k = write(fd, bytes.p, bytes.n);
    while (k < 0 && errno == EINTR);
    fs_signal_release(&hold, -1);
    if (k < 0)
        return err_sys(e, path, "append");
    size_t done = (size_t)k;

    *end = lseek(fd, 0, SEEK_CUR);
    if (done == bytes.n)
        return ERR_OK;
    off_t begin = *end - k;
    enum err_code rc =
        append_write_rest(fd, (struct slice){ bytes.p + done, bytes.n - done }, *end, path, e);

    if (rc)
        undo_partial_write(fd, bytes, begin, before->mtime_ns);
    else
        *end = begin + (off_t)bytes.n;
    return rc;
}

/* Checks that the record is durable. If not, it is removed if that is safe, because a caller that gets an error must
 * not find the record later. */
static enum err_code make_sure(int fd, struct slice bytes, const struct appended *a, bool later,
                               const char *path, struct err *e)
{
    bool same;
    enum err_code rc = file_at_holds(fd, bytes, a->offset, &same, path, e);

    if (!rc && !same)
        return err_set(e, ERR_STALE, path, "append: the written bytes are not in the file");
    if (!rc && !later)
        rc = disk_sync(fd, path, e);
    if (rc && !cut_off(fd, a->offset + a->length, bytes.n, a->before.mtime_ns))
        err_wrap(e, rc, "the bytes were appended, but perhaps not durably");
    return rc;
}

static enum err_code append_records(int fd, const char *path, struct slice records, bool later,
                                    struct appended *a, struct err *e)
{
    AUTO_BUF bytes = { 0 };
    struct stat st;
    off_t end = 0;

    /* A record that already begins with a newline needs no other. */
    a->guarded = false;
    if (!records.n || records.p[0] != '\n')
        TRY(torn_after_a_moment(fd, path, &a->guarded, e));
    NEED(!(a->guarded && buf_add_byte(&bytes, '\n')) && !buf_add(&bytes, records));
    TRY(write_once(fd, buf_slice(&bytes), &a->before, path, &end, e));
    a->length = (int64_t)bytes.n;
    a->offset = end - a->length;
    TRY(make_sure(fd, buf_slice(&bytes), a, later, path, e));
    if (fstat(fd, &st) == 0)
        a->after = file_id_of(&st);
    return ERR_OK;
}

/* The file that now has the path may be a copy that was made after our write. */
static enum err_code in_successor(const char *path, unsigned flags, struct slice records,
                                  struct appended *a, bool *there, struct err *e)
{
    struct file_id id;
    AUTO_FD fd = -1;

    TRY(append_open_log(path, flags, &fd, &id, e));
    a->after = (struct file_id){ 0 };
    TRY(file_at_holds(fd, records, a->offset + a->guarded, there, path, e));
    if (*there) {
        TRY(disk_sync(fd, path, e));
        a->before = id;
    }
    return ERR_OK;
}

/* One attempt; *done is false if the file was replaced by another meanwhile. */
static enum err_code try_append(const char *path, unsigned flags, log_compose_fn *compose,
                                void *arg, struct appended *a, bool *done, struct err *e)
{
    AUTO_BUF records = { 0 };
    int fd;

    TRY(append_open_log(path, flags, &fd, &a->before, e));
    enum err_code rc = log_lock(fd, path, e);

    if (!rc)
        rc = still_named(path, flags, &a->before, done, &a->before, e);
    if (!rc && *done)
        rc = compose(arg, &records, e);
    if (!rc && *done && records.n) {
        rc = append_records(fd, path, buf_slice(&records), flags & APPEND_LATER, a, e);
        if (!rc) {
            /* After the write, a file that cannot be examined is assumed to be unmoved, because
             * the record is in it and synced. */
            struct err why = { 0 };

            *done = true;
            if (still_named(path, flags, &a->before, done, NULL, &why) == ERR_NOT_FOUND) {
                rc = err_set(
                    e, ERR_STALE, path,
                    "append: the file was moved away during the append, and contains the record");
            }
        }
    }

    /* A child that the process forked meanwhile also has the descriptor, and with it the lock, as
     * long as it lives, so closing ours would not release it. */
    if (flock(fd, LOCK_UN))
        errno = 0; /* the file system has no locks */
    close(fd);

    return rc || *done || !records.n ? rc
                                     : in_successor(path, flags, buf_slice(&records), a, done, e);
}

enum err_code log_append_with(const char *path, unsigned flags, log_compose_fn *compose, void *arg,
                              struct appended *out, struct err *e)
{
    struct appended a;
    bool done = false;

    for (int i = 0; i < REPLACED_MOST && !done; i++) {
        a = (struct appended){ 0 };
        TRY(try_append(path, flags, compose, arg, &a, &done, e));
    }
    if (!done)
        return err_set(e, ERR_STALE, path, "append: another program keeps replacing the file");
    if (out)
        *out = a;
    return ERR_OK;
}

static enum err_code compose_records(void *arg, struct buf *records, struct err *e)
{
    const struct slice *all = arg;

    return buf_add(records, *all) ? err_nomem(e) : ERR_OK;
}

enum err_code log_append(const char *path, struct slice records, unsigned flags,
                         struct appended *out, struct err *e)
{
    return log_append_with(path, flags, compose_records, &records, out, e);
}

enum err_code log_sync(const char *path, unsigned flags, struct err *e)
{
    struct file_id id;
    AUTO_FD fd = -1;

    TRY(append_open_log(path, flags, &fd, &id, e));
    return disk_sync(fd, path, e);
}
