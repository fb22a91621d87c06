#include "store/fs/span.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum err_code span_of_file(int fd, const char *path, struct span *out, struct err *e)
{
    struct stat st;

    if (fstat(fd, &st))
        return err_sys(e, path, "examine the file");
    *out = (struct span){ .path = path, .fd = fd, .n = st.st_size, .whole = true };
    return ERR_OK;
}

struct span span_of_bytes(struct slice bytes)
{
    return (struct span){ .fd = -1, .n = (int64_t)bytes.n, .bytes = bytes.p ? bytes.p : "" };
}

void span_close(struct span *s)
{
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
}

static ssize_t read_at(int fd, char *p, size_t n, int64_t offset)
{
    ssize_t k;

    do
        k = pread(fd, p, n, offset);
    while (k < 0 && errno == EINTR);
    return k;
}

enum err_code span_read(const struct span *s, int64_t offset, char *p, size_t n, struct err *e)
{
    if (s->fd < 0) {
        memcpy(p, s->bytes + offset, n);
        return ERR_OK;
    }
    while (n) {
        ssize_t k = read_at(s->fd, p, n, s->at + offset);

        if (k < 0)
            return err_sys(e, s->path, "read");
        if (k == 0)
            return err_set(e, ERR_STALE, s->path, "it changed while it was read");
        p += k;
        n -= (size_t)k;
        offset += k;
    }
    return ERR_OK;
}

enum err_code span_ended(const struct span *s, struct err *e)
{
    char more;

    if (!s->whole)
        return ERR_OK;
    ssize_t k = read_at(s->fd, &more, 1, s->at + s->n);

    if (k < 0)
        return err_sys(e, s->path, "read");
    return k == 0 ? ERR_OK : err_set(e, ERR_STALE, s->path, "it changed while it was read");
}
