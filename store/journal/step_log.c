#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/base/cleanup.h"
#include "store/fs/disk.h"
#include "store/fs/file_at.h"
#include "store/journal/step.h"
#include "store/journal/step_internal.h"
#include "store/log/append.h"
#include "store/log/lease.h"

/* Appended bytes are found by the first of them, in pieces of the file that overlap, so that no
 * match is cut. */
enum { SEARCH_WINDOW = 1 << 20, SEARCH_HEAD = 4096 };

enum err_code step_add_guard(struct step *s, struct arena *a, struct err *e)
{
    char *p;

    NEED(p = arena_alloc(a, s->bytes.n + 1));
    p[0] = '\n';
    memcpy(p + 1, s->bytes.p, s->bytes.n);
    s->bytes = (struct slice){ p, s->bytes.n + 1 };
    return ERR_OK;
}

enum err_code step_append_do(struct step *s, struct arena *a, struct err *e)
{
    struct appended done;

    TRY(log_append(s->path, s->bytes, s->follow ? APPEND_FOLLOW : 0, &done, e));
    if (done.guarded && step_add_guard(s, a, e))
        return ERR_NOMEM;
    s->offset = done.offset;
    s->old_mtime_ns = done.before.mtime_ns;
    if (s->mtime_ns == MTIME_NOW)
        return ERR_OK;

    /* If another program has appended since, the time is that of its rows. */
    struct stat st;
    AUTO_FD fd = -1;

    if (file_at_open(s->path, &fd, &st, NULL) == ERR_OK &&
        st.st_size == s->offset + (int64_t)s->bytes.n)
        file_at_set_mtime(fd, s->mtime_ns);
    return ERR_OK;
}

/* The lease was broken while we were stopped, and the program that waited for it may have written. */
static enum err_code still_alone(const struct lease *lease, const char *path, struct err *e)
{
    return lease_is_held(lease) ? ERR_OK
                                : err_set(e, ERR_LOCKED, path,
                                          "change the end: a program opened the session meanwhile");
}

static enum err_code cut_end(const struct lease *lease, int64_t end, const char *path,
                             struct err *e)
{
    TRY(still_alone(lease, path, e));
    return ftruncate(lease->fd, end) ? err_sys(e, path, "cut the end") : ERR_OK;
}

/* The end of the log is longer or shorter than before. By growing first and shrinking last, every needed byte is on the
 * disk at any moment: only bytes that are already in the record are cut. */
static enum err_code tail_write(const struct lease *lease, const struct step *s,
                                const struct stat *st, struct err *e)
{
    int64_t end = s->offset + (int64_t)s->bytes.n;

    TRY(still_alone(lease, s->path, e));
    enum err_code rc = file_at_write(lease->fd, s->bytes, s->offset, s->path, e);

    if (!rc && end < st->st_size)
        rc = cut_end(lease, end, s->path, e);
    if (!rc)
        return ERR_OK;
    enum err_code back = file_at_write(lease->fd, s->old, s->offset, s->path, NULL);

    if (!back && end > st->st_size)
        back = cut_end(lease, st->st_size, s->path, NULL);
    /* ERR_LOCKED would mean that nothing was changed. */
    return back ? err_wrap(e, ERR_IO, "the old end could not be restored") : rc;
}

static enum err_code tail_do(struct step *s, struct err *e)
{
    AUTO_FD fd = -1;
    struct lease lease;
    struct stat st;
    bool same = false;

    TRY(file_at_open(s->path, &fd, &st, e));
    if (!lease_acquire(&lease, fd))
        return err_set(e, ERR_LOCKED, s->path, "change the end: %s", lease_refusal());
    enum err_code rc = fstat(fd, &st) ? err_sys(e, s->path, "examine the file")
                                      : file_at_holds(fd, s->old, s->offset, &same, s->path, e);

