#include "lite/scan/index_line.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/arena.h"
#include "lite/base/time.h"
#include "lite/base/utf8.h"
#include "lite/json/json.h"

/* The places of the names in struct key_scan; the marks follow. */
enum { NAME_TYPE, NAME_ID, NAME_PARENT, NAME_TIME, NAME_INNER, NAME_MARKS };

/* What ids and times look like as a rule: tried first. */
enum { UUID_LENGTH = 36, ISO_LENGTH = sizeof "2026-03-01T10:00:02.000Z" - 1 };

static const struct index_line nothing = { .time_ms = TIME_NONE, .state = LINE_BROKEN };

/* No key can be written so that its bytes are these: keeps the places of the names fixed. */
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

/* The value's first bytes, as many as a text may have; empty when the key is not there. */
static struct slice value_of(const struct key_scan *s, unsigned name)
{
    if (!(s->found >> name & 1))
        return (struct slice){ NULL, 0 };
    uint64_t at = key_scan_source_skip_blanks(s->source, s->value[name]);

    return key_scan_source_at(s->source, at, INDEX_TEXT_MAX + 2);
}

/* A string value with its quotes; empty when it is none, or too long. */
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

/* Does a quote stand where that of a string of n bytes would? One may stand before it too: whoever looks
 * at the bytes has to tell. */
static bool is_quoted(struct slice v, size_t n)
{
    return v.n >= n + 2 && v.p[0] == '"' && v.p[n + 1] == '"';
}

static struct id128 read_id(const struct key_scan *s, unsigned name)
{
    struct slice v = value_of(s, name), text;
    struct arena a = { 0 };
    struct id128 id = { 0, 0 };

    if (is_quoted(v, UUID_LENGTH) && id128_uuid(v.p + 1, &id))
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

/* What follows {"type": at the begin of the inner member. */
static struct slice inner_type(const struct index_reader *r, const struct key_scan *s)
{
    struct slice v = value_of(s, NAME_INNER);
    size_t n = strlen(r->keys->type);

    if (v.n < n + 4 || v.p[0] != '{' || v.p[1] != '"' || memcmp(v.p + 2, r->keys->type, n) != 0 ||
        v.p[n + 2] != '"' || v.p[n + 3] != ':')
        return (struct slice){ NULL, 0 };
    return (struct slice){ v.p + n + 4, v.n - n - 4 };
}

static uint8_t read_kind(const struct index_reader *r, const struct key_scan *s)
{
    bool inside = s->found >> NAME_INNER & 1;
    struct slice v = inside ? inner_type(r, s) : value_of(s, NAME_TYPE);
    const char *const *kinds = r->keys->kinds;

    if (!v.n || !kinds)
        return 0;
    for (unsigned i = 0; kinds[i]; i++)
        if (is_quoted(v, r->kind_length[i]) && memcmp(v.p + 1, kinds[i], r->kind_length[i]) == 0)
            return (uint8_t)(i + 1);
    v = quoted(v);
    if (!v.n || !memchr(v.p, '\\', v.n))
        return 0;
    for (unsigned i = 0; kinds[i]; i++)
        if (json_string_is(v, kinds[i]))
            return (uint8_t)(i + 1);
    return 0;
}

static int64_t read_time(const struct key_scan *s)
{
    struct slice v = value_of(s, NAME_TIME);
    int64_t ms;

    if (is_quoted(v, ISO_LENGTH) && time_parse((struct slice){ v.p + 1, ISO_LENGTH }, &ms))
        return ms;
    v = quoted(v);
    return v.n && time_parse((struct slice){ v.p + 1, v.n - 2 }, &ms) ? ms : TIME_NONE;
}

/* As JavaScript's Boolean(), by the first two bytes of the value: null, false, "" and 0 are not. */
static bool counts(struct slice v)
{
    if (v.n == 0 || *v.p == 'n' || *v.p == 'f')
        return false;
    if (*v.p == '"')
        return v.n < 2 || v.p[1] != '"';
    return *v.p != '0' || (v.n > 1 && (v.p[1] == '.' || v.p[1] == 'e' || v.p[1] == 'E'));
}

static uint16_t read_marks(const struct key_scan *s)
{
    uint16_t marks = 0;

    for (uint32_t left = s->found >> NAME_MARKS; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctz(left);
        uint64_t at = key_scan_source_skip_blanks(s->source, s->value[NAME_MARKS + i]);

        if (counts(key_scan_source_at(s->source, at, 2)))
            marks |= (uint16_t)(1u << i);
    }
    return marks;
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
    line.id = read_id(s, NAME_ID);
    line.parent = read_id(s, NAME_PARENT);
    line.time_ms = read_time(s);
    line.marks = read_marks(s);
    return line;
}

struct index_line index_line_of(const struct index_reader *r, struct slice text, int64_t offset)
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

/* By a quarter: large blocks are remapped, so this moves pages and not bytes. */
static enum err_code grow_lines(struct index *ix)
{
    size_t cap = ix->cap < 64 ? 64 : ix->cap + ix->cap / 4;
    struct index_line *line = realloc(ix->line, cap * sizeof *line);

    if (!line)
        return ERR_NOMEM;
    ix->line = line;
    ix->cap = cap;
    return ERR_OK;
}

void index_trim(struct index *ix)
{
    size_t cap = ix->n + ix->n / 16;
    struct index_line *line = cap && cap < ix->cap ? realloc(ix->line, cap * sizeof *line) : NULL;

    if (!line)
        return;
    ix->line = line;
    ix->cap = cap;
}

enum err_code index_add(struct index *ix, const struct index_line *line)
{
    if (ix->n == ix->cap && grow_lines(ix))
        return ERR_NOMEM;
    ix->broken += line->state == LINE_BROKEN;
    ix->line[ix->n++] = *line;
    return ERR_OK;
}

void index_remove_torn(struct index *ix)
{
    if (ix->torn_tail)
        ix->broken -= ix->line[--ix->n].state == LINE_BROKEN;
    ix->torn_tail = false;
}
