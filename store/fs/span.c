#include "store/fs/span.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

enum { PIECE = 1 << 18 };

static bool begin_digest(struct hasher *h)
{
    if (!h->kind)
        h->kind = EVP_MD_fetch(NULL, "SHA256", NULL);
    if (!h->state)
        h->state = EVP_MD_CTX_new();
    return h->kind && h->state && EVP_DigestInit_ex2(h->state, h->kind, NULL);
}

static enum err_code finish_digest(struct hasher *h, bool ok, uint8_t sha256[SHA256_BYTES],
                                   struct err *e)
{
    return ok && EVP_DigestFinal_ex(h->state, sha256, NULL) ? ERR_OK : err_nomem(e);
}

void hasher_fini(struct hasher *h)
{
    EVP_MD_CTX_free(h->state);
    EVP_MD_free(h->kind);
    free(h->piece);
    *h = (struct hasher){ 0 };
}

enum err_code hasher_bytes(struct hasher *h, struct slice bytes, uint8_t sha256[SHA256_BYTES],
                           struct err *e)
{
    return finish_digest(
        h, begin_digest(h) && EVP_DigestUpdate(h->state, bytes.p ? bytes.p : "", bytes.n), sha256,
        e);
}

enum err_code hasher_span(struct hasher *h, const struct span *from, int to, const char *to_path,
                          uint8_t sha256[SHA256_BYTES], struct err *e)
{
    enum err_code rc = ERR_OK;

    if (!h->piece)
        h->piece = malloc(PIECE);
    if (!h->piece || !begin_digest(h))
        return err_nomem(e);
    for (int64_t done = 0; done < from->n && !rc;) {
        size_t n = from->n - done < PIECE ? (size_t)(from->n - done) : PIECE;
        struct slice piece = { h->piece, n };

        rc = span_read(from, done, h->piece, n, e);
        if (!rc && !EVP_DigestUpdate(h->state, piece.p, piece.n))
            rc = err_nomem(e);
        if (!rc && to >= 0)
            rc = disk_write(to, piece, NULL, to_path, e);
        done += (int64_t)n;
    }
    if (!rc)
        rc = span_ended(from, e);
    return rc ? rc : finish_digest(h, true, sha256, e);
}

void hasher_hex(const uint8_t hash[SHA256_BYTES], char out[SHA256_BYTES * 2 + 1])
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < SHA256_BYTES; i++) {
        out[i * 2] = digits[hash[i] >> 4];
        out[i * 2 + 1] = digits[hash[i] & 15];
    }
    out[SHA256_BYTES * 2] = '\0';
}