    if (!rc && (!same || st.st_size != s->offset + (int64_t)s->old.n))
        rc = err_set(e, ERR_STALE, s->path, "change the end: the session has continued since");
    if (!rc) {
        s->old_mtime_ns = file_at_mtime(&st);
        rc = tail_write(&lease, s, &st, e);
        if (lease_is_held(&lease)) /* otherwise the time is that of another program's write */
            file_at_set_mtime(fd, rc ? s->old_mtime_ns : s->mtime_ns);
    }
    lease_release(&lease);
    return rc ? rc : disk_sync(fd, s->path, e);
}

/* If the end cannot be cut off, the opposite is appended instead (step.h, step_do). */
enum err_code step_tail_do(struct step *s, struct arena *a, struct err *e)
{
    enum err_code rc = tail_do(s, e);

    /* Bytes that were appended through a link are never cut off through it; the opposite is appended instead. */
    bool linked = rc == ERR_UNSAFE && s->follow;

    if (s->opposite.n == 0 || (rc != ERR_LOCKED && rc != ERR_STALE && !linked))
        return rc;
    struct step append = { .kind = STEP_APPEND,
                           .path = s->path,
                           .bytes = s->opposite,
                           .opposite = s->old,
                           .follow = s->follow,
                           .mtime_ns = MTIME_NOW };

    rc = step_append_do(&append, a, e);
    if (!rc)
        *s = append;
    return rc;
}

enum err_code step_edit_do(struct step *s, struct err *e)
{
    AUTO_FD fd = -1;
    struct stat st;
    bool same;

    TRY(file_at_open(s->path, &fd, &st, e));
    TRY(file_at_holds(fd, s->old, s->offset, &same, s->path, e));
    if (!same || s->old.n != s->bytes.n)
        return err_set(e, ERR_STALE, s->path, "edit in place: the bytes there changed");
    s->old_mtime_ns = file_at_mtime(&st);
    enum err_code rc = file_at_write(fd, s->bytes, s->offset, s->path, e);

    /* If the write fails halfway, the file gets its old bytes and its old time back. */
    if (rc && file_at_write(fd, s->old, s->offset, s->path, NULL))
        return err_wrap(e, rc, "the old bytes could not be restored");
    if (rc) {
        file_at_set_mtime(fd, s->old_mtime_ns);
        return rc;
    }
    TRY(disk_sync(fd, s->path, e));
    file_at_set_mtime(fd, s->mtime_ns);
    return ERR_OK;
}

/* The appended bytes are searched from the old end of the file on, because another program may have written first. */
enum err_code step_append_is_done(struct step *s, bool *done, struct err *e)
{
    const size_t head = s->bytes.n < SEARCH_HEAD ? s->bytes.n : SEARCH_HEAD;
    AUTO_FD fd = open(s->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    AUTO_FREE char *window = NULL;
    struct stat st;
    size_t got;

    *done = false;
    if (fd < 0)
        return errno == ENOENT ? ERR_OK : err_sys(e, s->path, "open");
    if (fstat(fd, &st))
        return err_sys(e, s->path, "examine the file");
    NEED(window = malloc(SEARCH_WINDOW));
    if (s->offset + (int64_t)s->bytes.n > st.st_size)
        return ERR_OK;

    for (int64_t at = s->offset;; at += (int64_t)(got - head + 1)) {
        TRY(file_at_read(fd, window, SEARCH_WINDOW, at, &got, s->path, e));
        if (got < head)
            return ERR_OK;
        const char *from = window, *hit;

        while ((hit = memmem(from, got - (size_t)(from - window), s->bytes.p, head))) {
            const int64_t found = at + (hit - window);

            TRY(file_at_holds(fd, s->bytes, found, done, s->path, e));
            if (*done) {
                s->offset = found;
                return ERR_OK;
            }
            from = hit + 1;
        }
    }
}

/* Sets *is to whether each byte from offset on is either the old or the new one (or a NUL that a
 * power cut left where the file had grown). Only then was it our write that was cut short. */
static enum err_code mixed(int fd, const struct step *s, int64_t size, bool *is, struct err *e)
{
    int64_t n = size - s->offset;
    char piece[4096];
    ssize_t k;

