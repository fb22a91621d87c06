#include "store/fs/span.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/base/cleanup.h"
#include "store/fs/disk.h"

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

static ssize_t span_read_at(int fd, char *p, size_t n, int64_t offset)
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
        ssize_t k = span_read_at(s->fd, p, n, s->at + offset);

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
    ssize_t k = span_read_at(s->fd, &more, 1, s->at + s->n);

    if (k < 0)
        return err_sys(e, s->path, "read");
    return k == 0 ? ERR_OK : err_set(e, ERR_STALE, s->path, "it changed while it was read");
}

enum err_code span_read_all(const struct span *s, char *p, struct err *e)
{
    /* A read that finds one byte less than it asks for has found the end, too. */
    if (s->fd >= 0 && s->whole && span_read_at(s->fd, p, (size_t)s->n + 1, s->at) == s->n)
        return ERR_OK;
    TRY(span_read(s, 0, p, (size_t)s->n, e));
    return span_ended(s, e);
}

enum { PIECE = 1 << 18 };

void hasher_fini(struct hasher *h)
{
    digest_fini(&h->digest);
    free(h->piece);
    *h = (struct hasher){ 0 };
}

enum err_code hasher_bytes(struct hasher *h, struct slice bytes, uint8_t sha256[SHA256_BYTES],
                           struct err *e)
{
    digest_begin(&h->digest, DIGEST_SHA256);
    digest_add(&h->digest, bytes);
    return digest_end(&h->digest, sha256) ? ERR_OK : digest_error(e);
}

enum err_code hasher_span(struct hasher *h, const struct span *from, int to, const char *to_path,
                          uint8_t sha256[SHA256_BYTES], struct err *e)
{
    if (!h->piece)
        h->piece = malloc(PIECE);
    NEED(h->piece);
    digest_begin(&h->digest, DIGEST_SHA256);
    for (int64_t done = 0; done < from->n;) {
        size_t n = from->n - done < PIECE ? (size_t)(from->n - done) : PIECE;
        struct slice piece = { h->piece, n };

        TRY(span_read(from, done, h->piece, n, e));
        digest_add(&h->digest, piece);
        if (to >= 0)
            TRY(disk_write(to, piece, NULL, to_path, e));
        done += (int64_t)n;
    }
    TRY(span_ended(from, e));
    return digest_end(&h->digest, sha256) ? ERR_OK : digest_error(e);
}

void hasher_hex(const uint8_t hash[SHA256_BYTES], char out[SHA256_BYTES * 2 + 1])
{
    digest_hex(hash, SHA256_BYTES, out);
}
