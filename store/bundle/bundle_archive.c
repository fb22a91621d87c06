#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zstd.h>

#include "lite/base/cleanup.h"
#include "lite/io/file.h"
#include "store/bundle/bundle_internal.h"

/* The tar archive (POSIX ustar, with the path of a pax header for a long name) and its compression. */

enum {
    TAR_BLOCK = 512,
    TAR_NAME = 100,
    PAX_MAX = 4096,
    ARCHIVE_LEVEL = 3,
    /* Versions of one file are far apart. */
    ARCHIVE_WINDOW_LOG = 24,
    ARCHIVE_WINDOW_LOG_MAX = 27, /* when reading: 128 MB */
    /* How much larger the files may be: versions of one file take next to nothing. */
    ARCHIVE_RATIO = 1000,
};
#define ARCHIVE_ALWAYS (INT64_C(1) << 30)
static const char pax_name[] = "././@PaxHeader";

struct tar_header {
    char name[TAR_NAME], mode[8], uid[8], gid[8], size[12], mtime[12], sum[8], type, link[100];
    char magic[6], version[2], owner[32], group[32], major[8], minor[8], prefix[155], rest[12];
};
_Static_assert(sizeof(struct tar_header) == TAR_BLOCK, "a header is one block");

/* The sum of a header's bytes, with blanks in place of the sum itself. */
static unsigned tar_sum(const struct tar_header *h)
{
    const unsigned char *p = (const unsigned char *)h;
    unsigned sum = 0;

    for (size_t i = 0; i < TAR_BLOCK; i++)
        sum += i >= offsetof(struct tar_header, sum) && i < offsetof(struct tar_header, type)
                   ? ' '
                   : p[i];
    return sum;
}

static size_t tar_padding(int64_t size)
{
    return (size_t)((TAR_BLOCK - size % TAR_BLOCK) % TAR_BLOCK);
}

/* ---- writing ---- */

struct archive_writer {
    const struct disk_new *file;
    ZSTD_CCtx *zstd;
    char *piece;
    size_t room;
    int64_t written;
};

void archive_writer_close(struct archive_writer *w)
{
    if (!w)
        return;
    ZSTD_freeCCtx(w->zstd);
    free(w->piece);
    free(w);
}

enum err_code archive_writer_open(const struct disk_new *file, struct archive_writer **out,
                                  struct err *e)
{
    CLEANUP(archive_writer_close_at) struct archive_writer *w = calloc(1, sizeof *w);

    NEED(w);
    w->file = file;
    w->room = ZSTD_CStreamOutSize();
    w->piece = malloc(w->room);
    w->zstd = ZSTD_createCCtx();
    NEED(w->piece && w->zstd);
    NEED(!ZSTD_isError(ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, ARCHIVE_LEVEL)) &&
         !ZSTD_isError(ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_windowLog, ARCHIVE_WINDOW_LOG)) &&
         !ZSTD_isError(ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_enableLongDistanceMatching, 1)) &&
         !ZSTD_isError(ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_checksumFlag, 1)));
    *out = w;
    w = NULL;
    return ERR_OK;
}

static enum err_code archive_compress(struct archive_writer *w, struct slice bytes,
                                      ZSTD_EndDirective how, struct err *e)
{
    ZSTD_inBuffer in = { bytes.p, bytes.n, 0 };
    size_t left;

    do {
        ZSTD_outBuffer to = { w->piece, w->room, 0 };

        left = ZSTD_compressStream2(w->zstd, &to, &in, how);
        if (ZSTD_isError(left))
            return err_nomem(e); /* the parameters are right, so nothing else fails */
        TRY(disk_write(w->file->fd, (struct slice){ w->piece, to.pos }, NULL, w->file->path, e));
        w->written += (int64_t)to.pos;
    } while (how == ZSTD_e_end ? left > 0 : in.pos < in.size);
    return ERR_OK;
}

enum err_code archive_add(struct archive_writer *w, struct slice bytes, struct err *e)
{
    return bytes.n ? archive_compress(w, bytes, ZSTD_e_continue, e) : ERR_OK;
}

enum err_code archive_pad(struct archive_writer *w, int64_t size, struct err *e)
{
    static const char zeros[TAR_BLOCK];

    return archive_add(w, (struct slice){ zeros, tar_padding(size) }, e);
}

static enum err_code archive_put_header(struct archive_writer *w, const char *name, char type,
                                        int64_t size, int64_t mtime_ns, struct err *e)
{
    struct tar_header h = { .mode = "0000600",
                            .uid = "0000000",
                            .gid = "0000000",
                            .type = type,
                            .magic = "ustar",
                            .version = { '0', '0' } };
    const int64_t seconds = mtime_ns > 0 ? mtime_ns / 1000000000 : 0;

    memcpy(h.name, name, strnlen(name, TAR_NAME));
    snprintf(h.size, sizeof h.size, "%011" PRIo64, (uint64_t)size & 077777777777);
    snprintf(h.mtime, sizeof h.mtime, "%011" PRIo64, (uint64_t)seconds & 077777777777);
    snprintf(h.sum, sizeof h.sum, "%06o", tar_sum(&h) & 0777777);
    h.sum[7] = ' ';
    return archive_add(w, (struct slice){ (const char *)&h, TAR_BLOCK }, e);
}

