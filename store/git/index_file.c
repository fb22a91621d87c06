#include "store/git/index_file.h"

#include <fcntl.h>
#include <string.h>

#include "lite/base/cleanup.h"
#include "lite/base/digest.h"
#include "lite/io/file.h"

enum {
    INDEX_MOST = 1 << 30,
    HEADER = 12, /* "DIRC", the version, the number of entries */
    FIXED = 62,  /* an entry before its name: its state, the id, 16 flags */
    OID_AT = 40,
    FLAGS_AT = 60,
    EXTENDED = 0x4000, /* there are 16 more flags */
    STAGES = 0x3000,
    EXTENSION = 8, /* a name and a length */
};

static uint32_t index_u32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* How many bytes of the name before go, as version 4 writes it. Returns false if it does not end in the file. */
static bool read_varint(const uint8_t **p, const uint8_t *end, size_t *out)
{
    size_t value = 0;

    for (int i = 0; *p < end && i < 5; i++) {
        const uint8_t byte = *(*p)++;

        value = value << 7 | (byte & 0x7f);
        if (!(byte & 0x80)) {
            *out = value;
            return true;
        }
        value++;
    }
    return false;
}

/* Reads the entry at *p and moves *p behind it. before: the name of the last one. */
static enum err_code read_entry(struct index_file *x, uint32_t version, const uint8_t **p,
                                const uint8_t *end, struct slice *before, struct err *e)
{
    const uint8_t *data = *p, *name = data + FIXED;

    if (end - data < FIXED + 2)
        return err_set(e, ERR_FORMAT, NULL, "read git's index: it is cut off");
    const unsigned flags = (unsigned)data[FLAGS_AT] << 8 | data[FLAGS_AT + 1];

    if (version > 2 && flags & EXTENDED)
        name += 2;
    size_t gone = before->n;

    if (version == 4 && (!read_varint(&name, end, &gone) || gone > before->n))
        return err_set(e, ERR_FORMAT, NULL, "read git's index: a name is damaged");
    const uint8_t *nul = memchr(name, '\0', (size_t)(end - name));

    if (!nul)
        return err_set(e, ERR_FORMAT, NULL, "read git's index: a name is cut off");
    struct slice path = { (const char *)name, (size_t)(nul - name) };

    if (version == 4) {
        char *whole = arena_alloc(&x->arena, before->n - gone + path.n + 1);

        NEED(whole);
        if (before->n > gone)
            memcpy(whole, before->p, before->n - gone);
        memcpy(whole + before->n - gone, name, path.n + 1);
        path = (struct slice){ whole, before->n - gone + path.n };
        *p = nul + 1;
    } else {
        /* NULs pad an entry to a multiple of eight. */
        const size_t length = ((size_t)(nul - data) + 8) & ~(size_t)7;

        if (length > (size_t)(end - data))
            return err_set(e, ERR_FORMAT, NULL, "read git's index: it is cut off");
        *p = data + length;
    }

    /* The search depends on the order. Only stages of one conflict share their name. */
    const int order = slice_compare(*before, path);

    if (before->p && (order > 0 || (order == 0 && !(flags & STAGES))))
        return err_set(e, ERR_FORMAT, NULL, "read git's index: it is not sorted");
    *before = path;
    if (!(flags & STAGES))
        x->name[x->n++] = (struct index_name){ path.p, data };
    return ERR_OK;
}

/* An extension whose name begins with a small letter must be understood by every reader. */
static enum err_code check_extensions(const uint8_t *p, const uint8_t *end, struct err *e)
{
    for (uint32_t n; end - p >= EXTENSION; p += EXTENSION + n) {
        n = index_u32(p + 4);
        if (p[0] < 'A' || p[0] > 'Z')
            return err_set(e, ERR_UNSUPPORTED, NULL, "read git's index: it has an extension");
        if (n > (size_t)(end - p) - EXTENSION)
            break;
    }
    return end == p ? ERR_OK
                    : err_set(e, ERR_FORMAT, NULL, "read git's index: an extension is cut off");
}

enum err_code index_file_read(const char *path, struct index_file *out, struct err *e)
{
    CLEANUP(index_file_fini) struct index_file x = { .n = 0 };
    static const uint8_t skipped[SHA1_BYTES];
    uint8_t sum[SHA1_BYTES];
    struct slice before = { NULL, 0 };