    *is = n >= 0 && ((size_t)n <= s->old.n || (size_t)n <= s->bytes.n);
    for (int64_t i = 0; i < n && *is; i += k) {
        size_t want = n - i < (int64_t)sizeof piece ? (size_t)(n - i) : sizeof piece;

        do
            k = pread(fd, piece, want, s->offset + i);
        while (k < 0 && errno == EINTR);
        if (k < 0)
            return err_sys(e, s->path, "read");
        *is = k > 0; /* it became shorter meanwhile */
        for (ssize_t j = 0; j < k && *is; j++) {
            const size_t at = (size_t)(i + j);

            *is = (at < s->old.n && piece[j] == s->old.p[at]) ||
                  (at < s->bytes.n && piece[j] == s->bytes.p[at]) ||
                  (piece[j] == '\0' && at >= s->old.n);
        }
    }
    return ERR_OK;
}

enum err_code step_bytes_is_done(const struct step *s, bool *done, struct err *e)
{
    AUTO_FD fd = open(s->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    int64_t end = s->offset + (int64_t)s->bytes.n;
    bool same = false, half = false;
    struct stat st;

    *done = false;
    if (fd < 0)
        return errno == ENOENT ? ERR_OK : err_sys(e, s->path, "open");
    if (fstat(fd, &st))
        return err_sys(e, s->path, "examine the file");
    if (s->kind == STEP_EDIT || st.st_size == end)
        return file_at_holds(fd, s->bytes, s->offset, done, s->path, e);
    if (st.st_size < end)
        return ERR_OK;

    /* After a TAIL was done, another program may have written after it before a crash kept us from recording that. The
     * file then contains the new bytes and not the old ones, and the rest is not half of our own write. */
    bool grows =
        s->bytes.n > s->old.n && (s->old.n == 0 || memcmp(s->bytes.p, s->old.p, s->old.n) == 0);
    enum err_code rc = file_at_holds(fd, s->bytes, s->offset, done, s->path, e);

    if (!rc && *done && !grows)
        rc = file_at_holds(fd, s->old, s->offset, &same, s->path, e);
    if (!rc && *done && !same)
        rc = mixed(fd, s, st.st_size, &half, e);
    *done = *done && !rc && !same && !half;
    return rc;
}

enum err_code step_tail_is_done(struct step *s, bool *done, struct err *e)
{
    enum err_code rc = step_bytes_is_done(s, done, e);

    if (rc || *done || s->opposite.n == 0)
        return rc;
    struct step append = *s;

    append.kind = STEP_APPEND;
    append.bytes = s->opposite;
    append.opposite = s->old;
    append.offset = s->offset + (int64_t)s->old.n;
    rc = step_append_is_done(&append, done, e);
    if (!rc && *done)
        *s = append;
    return rc;
}

static enum err_code time_mend(const struct step *s, struct err *e)
{
    AUTO_FD fd = -1;
    struct stat st;

    /* If the file cannot be written, it was not written; that must not be reported as a failure to repair. */
    if (lstat(s->path, &st) == 0 && file_at_mtime(&st) == s->old_mtime_ns)
        return ERR_OK;
    enum err_code rc = file_at_open(s->path, &fd, &st, e);

    if (rc)
        return rc == ERR_NOT_FOUND || rc == ERR_UNSAFE ? ERR_OK : rc;
    if (file_at_mtime(&st) != s->old_mtime_ns && !file_at_set_mtime(fd, s->old_mtime_ns))
        return err_sys(e, s->path, "restore the time");
    return ERR_OK;
}

/* If the lease is not granted, blanks replace what there is of the append. */
enum err_code step_append_repair(const struct step *s, struct err *e)
{
    struct step tail = *s;
    struct stat st;

