#include "lite/json/jsonout.h"

#include <stdint.h>
#include <string.h>

#include "lite/base/arena.h"
#include "lite/base/utf8.h"
#include "lite/json/json.h"
#include "lite/json/scan.h"

static void jsonout_append_bytes(struct jsonout *j, struct slice bytes)
{
    if (!j->rc)
        j->rc = buf_add(j->out, bytes);
}

/* In front of every value and key. */
static void append_comma(struct jsonout *j)
{
    if (j->comma)
        jsonout_append_bytes(j, SLICE(","));
    j->comma = true;
}

void jsonout_init(struct jsonout *j, struct buf *out)
{
    *j = (struct jsonout){ .out = out };
}

void jsonout_open(struct jsonout *j, char bracket)
{
    append_comma(j);
    jsonout_append_bytes(j, (struct slice){ &bracket, 1 });
    j->comma = false;
}

void jsonout_close(struct jsonout *j, char bracket)
{
    jsonout_append_bytes(j, (struct slice){ &bracket, 1 });
    j->comma = true;
}

static bool needs_no_escape(unsigned char c)
{
    return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

/* The number of bytes at the front that need no escape. */
static size_t plain_front(struct slice text)
{
    size_t n = 0;

    while (n + SCAN_BLOCK <= text.n && !(scan_block(text.p + n) | scan_beyond_ascii(text.p + n)))
        n += SCAN_BLOCK;
    /* The last block again, from its end. */
    if (n && n + SCAN_BLOCK > text.n &&
        !(scan_block(text.p + text.n - SCAN_BLOCK) |
          scan_beyond_ascii(text.p + text.n - SCAN_BLOCK)))
        return text.n;
    while (n < text.n && needs_no_escape((unsigned char)text.p[n]))
        n++;
    return n;
}

static void add_char(struct jsonout *j, uint32_t cp)
{
    static const char hex[] = "0123456789abcdef";
    char one[4];

    switch (cp) {
    case '"': jsonout_append_bytes(j, SLICE("\\\"")); return;
    case '\\': jsonout_append_bytes(j, SLICE("\\\\")); return;
    case '\b': jsonout_append_bytes(j, SLICE("\\b")); return;
    case '\f': jsonout_append_bytes(j, SLICE("\\f")); return;
    case '\n': jsonout_append_bytes(j, SLICE("\\n")); return;
    case '\r': jsonout_append_bytes(j, SLICE("\\r")); return;
    case '\t': jsonout_append_bytes(j, SLICE("\\t")); return;
    default: break;
    }
    if (cp < 0x20 || (cp >= 0xD800 && cp <= 0xDFFF)) {
        char six[] = { '\\',        'u', hex[cp >> 12 & 15], hex[cp >> 8 & 15], hex[cp >> 4 & 15],
                       hex[cp & 15] };

        jsonout_append_bytes(j, (struct slice){ six, sizeof six });
    } else
        jsonout_append_bytes(j, (struct slice){ one, utf8_encode(one, cp) });
}

/* Quotes the whole text if nothing has to be escaped and nothing has failed, which is true of most
 * texts. */
static bool jsonout_add_plain(struct jsonout *j, struct slice text, const char *then)
{
    if (j->rc || plain_front(text) < text.n)
        return false;
    size_t more = strlen(then);

    j->rc = text.n < SIZE_MAX - 8 ? buf_reserve(j->out, text.n + more + 3) : ERR_NOMEM;
    if (j->rc)
        return true;
    char *p = j->out->p + j->out->n;

    if (j->comma)
        *p++ = ',';
    *p++ = '"';
    if (text.n)
        memcpy(p, text.p, text.n);
    p[text.n] = '"';
    memcpy(p + text.n + 1, then, more);
    j->out->n = (size_t)(p + text.n + 1 + more - j->out->p);
    j->comma = true;
    return true;
}

void jsonout_text(struct jsonout *j, struct slice text)
{
    if (jsonout_add_plain(j, text, ""))
        return;
    append_comma(j);
    jsonout_append_bytes(j, SLICE("\""));
    while (text.n && !j->rc) {
        size_t run = plain_front(text);

        jsonout_append_bytes(j, (struct slice){ text.p, run });
        text = (struct slice){ text.p + run, text.n - run };
        if (text.n)
            add_char(j, utf8_next(&text, true));
    }
    jsonout_append_bytes(j, SLICE("\""));
}

void jsonout_key(struct jsonout *j, const char *key)
{
    struct slice text = slice_of(key);

    if (!jsonout_add_plain(j, text, ":")) {
        jsonout_text(j, text);
        jsonout_append_bytes(j, SLICE(":"));
    }
    j->comma = false;
}

void jsonout_int(struct jsonout *j, int64_t n)
{
    char digits[24], *p = digits + sizeof digits;
    uint64_t left = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;

    do {
        *--p = (char)('0' + left % 10);
        left /= 10;
    } while (left);
    if (n < 0)
        *--p = '-';
    append_comma(j);
    jsonout_append_bytes(j, (struct slice){ p, (size_t)(digits + sizeof digits - p) });
}

void jsonout_bool(struct jsonout *j, bool b)
{
    append_comma(j);
    jsonout_append_bytes(j, b ? SLICE("true") : SLICE("false"));
}

void jsonout_null(struct jsonout *j)
{
    append_comma(j);
    jsonout_append_bytes(j, SLICE("null"));
}

void jsonout_raw(struct jsonout *j, struct slice json)
{
    append_comma(j);
    while (json.n && !j->rc) {
        size_t whole = utf8_valid_prefix(json);

        jsonout_append_bytes(j, (struct slice){ json.p, whole });
        json = (struct slice){ json.p + whole, json.n - whole };
        if (json.n)
            add_char(j, utf8_next(&json, false));
    }
}

void jsonout_compact(struct jsonout *j, struct slice json)
{
    size_t n = j->out->n;
    bool quoted = false, escaped = false;

    jsonout_raw(j, json);
    for (size_t i = n; i < j->out->n; i++) {
        char c = j->out->p[i];

        if (!quoted && (c == ' ' || c == '\t' || c == '\r' || c == '\n'))
            continue;
        if (c == '"' && !escaped)
            quoted = !quoted;
        escaped = c == '\\' && !escaped;
        j->out->p[n++] = c;
    }
    j->out->n = n;
}

void jsonout_raw_key(struct jsonout *j, struct slice quoted)
{
    jsonout_raw(j, quoted);
    jsonout_append_bytes(j, SLICE(":"));
    j->comma = false;
}

void jsonout_int_member(struct jsonout *j, const char *key, int64_t n)
{
    jsonout_key(j, key);
    jsonout_int(j, n);
}

void jsonout_bool_member(struct jsonout *j, const char *key, bool b)
{
    jsonout_key(j, key);
    jsonout_bool(j, b);
}

void jsonout_raw_member(struct jsonout *j, const char *key, struct slice json)
{
    jsonout_key(j, key);
    jsonout_raw(j, json);
}

void jsonout_text_or_null(struct jsonout *j, const char *key, struct slice text)
{
    jsonout_key(j, key);
    if (text.n)
        jsonout_text(j, text);
    else
        jsonout_null(j);
}

void jsonout_member(struct jsonout *j, const char *key, struct slice text)
{
    if (text.n == 0)
        return;
    jsonout_key(j, key);
    jsonout_text(j, text);
}

/* An object is copied member by member. The bytes before a member (the bracket or comma, the
 * blanks) are copied with it, so a dropped member takes its comma along; only the first member's
 * bracket stays. */
struct edit {
    struct buf *out;
    const char *done;              /* bytes before this are copied or dropped */
    bool any;                      /* a member was copied */
    uint64_t seen;                 /* bit i: the member of edit i was found */
    size_t length[JSON_EDITS_MAX]; /* the lengths of the names */
    enum err_code rc;
};

static void jsonout_add_bytes(struct edit *ed, struct slice bytes)
{
    if (!ed->rc)
        ed->rc = buf_add(ed->out, bytes);
}

static void copy_up_to(struct edit *ed, const char *end)
{
    jsonout_add_bytes(ed, (struct slice){ ed->done, (size_t)(end - ed->done) });
    ed->done = end;
}

/* A member is kept with the comma before it, unless what came before it was dropped. */
static void keep_up_to(struct edit *ed, const char *key, const char *end)
{
    const char *comma = ed->any ? NULL : memchr(ed->done, ',', (size_t)(key - ed->done));

    if (comma)
        ed->done = comma + 1;
    copy_up_to(ed, end);
    ed->any = true;
}

/* A key without escapes is compared without decoding it. */
static size_t edit_of(const struct edit *ed, struct slice key, const struct json_edit edits[],
                      size_t n)
{
    bool escaped = memchr(key.p, '\\', key.n) != NULL;

    for (size_t i = 0; i < n; i++) {
        size_t length = ed->length[i];

        if (key.n == length + 2 && memcmp(key.p + 1, edits[i].name, length) == 0)
            return i;
        if (escaped && json_string_is(key, edits[i].name))
            return i;
    }
    return n;
}

static void jsonout_edit_member(struct edit *ed, struct slice key, struct slice old,
                                const struct json_edit edits[], size_t n)
{
    const char *end = old.p + old.n;
    size_t i = edit_of(ed, key, edits, n);

    if (i == n) {
        keep_up_to(ed, key.p, end);
        return;
    }
    if (edits[i].value.n && !(ed->seen >> i & 1)) {
        keep_up_to(ed, key.p, old.p);
        jsonout_add_bytes(ed, edits[i].value);
    }
    ed->seen |= UINT64_C(1) << i;
    ed->done = end;
}

static void jsonout_add_member(struct edit *ed, const struct json_edit *edit)
{
    jsonout_add_bytes(ed, ed->any ? SLICE(",\"") : SLICE("\""));
    jsonout_add_bytes(ed, slice_of(edit->name));
    jsonout_add_bytes(ed, SLICE("\":"));
    jsonout_add_bytes(ed, edit->value);
    ed->any = true;
}

enum err_code json_edit(struct buf *out, struct slice object, const struct json_edit edits[],
                        size_t n)
{
    size_t before = out->n;
    struct edit ed; /* not zeroed as a whole: it is made for every row of a log */
    struct json_iter it;
    struct slice key, value;

    ed.out = out;
    ed.done = object.p;
    ed.any = false;
    ed.seen = 0;
    ed.rc = ERR_OK;
    for (size_t i = 0; i < n; i++)
        ed.length[i] = strlen(edits[i].name);

    /* Copy the blanks and the opening bracket. */
    const char *bracket = memchr(object.p, '{', object.n);

    copy_up_to(&ed, bracket ? bracket + 1 : object.p);

    for (bool more = json_iter_open(&it, object); more && json_iter_next(&it, &key, &value);)
        jsonout_edit_member(&ed, key, value, edits, n);
    for (size_t i = 0; i < n; i++)
        if (edits[i].value.n && !edits[i].if_there && !(ed.seen >> i & 1))
            jsonout_add_member(&ed, &edits[i]);
    copy_up_to(&ed, object.p + object.n);
    if (ed.rc)
        out->n = before;
    return ed.rc;
}

enum err_code json_set(struct buf *out, struct slice object, const char *name, struct slice value)
{
    return json_edit(out, object, &(struct json_edit){ .name = name, .value = value }, 1);
}

enum err_code json_remove(struct buf *out, struct slice object, const char *name)
{
    return json_edit(out, object, &(struct json_edit){ .name = name }, 1);
}

/* JSON Merge Patch (RFC 7396). */

enum { DEEPEST = 256 };

struct merging {
    struct jsonout j;
    struct arena a; /* decoded keys */
    enum err_code rc;
};

static void merge_value(struct merging *m, struct slice target, struct slice patch, int depth);

/* A key that cannot be decoded (out of memory) equals no other. */
static bool jsonout_same_key(struct merging *m, struct slice a, struct slice b)
{
    struct slice one, two;

    if (slice_eq(a, b))
        return true;
    if (!memchr(a.p, '\\', a.n) && !memchr(b.p, '\\', b.n))
        return false;
    if (!json_text(a, &m->a, &one) || !json_text(b, &m->a, &two)) {
        m->rc = ERR_NOMEM;
        return false;
    }
    return slice_eq(one, two);
}

/* The last member with this key; false if the object has no such member. */
static bool find_member(struct merging *m, struct slice object, struct slice key,
                        struct slice *value)
{
    struct slice other, v;
    struct json_iter it;
    bool found = false;

    if (json_type(object) != JSON_OBJECT || !json_iter_open(&it, object))
        return false;
    while (json_iter_next(&it, &other, &v))
        if (jsonout_same_key(m, key, other)) {
            *value = v;
            found = true;
        }
    return found;
}

/* Returns true if no later member has the same key: only that one counts. */
static bool jsonout_counts(struct merging *m, struct json_iter rest, struct slice key)
{
    struct slice other, value;

    while (json_iter_next(&rest, &other, &value))
        if (jsonout_same_key(m, key, other))
            return false;
    return true;
}

static void merge_member(struct merging *m, struct slice key, struct slice old, struct slice patch,
                         int depth)
{
    if (json_type(patch) == JSON_NULL)
        return;
    jsonout_raw_key(&m->j, key);
    merge_value(m, old, patch, depth);
}

/* Members of the target keep their places, and those that only the patch has are added after
 * them. */
static void merge_objects(struct merging *m, struct slice target, struct slice patch, int depth)
{
    struct slice key, value, change;
    struct json_iter it;

    jsonout_open(&m->j, '{');
    if (json_type(target) == JSON_OBJECT && json_iter_open(&it, target))
        while (!m->rc && json_iter_next(&it, &key, &value)) {
            if (!jsonout_counts(m, it, key))
                continue;
            if (find_member(m, patch, key, &change)) {
                merge_member(m, key, value, change, depth);
            } else {
                jsonout_raw_key(&m->j, key);
                jsonout_raw(&m->j, value);
            }
        }
    for (bool more = json_iter_open(&it, patch);
         more && !m->rc && json_iter_next(&it, &key, &change);)
        if (jsonout_counts(m, it, key) && !find_member(m, target, key, &value))
            merge_member(m, key, (struct slice){ NULL, 0 }, change, depth);
    jsonout_close(&m->j, '}');
}

static void merge_value(struct merging *m, struct slice target, struct slice patch, int depth)
{
    if (depth == 0)
        m->rc = ERR_USAGE;
    else if (json_type(patch) != JSON_OBJECT)
        jsonout_raw(&m->j, patch);
    else
        merge_objects(m, target, patch, depth - 1);
}

enum err_code json_merge(struct buf *out, struct slice target, struct slice patch)
{
    struct merging m = { .rc = ERR_OK };

    jsonout_init(&m.j, out);
    merge_value(&m, target, patch, DEEPEST);
    arena_fini(&m.a);
    return m.rc ? m.rc : m.j.rc;
}