/* Adds "27 path=...\n", whose number is the length of all of it. */
static enum err_code archive_put_pax(const char *key, const char *value, struct buf *out)
{
    const size_t rest = strlen(key) + strlen(value) + 3;
    size_t digits = 1;

    for (size_t most = 10; rest + digits >= most; most *= 10)
        digits++;
    return buf_addf(out, "%zu %s=%s\n", rest + digits, key, value);
}

enum err_code archive_begin(struct archive_writer *w, const char *name, int64_t size,
                            int64_t mtime_ns, struct err *e)
{
    AUTO_BUF pax = { 0 };
    char number[32];

    if (strlen(name) > TAR_NAME)
        NEED(!archive_put_pax("path", name, &pax));
    if (size > 077777777777) {
        snprintf(number, sizeof number, "%" PRId64, size);
        NEED(!archive_put_pax("size", number, &pax));
    }
    if (pax.n) {
        TRY(archive_put_header(w, pax_name, 'x', (int64_t)pax.n, 0, e));
        TRY(archive_add(w, buf_slice(&pax), e));
        TRY(archive_pad(w, (int64_t)pax.n, e));
    }
    return archive_put_header(w, name, '0', size, mtime_ns, e);
}

enum err_code archive_end(struct archive_writer *w, int64_t *bytes, struct err *e)
{
    static const char zeros[2 * TAR_BLOCK];

    TRY(archive_compress(w, (struct slice){ zeros, sizeof zeros }, ZSTD_e_end, e));
    *bytes = w->written;
    return ERR_OK;
}

/* ---- reading ---- */

struct archive_reader {
    struct file file;
    char *path;
    ZSTD_DStream *zstd;
    char *in;
    ZSTD_inBuffer rest; /* what was read and is not yet unpacked */
    int64_t at;         /* in the file */
    int64_t left;       /* that may still be unpacked */
    bool ended;         /* between frames */
};

void archive_close(struct archive_reader *r)
{
    if (!r)
        return;
    file_close(&r->file);
    ZSTD_freeDStream(r->zstd);
    free(r->in);
    free(r->path);
    free(r);
}

DEFINE_CLEANUP(struct archive_reader, archive_close);

int64_t archive_limit(const struct archive_reader *r)
{
    const int64_t size = r->file.id.size;

    return size < (INT64_MAX - ARCHIVE_ALWAYS) / ARCHIVE_RATIO
               ? ARCHIVE_ALWAYS + size * ARCHIVE_RATIO
               : INT64_MAX;
}

enum err_code archive_open(const char *path, struct archive_reader **out, struct err *e)
{
    CLEANUP(archive_close_at) struct archive_reader *r = calloc(1, sizeof *r);

    NEED(r);
    r->file.fd = -1;
    TRY(file_open(AT_FDCWD, path, FILE_FOLLOW, &r->file, e));
    NEED(r->path = strdup(path));
    r->in = malloc(ZSTD_DStreamInSize());
    r->zstd = ZSTD_createDStream();
    NEED(r->in && r->zstd);
    NEED(!ZSTD_isError(
        ZSTD_DCtx_setParameter(r->zstd, ZSTD_d_windowLogMax, ARCHIVE_WINDOW_LOG_MAX)));
    r->rest = (ZSTD_inBuffer){ r->in, 0, 0 };
    r->left = archive_limit(r);
    *out = r;
    r = NULL;
    return ERR_OK;
}

/* Unpacks up to n bytes; *got < n only at the end of the file. */
static enum err_code archive_unpack(struct archive_reader *r, char *p, size_t n, size_t *got,
                                    struct err *e)
{
    ZSTD_outBuffer to = { p, n, 0 };

    while (to.pos < n) {
        if (r->rest.pos == r->rest.size) {
            size_t more;

            if (file_read(&r->file, r->at, r->in, ZSTD_DStreamInSize(), &more, e))
                return err_at(e, e->code, r->path);
            r->rest = (ZSTD_inBuffer){ r->in, more, 0 };
            r->at += (int64_t)more;
            if (!more && r->ended)
                break;
        }
        const size_t before = to.pos, taken = r->rest.pos;
        const size_t hint = ZSTD_decompressStream(r->zstd, &to, &r->rest);

        if (ZSTD_isError(hint))
            return err_set(e, ERR_FORMAT, r->path,
                           "read the bundle: it is damaged, or no bundle (%s)",
                           ZSTD_getErrorName(hint));
        r->ended = hint == 0;
        r->left -= (int64_t)(to.pos - before);

        /* A small archive must not unpack to more than a disk can hold. */
        if (r->left < 0)
            return err_set(e, ERR_UNSAFE, r->path,
                           "read the bundle: it unpacks to more than %d times its size",
                           ARCHIVE_RATIO);

        /* Without progress and without more input, the archive was cut off. */
        if (to.pos == before && r->rest.pos == taken && r->rest.size == 0)
            break;
    }
    *got = to.pos;
    return ERR_OK;
}

