#include "store/fs/hasher.h"

#include <openssl/evp.h>
#include <stdlib.h>

#include "store/fs/disk.h"

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
