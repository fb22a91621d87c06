#include "lite/scan/index_pass.h"

#include <stdlib.h>
#include <string.h>

#include "lite/json/json.h"
#include "lite/scan/index_line.h"

/* A pass reads into one buffer: whole lines are taken from its front, the begin of the next one moves
 * there and is read on. */
struct work {
    const struct index_pass *pass;
    struct index_reader reader;
    char *bytes; /* owned */
    size_t have, cap;
    int64_t offset; /* of bytes[0] in the file */
    int64_t from;   /* where the pass began, and how many lines there were */
    size_t lines;
};

static bool is_cancelled(const struct work *w)
{
    return w->pass->stop && atomic_load_explicit(w->pass->stop, memory_order_relaxed);
}

static enum err_code check_count(size_t n, int64_t bytes, size_t free_lines, struct err *e)
{
    return n <= free_lines + (uint64_t)bytes / INDEX_LINE_BYTES
               ? ERR_OK
               : err_set(e, ERR_UNSUPPORTED, "",
                         "index lines: nearly all of more than %zu lines are empty or a few bytes "
                         "long, so this is no transcript",
                         n - 1);
}

enum err_code index_check_count(size_t lines, int64_t bytes, struct err *e)
{
    return check_count(lines, bytes, INDEX_LINES_FREE, e);
}

/* Takes the lines that end in the buffer; `seen` bytes of it are known to hold no newline. */
static enum err_code index_whole_lines(struct work *w, size_t seen, struct err *e)
{
    struct index *ix = w->pass->ix;
    size_t from = 0;
    const char *nl;

    while ((nl = memchr(w->bytes + seen, '\n', w->have - seen))) {
        size_t end = (size_t)(nl - w->bytes);
        struct index_line line = index_line_of(
            &w->reader, (struct slice){ w->bytes + from, end - from }, w->offset + (int64_t)from);

        if (index_add(ix, &line))
            return err_nomem(e);
        ix->end = w->offset + (int64_t)end + 1;
        from = seen = end + 1;
    }
    memmove(w->bytes, w->bytes + from, w->have - from);
    w->have -= from;
    w->offset += (int64_t)from;
    return check_count(ix->n - w->lines, w->offset - w->from,
                       w->pass->flags & INDEX_PART ? INDEX_LINES_FREE / 4 : INDEX_LINES_FREE, e);
}

static enum err_code grow_read_buffer(struct work *w, struct err *e)
{
    size_t cap = w->cap < w->pass->hold_bytes / 2 ? w->cap * 2 : w->pass->hold_bytes;
    char *bytes = realloc(w->bytes, cap);

    if (!bytes)
        return err_nomem(e);
    w->bytes = bytes;
    w->cap = cap;
    return ERR_OK;
}

/* Reads behind what is there; *got is 0 at the end of the file, which is where it ended when opened or
 * where it ends now, whatever comes first. */
static enum err_code read_on(struct work *w, size_t *got, struct err *e)
{
    int64_t left = w->pass->file->id.size - w->offset - (int64_t)w->have;
    size_t room = w->cap - w->have;

    *got = 0;
    if (left <= 0)
        return ERR_OK;
    if ((uint64_t)left < room)
        room = (size_t)left;
    return file_read(w->pass->file, w->offset + (int64_t)w->have, w->bytes + w->have, room, got, e);
}

/* A line longer than the buffer: it passes through it piece by piece. */
struct long_line {
    struct key_scan scan;
    struct key_scan_source source;
    int64_t offset;
    uint64_t length; /* of the pieces seen */
    bool begun;      /* something that is no blank was seen */
    bool ended;      /* a newline was */
    char room[KEY_SCAN_SPARE];
};

static void long_feed(struct long_line *l, const struct index_reader *r, struct slice piece)
{
    const char *nl = memchr(piece.p, '\n', piece.n);
    struct slice part = { piece.p, nl ? (size_t)(nl - piece.p) : piece.n };
    uint64_t at = l->length;

    l->source.held = part;
    l->source.held_at = at;
    l->length += part.n;
    l->ended = nl != NULL;
    for (; !l->begun && part.n; part.p++, part.n--, at++) {
        l->begun = (unsigned char)*part.p > ' ';
        l->scan.broken = l->begun && *part.p != '{';
    }
    if (!l->scan.broken)
        r->feed(&l->scan, at, part);
}

/* Holds the line after all, where there is memory for it. */
static bool long_valid(const struct work *w, const struct long_line *l)
{
    size_t n = (size_t)l->length, got = 0, skip = 0;
    char *p = malloc(n);
    bool valid = true;

    if (!p)
        return valid;
    if (!file_read(w->pass->file, l->offset, p, n, &got, NULL) && got == n) {
        while (skip < n && (unsigned char)p[skip] <= ' ')
            skip++;
        valid = json_valid((struct slice){ p + skip, n - skip });
    }
    free(p);
    return valid;
}

