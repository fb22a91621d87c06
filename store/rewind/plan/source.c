#include "store/rewind/plan/source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>

#include "lite/io/file.h"
#include "store/git/blob.h"

void source_content_fini(struct source_content *c)
{
    buf_fini(&c->bytes);
    hasher_fini(&c->hasher);
}

static bool same_bytes(const struct source_content *a, const struct source_content *b)
{
    return a->held && a->bytes.n == b->bytes.n && memcmp(a->bytes.p, b->bytes.p, b->bytes.n) == 0;
}

static enum err_code hold(const struct span *s, const struct source_content *like,
                          struct source_content *out, struct err *e)
{
    size_t n = (size_t)s->n;

    if (buf_reserve(&out->bytes, n + 1))
        return err_nomem(e);
    enum err_code rc = span_read(s, 0, out->bytes.p, n, e);

    if (!rc)
        rc = span_ended(s, e);
    if (rc)
        return rc;
    out->bytes.n = n;
    if (like && same_bytes(like, out)) {
        memcpy(out->sha256, like->sha256, SHA256_BYTES);
        return ERR_OK;
    }
    return hasher_bytes(&out->hasher, buf_slice(&out->bytes), out->sha256, e);
}

enum err_code source_content_read(const struct span *s, const struct source_content *like,
                                  struct source_content *out, struct err *e)
{
    out->bytes.n = 0;
    out->size = s->n;
    out->held = s->n <= SOURCE_CONTENT_HELD_MAX;
    return out->held ? hold(s, like, out, e)
                     : hasher_span(&out->hasher, s, -1, NULL, out->sha256, e);
}

bool source_content_same(const struct source_content *a, const struct source_content *b)
{
    return a->size == b->size && memcmp(a->sha256, b->sha256, SHA256_BYTES) == 0;
}

static enum err_code open_backup(const struct rewind_source *s, struct span *out, struct err *e)
{
    struct file f;
    struct err why = { 0 };
    enum err_code rc = file_open(AT_FDCWD, s->file, 0, &f, &why);

    if (rc == ERR_NOT_FOUND)
        return err_set(e, ERR_FORMAT, s->file, "the saved copy is missing");
    if (rc == ERR_UNSAFE)
        return err_set(e, ERR_FORMAT, s->file, "the saved copy is a link or no regular file");
    if (rc && err_is_exhausted(why.sys)) {
        errno = why.sys;
        return err_sys(e, s->file, "open the saved copy");
    }
    if (rc)
        return err_set(e, ERR_FORMAT, s->file, "the saved copy cannot be read");
    if (s->is_part && f.id.size - s->part_n < s->part_at) {
        file_close(&f);
        return err_set(e, ERR_FORMAT, s->file, "the saved copy is cut short");
    }
    *out = (struct span){ .path = s->file,
                          .fd = f.fd,
                          .at = s->is_part ? s->part_at : 0,
                          .n = s->is_part ? s->part_n : f.id.size,
                          .whole = !s->is_part && !s->grows };
    return ERR_OK;
}

enum err_code source_open(const struct rewind_source *s, struct span *out, struct err *e)
{
    if (s->file)
        return open_backup(s, out, e);
    if (s->blob)
        return blob_open(s->objects, s->blob, out, e);
    *out = span_of_bytes(s->bytes);
    return ERR_OK;
}

enum err_code source_check(const struct rewind_source *s, const uint8_t sha256[SHA256_BYTES],
                           struct err *e)
{
    char hex[SHA256_BYTES * 2 + 1];

    if (!s->sha256)
        return ERR_OK;
    hasher_hex(sha256, hex);
    return strcasecmp(hex, s->sha256) == 0
               ? ERR_OK
               : err_set(e, ERR_FORMAT, s->file, "the saved copy is not what its checksum says");
}

enum err_code source_read(const struct rewind_source *s, const struct source_content *like,
                          struct source_content *out, struct err *e)
{
    struct span span;
    enum err_code rc = source_open(s, &span, e);

    if (rc)
        return rc;
    rc = source_content_read(&span, like, out, e);
    span_close(&span);
    return rc ? rc : source_check(s, out->sha256, e);
}