    TRY(file_read_all(AT_FDCWD, path, 0, INDEX_MOST, &x.bytes, e));
    if (x.bytes.n < HEADER + SHA1_BYTES || memcmp(x.bytes.p, "DIRC", 4) != 0)
        return err_set(e, ERR_FORMAT, path, "read git's index: it is none");
    const uint8_t *p = (const uint8_t *)x.bytes.p, *end = p + x.bytes.n - SHA1_BYTES;
    const uint32_t version = index_u32(p + 4), n = index_u32(p + 8);

    if (version < 2 || version > 4)
        return err_set(e, ERR_UNSUPPORTED, path, "read git's index: its version");
    if (!digest_of(DIGEST_SHA1, (struct slice){ x.bytes.p, x.bytes.n - SHA1_BYTES }, sum))
        return digest_error(e);
    if ((memcmp(sum, end, SHA1_BYTES) != 0 && memcmp(skipped, end, SHA1_BYTES) != 0) ||
        n > x.bytes.n / FIXED)
        return err_set(e, ERR_FORMAT, path, "read git's index: its checksum is wrong");
    NEED(x.name = arena_alloc(&x.arena, (n + 1) * sizeof *x.name));
    p += HEADER;
    for (uint32_t i = 0; i < n; i++)
        TRY(read_entry(&x, version, &p, end, &before, e));
    TRY(check_extensions(p, end, e));
    HAND_OVER(out, x);
    return ERR_OK;
}

/* The first name in a range that is not less than the text. */
static uint32_t lower_bound(const struct index_file *x, uint32_t from, uint32_t to,
                            const char *text)
{
    while (from < to) {
        const uint32_t middle = from + (to - from) / 2;

        if (strcmp(x->name[middle].path, text) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* Finds the names below a directory, which ends with a slash or is empty. */
static void find_below(struct index_file *x, struct slice dir, uint32_t *from, uint32_t *to)
{
    if (dir.n && slice_eq(buf_slice(&x->dir), dir)) {
        *from = x->from;
        *to = x->to;
        return;
    }
    *from = 0;
    *to = x->n;
    x->dir.n = 0;
    if (!dir.n || buf_add(&x->dir, dir) || !buf_cstr(&x->dir)) {
        x->dir.n = 0;
        return;
    }
    x->from = lower_bound(x, 0, x->n, x->dir.p);

    /* The byte after a slash begins what follows the directory. */
    x->dir.p[dir.n - 1]++;
    x->to = lower_bound(x, x->from, x->n, x->dir.p);
    x->dir.p[dir.n - 1]--;
    *from = x->from;
    *to = x->to;
}

bool index_file_find(struct index_file *x, const char *path, struct index_entry *out)
{
    const char *slash = strrchr(path, '/');
    uint32_t from, to;

    find_below(x, (struct slice){ path, slash ? (size_t)(slash - path) + 1 : 0 }, &from, &to);
    const uint32_t at = lower_bound(x, from, to, path);

    if (at == to || strcmp(x->name[at].path, path) != 0)
        return false;
    const uint8_t *d = x->name[at].data;

    *out = (struct index_entry){ .ctime_s = index_u32(d),
                                 .ctime_ns = index_u32(d + 4),
                                 .mtime_s = index_u32(d + 8),
                                 .mtime_ns = index_u32(d + 12),
                                 .ino = index_u32(d + 20),
                                 .mode = index_u32(d + 24),
                                 .size = index_u32(d + 36),
                                 .oid = d + OID_AT };
    return true;
}

bool index_file_has_below(struct index_file *x, const char *dir)
{
    AUTO_BUF prefix = { 0 };
    uint32_t from, to;

    if (buf_add(&prefix, slice_of(dir)) || buf_add_byte(&prefix, '/'))
        return true; /* out of memory: the walk fails soon */
    find_below(x, buf_slice(&prefix), &from, &to);
    return x->dir.n ? from < to : true;
}

void index_file_fini(struct index_file *x)
{
    buf_fini(&x->bytes);
    buf_fini(&x->dir);
    arena_fini(&x->arena);
    *x = (struct index_file){ .n = 0 };
}