static enum err_code long_add(struct work *w, struct long_line *l, struct err *e)
{
    struct index *ix = w->pass->ix;
    struct key_scan *s = &l->scan;

    if (w->reader.exact && s->ended && !s->broken && l->length <= INDEX_LINE_MAX)
        s->broken = !long_valid(w, l);
    struct index_line line = index_line_found(&w->reader, s, l->offset, l->length);

    if (!l->begun)
        line.state = LINE_BLANK;
    if (index_add(ix, &line))
        return err_nomem(e);
    ix->torn_tail = !l->ended;
    if (l->ended)
        ix->end = l->offset + (int64_t)l->length + 1;
    return ERR_OK;
}

/* The buffer is full and holds no newline. */
static enum err_code index_long_line(struct work *w, struct err *e)
{
    struct long_line *l = calloc(1, sizeof *l);
    enum err_code rc = ERR_OK;

    if (!l)
        return err_nomem(e);
    l->source =
        (struct key_scan_source){ .file = w->pass->file, .offset = w->offset, .room = l->room };
    l->offset = w->offset;
    key_scan_begin(&l->scan, &w->reader.names, &l->source);
    while (!rc && w->have) {
        size_t got;

        long_feed(l, &w->reader, (struct slice){ w->bytes, w->have });
        w->offset = l->offset + (int64_t)l->length + l->ended;
        w->have = 0;
        if (l->ended)
            break;
        if (is_cancelled(w))
            rc = ERR_CANCELLED;
        else
            rc = read_on(w, &got, e);
        w->have = rc ? 0 : got;
    }
    if (!rc)
        rc = long_add(w, l, e);
    free(l);
    return rc;
}

static enum err_code index_torn_tail(struct work *w, struct err *e)
{
    if (!w->have)
        return ERR_OK;
    struct index_line line =
        index_line_of(&w->reader, (struct slice){ w->bytes, w->have }, w->offset);

    if (index_add(w->pass->ix, &line))
        return err_nomem(e);
    w->pass->ix->torn_tail = true;
    return ERR_OK;
}

static enum err_code index_rest(struct work *w, struct err *e)
{
    for (;;) {
        size_t seen = w->have, got;
        enum err_code rc = is_cancelled(w) ? ERR_CANCELLED : read_on(w, &got, e);

        if (!rc && got == 0)
            return index_torn_tail(w, e);
        if (!rc) {
            w->have += got;
            rc = index_whole_lines(w, seen, e);
        }
        if (!rc && w->have == w->cap)
            rc = w->cap < w->pass->hold_bytes ? grow_read_buffer(w, e) : index_long_line(w, e);
        if (rc)
            return rc;
    }
}

enum err_code index_pass_run(const struct index_pass *pass, struct err *e)
{
    struct work w = { .pass = pass, .offset = pass->ix->end, .cap = pass->read_bytes };
    enum err_code rc;

    if (pass->ix->end > pass->file->id.size)
        return err_set(e, ERR_STALE, "", "index lines: the file is shorter than it was");
    index_remove_torn(pass->ix);
    w.from = w.offset;
    w.lines = pass->ix->n;
    index_reader_init(&w.reader, pass->keys, pass->flags);
    w.bytes = malloc(w.cap);
    rc = w.bytes ? index_rest(&w, e) : err_nomem(e);
    free(w.bytes);
    index_trim(pass->ix);
    return rc == ERR_CANCELLED ? err_set(e, rc, "", "index lines: cancelled") : rc;
}

enum err_code index_build(struct index *ix, const struct file *f, const struct index_keys *keys,
                          unsigned flags, const atomic_bool *stop, struct err *e)
{
    struct index_pass pass = { ix, f, keys, flags, stop, INDEX_READ_BYTES, INDEX_HOLD_BYTES };

    return index_pass_run(&pass, e);
}

enum err_code index_bytes(struct index *ix, struct slice bytes, int64_t offset,
                          const struct index_keys *keys, unsigned flags, struct err *e)
{
    struct index_reader r;
    struct slice rest = bytes, text;
    bool torn;

    index_remove_torn(ix);
    index_reader_init(&r, keys, flags);
    size_t lines = ix->n;

    while (slice_line(&rest, &text, &torn)) {
        struct index_line line = index_line_of(&r, text, offset + (text.p - bytes.p));

        if (index_add(ix, &line))
            return err_nomem(e);
        ix->torn_tail = torn;
        if (!torn)
            ix->end = offset + (rest.p - bytes.p);
        enum err_code rc = index_check_count(ix->n - lines, rest.p - bytes.p, e);

        if (rc)
            return rc;
    }
    index_trim(ix);
    return ERR_OK;
}

void index_fini(struct index *ix)
{
    free(ix->line);
    *ix = (struct index){ 0 };
}
