#include "lite/scan/index.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/arena.h"
#include "lite/base/time.h"
#include "lite/base/utf8.h"
#include "lite/json/json.h"
#include "lite/scan/index_internal.h"

/* ---- one line ---- */

/* The indexes of the names in struct key_scan; the marks follow. */
enum { NAME_TYPE, NAME_ID, NAME_PARENT, NAME_TIME, NAME_INNER, NAME_MARKS };

/* The usual lengths of ids and times, which are tried first. */
enum { UUID_LENGTH = 36, ISO_LENGTH = sizeof "2026-03-01T10:00:02.000Z" - 1 };

static const struct index_line nothing = { .time_ms = TIME_NONE, .state = LINE_BROKEN };

/* No key can consist of these bytes, so the indexes of the names stay fixed. */
static const char *or_none(const char *name)
{
    return name ? name : "\n";
}

void index_reader_init(struct index_reader *r, const struct index_keys *keys, unsigned flags)
{
    *r = (struct index_reader){ .keys = keys,
                                .feed = key_scan_best(),
                                .exact = flags & INDEX_VALIDATE ? key_validate_best() : NULL };
    key_scan_names_add(&r->names, or_none(keys->type));
    key_scan_names_add(&r->names, or_none(keys->id));
    key_scan_names_add(&r->names, or_none(keys->parent));
    key_scan_names_add(&r->names, or_none(keys->time));
    key_scan_names_add(&r->names, or_none(keys->inner));
    for (size_t i = 0; keys->marks && keys->marks[i]; i++)
        key_scan_names_add(&r->names, keys->marks[i]);
    for (size_t i = 0; keys->kinds && keys->kinds[i]; i++) {
        size_t n = strlen(keys->kinds[i]);

        bool fits = i < sizeof r->kind_length && n <= UINT8_MAX;

        assert(fits);
        if (!fits)
            break;
        r->kind_length[i] = (uint8_t)n;
    }
}

/* The first bytes of the value, as many as a text may have; empty if the key is missing. */
static struct slice index_value_of(const struct key_scan *s, unsigned name)
{
    if (!(s->found >> name & 1))
        return (struct slice){ NULL, 0 };
    uint64_t at = key_scan_source_skip_blanks(s->source, s->value[name]);

    return key_scan_source_at(s->source, at, INDEX_TEXT_MAX + 2);
}

/* A string value with its quotes; empty if it is not a string, or too long. */
static struct slice quoted(struct slice v)
{
    if (v.n < 2 || v.p[0] != '"')
        return (struct slice){ NULL, 0 };
    for (const char *p = v.p + 1, *end = v.p + v.n; p < end; p++) {
        p = memchr(p, '"', (size_t)(end - p));
        if (!p)
            break;
        const char *run = p;

        while (run[-1] == '\\')
            run--;
        if ((p - run) % 2 == 0)
            return (struct slice){ v.p, (size_t)(p - v.p) + 1 };
    }
    return (struct slice){ NULL, 0 };
}

/* Returns true if the quotes are where a string of n bytes would have them. A quote may come
 * earlier too: the caller checks the bytes between. */
static bool index_is_quoted(struct slice v, size_t n)
{
    return v.n >= n + 2 && v.p[0] == '"' && v.p[n + 1] == '"';
}

static struct id128 index_read_id(const struct key_scan *s, unsigned name)
{
    struct slice v = index_value_of(s, name), text;
    struct arena a = { 0 };
    struct id128 id = { 0, 0 };

    if (index_is_quoted(v, UUID_LENGTH) && id128_uuid(v.p + 1, &id))
        return id;
    v = quoted(v);
    if (!v.n)
        return id;
    text = (struct slice){ v.p + 1, v.n - 2 };
    if (!memchr(text.p, '\\', text.n) && utf8_valid(text))
        return id128_of(text);
    if (json_text(v, &a, &text))
        id = id128_of(text);
    arena_fini(&a);
    return id;
}

/* The bytes after {"type": at the beginning of the inner member. */
static struct slice inner_type(const struct index_reader *r, const struct key_scan *s)
{
    struct slice v = index_value_of(s, NAME_INNER);
    size_t n = strlen(r->keys->type);

    if (v.n < n + 4 || v.p[0] != '{' || v.p[1] != '"' || memcmp(v.p + 2, r->keys->type, n) != 0 ||
        v.p[n + 2] != '"' || v.p[n + 3] != ':')
        return (struct slice){ NULL, 0 };
    return (struct slice){ v.p + n + 4, v.n - n - 4 };
}