    if (stat(s->path, &st))
        return errno == ENOENT ? ERR_OK : err_sys(e, s->path, "examine the file");
    if (st.st_size < s->offset)
        return ERR_OK;
    if (st.st_size ==
        s->offset) /* perhaps it was cut off, and the crash came before its time was restored */
        return time_mend(s, e);
    tail.kind = STEP_TAIL;
    tail.old = (struct slice){ NULL, 0 };
    return step_bytes_repair(&tail, e);
}

/* Returns true if the old bytes are there and nothing else changed. */
static bool step_log_is_as_before(const struct step *s)
{
    struct stat st;
    AUTO_FD fd = open(s->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    int64_t end = s->offset + (int64_t)s->old.n;
    bool same = false;

    if (fd < 0)
        return false;
    if (fstat(fd, &st) == 0 && file_at_mtime(&st) == s->old_mtime_ns &&
        (s->kind == STEP_EDIT || st.st_size == end) &&
        file_at_holds(fd, s->old, s->offset, &same, s->path, NULL))
        same = false; /* the repair will report the error */
    return same;
}

/* A mixture of old and new bytes becomes the old ones. A TAIL needs the lease; it is NULL for an
 * EDIT. */
static enum err_code bytes_back(int fd, const struct lease *lease, const struct step *s,
                                int64_t size, struct err *e)
{
    int64_t end = s->offset + (int64_t)s->old.n;

    TRY(file_at_write(fd, s->old, s->offset, s->path, e));
    if (lease && size > end)
        TRY(cut_end(lease, end, s->path, e));
    if (!file_at_set_mtime(fd, s->old_mtime_ns))
        return err_sys(e, s->path, "restore the time");
    return ERR_OK;
}

/* Without the lease nothing is cut off. If the end is the old one, nothing has to be: only the time may be that of an
 * earlier step of the same change. */
static enum err_code repair_without_lease(int fd, const struct step *s, const struct stat *st,
                                          struct err *e)
{
    bool same = false;
    enum err_code rc = ERR_OK;

    if (s->old.n == 0) {
        /* Half an append that cannot be cut off is overwritten with blanks, because the next line
         * of any program would be glued to it. */
        int64_t size = st->st_size;
        int64_t guard = s->bytes.n && s->bytes.p[0] == '\n';
        int64_t n = size - s->offset - guard;

        TRY(n > 0 ? file_at_blank(fd, (size_t)n, s->offset + guard, s->path, e) : ERR_OK);
        return disk_sync(fd, s->path, e);
    }
    if (st->st_size == s->offset + (int64_t)s->old.n)
        rc = file_at_holds(fd, s->old, s->offset, &same, s->path, e);
    if (rc || same)
        return rc ? rc : time_mend(s, e);
    return err_set(e, ERR_LOCKED, s->path, "undo: %s", lease_refusal());
}

enum err_code step_bytes_repair(const struct step *s, struct err *e)
{
    int fd;
    struct lease lease;
    struct stat st;
    bool is, tail = s->kind == STEP_TAIL, rest = false;

    if (step_log_is_as_before(s))
        return ERR_OK;
    enum err_code rc = file_at_open(s->path, &fd, &st, e);

    if (rc == ERR_NOT_FOUND)
        return tail && s->old.n ? err_set(e, ERR_STALE, s->path, "undo: the session is gone")
                                : ERR_OK;
    if (rc)
        return rc;
    rc = mixed(fd, s, tail ? st.st_size : s->offset + (int64_t)s->old.n, &is, e);
    if (!rc && is && tail && !lease_acquire(&lease, fd)) {
        rc = repair_without_lease(fd, s, &st, e);
        is = false;
    }
    if (!rc && is) {
        rc = bytes_back(fd, tail ? &lease : NULL, s, st.st_size, e);
        if (tail)
            lease_release(&lease);
        if (!rc)
            rc = disk_sync(fd, s->path, e);
    } else if (!rc && tail) {
        /* Other programs may have written after the old end, but never over it. */
        rc = file_at_holds(fd, s->old, s->offset, &rest, s->path, e);
        if (!rc && !rest)
            rc = err_set(e, ERR_STALE, s->path, "undo: the session has continued since");
    }
    close(fd);

    if (!rest)
        return rc;
    /* The opposite was appended instead (step_tail_do), and cut short. */
    const struct step append = { .kind = STEP_APPEND,
                                 .path = s->path,
                                 .bytes = s->opposite,
                                 .offset = s->offset + (int64_t)s->old.n,
                                 .follow = s->follow,
                                 .old_mtime_ns = file_at_mtime(&st) };

    return s->opposite.n && st.st_size > append.offset ? step_append_repair(&append, e) : ERR_OK;
}