enum err_code archive_read(struct archive_reader *r, char *p, size_t n, struct err *e)
{
    size_t got;

    TRY(archive_unpack(r, p, n, &got, e));
    return got == n ? ERR_OK : err_set(e, ERR_FORMAT, r->path, "read the bundle: it is cut short");
}

static enum err_code archive_damaged(const struct archive_reader *r, const char *why, struct err *e)
{
    return err_set(e, ERR_FORMAT, r->path, "read the bundle: %s", why);
}

enum err_code archive_skip_pad(struct archive_reader *r, int64_t size, struct err *e)
{
    char pad[TAR_BLOCK];
    const size_t n = tar_padding(size);

    TRY(archive_read(r, pad, n, e));
    for (size_t i = 0; i < n; i++)
        if (pad[i])
            return archive_damaged(r, "there are bytes between two files", e);
    return ERR_OK;
}

/* Digits up to a NUL or a blank. */
static bool tar_octal(const char *p, size_t n, int64_t *out)
{
    size_t i = 0;

    *out = 0;
    for (; i < n && p[i] >= '0' && p[i] <= '7'; i++)
        *out = *out * 8 + (p[i] - '0');
    return i > 0 && (i == n || p[i] == '\0' || p[i] == ' ');
}

static enum err_code archive_header(struct archive_reader *r, struct tar_header *h, int64_t *size,
                                    struct err *e)
{
    int64_t sum;

    TRY(archive_read(r, (char *)h, TAR_BLOCK, e));
    if (memcmp(h->magic, "ustar", 5) != 0 || !tar_octal(h->sum, sizeof h->sum, &sum) ||
        sum != tar_sum(h) || !tar_octal(h->size, sizeof h->size, size))
        return archive_damaged(r, "it contains something other than files", e);
    if (h->type != '0' && h->type != 'x')
        return err_set(e, ERR_UNSAFE, r->path,
                       "read the bundle: it contains a link, a directory or a device");
    return ERR_OK;
}

/* The path and the size of a pax header; any other member is refused. */
static enum err_code archive_pax(struct archive_reader *r, int64_t n, char name[PAX_MAX],
                                 int64_t *size, struct err *e)
{
    char text[PAX_MAX + 1];
    char *p = text, *end, *next;

    if (n > PAX_MAX)
        return archive_damaged(r, "the name of a file is too long", e);
    TRY(archive_read(r, text, (size_t)n, e));
    TRY(archive_skip_pad(r, n, e));
    text[n] = '\0';
    for (end = text + n; p < end; p = next) {
        char *key;
        const unsigned long length = strtoul(p, &key, 10);

        if (length < 5 || length > (size_t)(end - p) || *key != ' ' || p[length - 1] != '\n')
            return archive_damaged(r, "the name of a file is damaged", e);
        next = p + length;
        next[-1] = '\0';
        key++;

        /* A NUL byte would cut the name, so such a header is damaged. */
        if (strncmp(key, "path=", 5) == 0 && strlen(key) == (size_t)(next - 1 - key))
            snprintf(name, PAX_MAX, "%s", key + 5);
        else if (strncmp(key, "size=", 5) == 0 && key[5] >= '0' && key[5] <= '9')
            *size = strtoll(key + 5, NULL, 10);
        else
            return archive_damaged(r, "the name of a file is damaged", e);
    }
    return ERR_OK;
}

enum err_code archive_next(struct archive_reader *r, const char *name, int64_t most, int64_t *size,
                           struct err *e)
{
    struct tar_header h;
    char found[PAX_MAX] = "";
    int64_t n, long_size = -1;

    TRY(archive_header(r, &h, &n, e));
    if (h.type == 'x') {
        TRY(archive_pax(r, n, found, &long_size, e));
        TRY(archive_header(r, &h, &n, e));
        if (h.type != '0')
            return archive_damaged(r, "the name of a file is damaged", e);
    }
    if (!found[0])
        snprintf(found, sizeof found, "%.*s", (int)strnlen(h.name, TAR_NAME), h.name);
    *size = long_size >= 0 ? long_size : n;
    if (strcmp(found, name) != 0)
        return archive_damaged(r, "its files are not those that its manifest names", e);
    if (*size > most)
        return archive_damaged(r, "a file is larger than its manifest says", e);
    return ERR_OK;
}

enum err_code archive_finish(struct archive_reader *r, struct err *e)
{
    char zeros[2 * TAR_BLOCK], more;
    size_t got;

    TRY(archive_read(r, zeros, sizeof zeros, e));
    for (size_t i = 0; i < sizeof zeros; i++)
        if (zeros[i])
            return archive_damaged(r, "it has files that its manifest does not name", e);
    TRY(archive_unpack(r, &more, 1, &got, e));
    if (got)
        return archive_damaged(r, "there are bytes behind its end", e);
    return r->ended ? ERR_OK : archive_damaged(r, "it is cut short", e);
}