static uint8_t read_kind(const struct index_reader *r, const struct key_scan *s)
{
    bool inside = s->found >> NAME_INNER & 1;
    struct slice v = inside ? inner_type(r, s) : index_value_of(s, NAME_TYPE);
    const char *const *kinds = r->keys->kinds;

    if (!v.n || !kinds)
        return 0;
    for (unsigned i = 0; kinds[i]; i++)
        if (index_is_quoted(v, r->kind_length[i]) &&
            memcmp(v.p + 1, kinds[i], r->kind_length[i]) == 0)
            return (uint8_t)(i + 1);
    v = quoted(v);
    if (!v.n || !memchr(v.p, '\\', v.n))
        return 0;
    for (unsigned i = 0; kinds[i]; i++)
        if (json_string_is(v, kinds[i]))
            return (uint8_t)(i + 1);
    return 0;
}

static int64_t index_read_time(const struct key_scan *s)
{
    struct slice v = index_value_of(s, NAME_TIME);
    int64_t ms;

    if (index_is_quoted(v, ISO_LENGTH) && time_parse((struct slice){ v.p + 1, ISO_LENGTH }, &ms))
        return ms;
    v = quoted(v);
    return v.n && time_parse((struct slice){ v.p + 1, v.n - 2 }, &ms) ? ms : TIME_NONE;
}

/* As JavaScript's Boolean(), by the first two bytes of the value: null, false, "" and 0 are not. */
static bool index_counts(struct slice v)
{
    if (v.n == 0 || *v.p == 'n' || *v.p == 'f')
        return false;
    if (*v.p == '"')
        return v.n < 2 || v.p[1] != '"';
    return *v.p != '0' || (v.n > 1 && (v.p[1] == '.' || v.p[1] == 'e' || v.p[1] == 'E'));
}

struct index_line index_line_found(const struct index_reader *r, const struct key_scan *s,
                                   int64_t offset, uint64_t length)
{
    struct index_line line = nothing;

    line.offset = offset;
    line.length = length <= INDEX_LINE_MAX ? (uint32_t)length : UINT32_MAX;
    if (!s->ended || s->broken || length > INDEX_LINE_MAX)
        return line;
    line.state = LINE_OK;
    line.kind = read_kind(r, s);
    line.id = index_read_id(s, NAME_ID);
    line.parent = index_read_id(s, NAME_PARENT);
    line.time_ms = index_read_time(s);

    /* A mark is set if JavaScript takes the value for true. */
    uint16_t marks = 0;

    for (uint32_t left = s->found >> NAME_MARKS; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctz(left);
        uint64_t at = key_scan_source_skip_blanks(s->source, s->value[NAME_MARKS + i]);

        if (index_counts(key_scan_source_at(s->source, at, 2)))
            marks |= (uint16_t)(1u << i);
    }
    line.marks = marks;

    return line;
}

/* The entry of a line in memory. */
static struct index_line index_line_of(const struct index_reader *r, struct slice text,
                                       int64_t offset)
{
    struct key_scan_source source = { .held = text };
    struct index_line line = nothing;
    struct key_scan s;
    size_t i = 0;

    while (i < text.n && (unsigned char)text.p[i] <= ' ')
        i++;
    line.offset = offset;
    line.length = text.n <= INDEX_LINE_MAX ? (uint32_t)text.n : UINT32_MAX;
    if (i == text.n)
        line.state = LINE_BLANK;
    if (i == text.n || text.p[i] != '{')
        return line;
    key_scan_begin(&s, &r->names, &source);
    if (r->exact)
        r->exact(&s, i, (struct slice){ text.p + i, text.n - i });
    else
        r->feed(&s, i + 1, (struct slice){ text.p + i + 1, text.n - i - 1 });
    return index_line_found(r, &s, offset, text.n);
}

/* Releases most of the unused capacity, because most files do not grow any more. */
static void trim_lines(struct index *ix)
{
    size_t cap = ix->n + ix->n / 16;
    struct index_line *line = cap && cap < ix->cap ? realloc(ix->line, cap * sizeof *line) : NULL;

    if (!line)
        return;
    ix->line = line;
    ix->cap = cap;
}

static enum err_code index_add_line(struct index *ix, const struct index_line *line)
{
    /* It grows by a quarter: large blocks are remapped, so this moves pages and not bytes. */
    if (ix->n == ix->cap) {
        size_t cap = ix->cap < 64 ? 64 : ix->cap + ix->cap / 4;
        struct index_line *grown = realloc(ix->line, cap * sizeof *grown);

        if (!grown)
            return ERR_NOMEM;
        ix->line = grown;
        ix->cap = cap;
    }
    ix->broken += line->state == LINE_BROKEN;
    ix->line[ix->n++] = *line;
    return ERR_OK;
}

/* Removes a torn last line, which is about to be read again. */
static void remove_torn(struct index *ix)
{
    if (ix->torn_tail)
        ix->broken -= ix->line[--ix->n].state == LINE_BROKEN;
    ix->torn_tail = false;
}

