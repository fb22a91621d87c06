#include "lite/io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/base/time.h"

#if !defined(O_NOATIME) || defined(REPRISE_PORTABLE)
#undef O_NOATIME
#define O_NOATIME 0 /* then the kernel may note when a file was read */
#endif

enum {
    OPEN_FLAGS = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
    READ_ALL_STEP = 4096, /* for files whose size is reported as 0, as in /proc */
};

static int open_again(int dirfd, const char *name, int flags)
{
    int fd;

    do
        fd = openat(dirfd, name, flags);
    while (fd < 0 && errno == EINTR);
    return fd;
}

struct file_id file_id_of(const struct stat *st)
{
    return (struct file_id){ .dev = st->st_dev,
                             .ino = st->st_ino,
                             .size = st->st_size,
                             .mtime_ns = time_ns(st->st_mtim),
                             .ctime_ns = time_ns(st->st_ctim) };
}

enum err_code file_open(int dirfd, const char *name, unsigned flags, struct file *out,
                        struct err *e)
{
    bool follow = flags & FILE_FOLLOW;
    int how = OPEN_FLAGS | (follow ? 0 : O_NOFOLLOW), fd = open_again(dirfd, name, how | O_NOATIME);
    struct stat st;
    enum err_code rc;

    /* O_NOATIME is for owners only; another's file fails with EPERM and is opened without it. */
    if (fd < 0 && errno == EPERM)
        fd = open_again(dirfd, name, how);

    if (fd < 0) {
        if (errno == ELOOP && !follow)
            return err_set(e, ERR_UNSAFE, name, "open: it is a symbolic link");
        if (errno == ENXIO) /* a socket, or a device that is not there */
            return err_set(e, ERR_UNSAFE, name, "open: not a regular file");
        return err_sys(e, name, "open");
    }
    if (fstat(fd, &st) != 0) {
        rc = err_sys(e, name, "stat");
    } else if (!S_ISREG(st.st_mode)) {
        rc = err_set(e, ERR_UNSAFE, name, "open: not a regular file");
    } else {
        *out = (struct file){ .fd = fd, .id = file_id_of(&st), .mode = st.st_mode };
        return ERR_OK;
    }
    close(fd);
    return rc;
}

void file_close(struct file *f)
{
    if (f->fd >= 0)
        close(f->fd);
    f->fd = -1;
}

enum err_code file_read(const struct file *f, int64_t offset, char *p, size_t n, size_t *got,
                        struct err *e)
{
    size_t have = 0;

    while (have < n) {
        ssize_t r = pread(f->fd, p + have, n - have, offset + (int64_t)have);

        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            return err_sys(e, "", "read");
        if (r == 0)
            break;
        have += (size_t)r;
    }
    *got = have;
    return ERR_OK;
}

enum err_code file_read_part(const struct file *f, int64_t offset, size_t n, struct buf *out,
                             struct err *e)
{
    out->n = 0;
    return buf_reserve(out, n) ? err_nomem(e) : file_read(f, offset, out->p, n, &out->n, e);
}

/* Reads to the present end of the file, and one byte past max to notice that it is too long. */
static enum err_code read_to_end(const struct file *f, size_t max, struct buf *out, struct err *e)
{
    size_t before = out->n, step = (size_t)f->id.size + 1, got;

    if (step < READ_ALL_STEP)
        step = READ_ALL_STEP;
    do {
        size_t have = out->n - before, left = max - have;
        size_t want = step <= left ? step : left + 1;
        enum err_code rc = buf_reserve(out, want)
                               ? err_nomem(e)
                               : file_read(f, (int64_t)have, out->p + out->n, want, &got, e);

        if (!rc && got > left)
            rc = err_set(e, ERR_FORMAT, "", "is larger than %zu bytes", max);
        if (rc) {
            out->n = before;
            return rc;
        }
        out->n += got;
    } while (got == step);
    return ERR_OK;
}

enum err_code file_read_all(int dirfd, const char *name, unsigned flags, size_t max,
                            struct buf *out, struct err *e)
{
    struct file f;
    enum err_code rc = file_open(dirfd, name, flags, &f, e);

    if (rc)
        return rc;
    if (f.id.size > 0 && (uint64_t)f.id.size > max)
        rc = err_set(e, ERR_FORMAT, name, "is larger than %zu bytes", max);
    else
        rc = read_to_end(&f, max, out, e);
    file_close(&f);
    return err_at(e, rc, name);
}