/* ---- a pass over a file ---- */

/* A pass reads into one buffer: whole lines are taken from its front, and the beginning of the next line moves
 * there. */
struct work {
    const struct index_pass *pass;
    struct index_reader reader;
    char *bytes; /* owned */
    size_t have, cap;
    int64_t offset; /* the offset of bytes[0] in the file */
    int64_t from;   /* where the pass began, and how many lines there were */
    size_t lines;
};

static bool index_is_cancelled(const struct work *w)
{
    return w->pass->stop && atomic_load_explicit(w->pass->stop, memory_order_relaxed);
}

static enum err_code check_count(size_t n, int64_t bytes, size_t free_lines, struct err *e)
{
    return n <= free_lines + (uint64_t)bytes / INDEX_LINE_BYTES
               ? ERR_OK
               : err_set(e, ERR_UNSUPPORTED, "",
                         "index lines: not a transcript: more than %zu lines, nearly all of them "
                         "empty or a few bytes long",
                         n - 1);
}

enum err_code index_check_count(size_t lines, int64_t bytes, struct err *e)
{
    return check_count(lines, bytes, INDEX_LINES_FREE, e);
}

/* Indexes the lines that end in the buffer, whose first `seen` bytes are known to contain no newline. */
static enum err_code index_whole_lines(struct work *w, size_t seen, struct err *e)
{
    struct index *ix = w->pass->ix;
    size_t from = 0;
    const char *nl;

    while ((nl = memchr(w->bytes + seen, '\n', w->have - seen))) {
        size_t end = (size_t)(nl - w->bytes);
        struct index_line line = index_line_of(
            &w->reader, (struct slice){ w->bytes + from, end - from }, w->offset + (int64_t)from);

        if (index_add_line(ix, &line))
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

/* Reads the next bytes into the buffer. *got is 0 at the end of the file as it was when opened, or as it is now,
 * whichever comes first. */
static enum err_code index_read_on(struct work *w, size_t *got, struct err *e)
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

/* A line longer than the buffer, which passes through it piece by piece. */
struct long_line {
    struct key_scan scan;
    struct key_scan_source source;
    int64_t offset;
    uint64_t length; /* the total length of the pieces seen */
    bool begun;      /* a byte that is not a blank was found */
    bool ended;      /* its newline was found */
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

/* Reads the whole line into memory, if there is enough, to validate it. */
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
    if (index_add_line(ix, &line))
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

    /* The line is scanned as its bytes are read, and is never in memory as a whole. */
    while (!rc && w->have) {
        size_t got;

        long_feed(l, &w->reader, (struct slice){ w->bytes, w->have });
        w->offset = l->offset + (int64_t)l->length + l->ended;
        w->have = 0;
        if (l->ended)
            break;
        if (index_is_cancelled(w))
            rc = ERR_CANCELLED;
        else
            rc = index_read_on(w, &got, e);
        w->have = rc ? 0 : got;
    }
    if (!rc)
        rc = long_add(w, l, e);
    free(l);
    return rc;
}

static enum err_code index_rest(struct work *w, struct err *e)
{
    for (;;) {
        size_t seen = w->have, got;
        enum err_code rc = index_is_cancelled(w) ? ERR_CANCELLED : index_read_on(w, &got, e);

        if (!rc && got == 0) {
            if (!w->have)
                return ERR_OK;
            struct index_line line =
                index_line_of(&w->reader, (struct slice){ w->bytes, w->have }, w->offset);

            if (index_add_line(w->pass->ix, &line))
                return err_nomem(e);
            w->pass->ix->torn_tail = true;
            return ERR_OK;
        }
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
    remove_torn(pass->ix);
    w.from = w.offset;
    w.lines = pass->ix->n;
    index_reader_init(&w.reader, pass->keys, pass->flags);
    w.bytes = malloc(w.cap);
    rc = w.bytes ? index_rest(&w, e) : err_nomem(e);
    free(w.bytes);
    trim_lines(pass->ix);
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

    remove_torn(ix);
    index_reader_init(&r, keys, flags);
    size_t lines = ix->n;

    while (slice_line(&rest, &text, &torn)) {
        struct index_line line = index_line_of(&r, text, offset + (text.p - bytes.p));

        if (index_add_line(ix, &line))
            return err_nomem(e);
        ix->torn_tail = torn;
        if (!torn)
            ix->end = offset + (rest.p - bytes.p);
        enum err_code rc = index_check_count(ix->n - lines, rest.p - bytes.p, e);

        if (rc)
            return rc;
    }
    trim_lines(ix);
    return ERR_OK;
}

void index_fini(struct index *ix)
{
    free(ix->line);
    *ix = (struct index){ 0 };
}
