#include "store/systems/common/go_json.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/time.h"
#include "lite/base/utf8.h"
#include "lite/json/json.h"

/* Programs in Go write the same documents, some of which are compared byte by byte, so a file that
 * was changed here must look as if they had written it. There are two ways to write:
 *
 *   a document   with an indent; texts that are copied keep their spelling
 *   a row        on one line; texts that are copied get Go's spelling
 *
 * Every key and value has to begin with begin_item or begin_value, which put commas and line ends
 * in their places. A value that is copied has to be valid JSON, because it is only cut into parts.
 * Its numbers stay as written, because a double could lose digits. An edit never moves or drops a
 * member that it was not asked to change, whether it is known or not. */

static enum err_code go_json_add_unit(struct buf *out, uint32_t unit)
{
    return buf_addf(out, "\\u%04x", unit);
}

static const char *short_escape(unsigned char c)
{
    switch (c) {
    case '"': return "\\\"";
    case '\\': return "\\\\";
    case '\b': return "\\b";
    case '\f': return "\\f";
    case '\n': return "\\n";
    case '\r': return "\\r";
    case '\t': return "\\t";
    default: return NULL;
    }
}

static enum err_code add_ascii(struct buf *out, unsigned char c)
{
    const char *escape = short_escape(c);

    if (escape)
        return buf_add(out, (struct slice){ escape, 2 });
    if (c < 0x20 || c == '<' || c == '>' || c == '&')
        return go_json_add_unit(out, c);
    return buf_add_byte(out, (char)c);
}

/* Go replaces each byte that utf8.DecodeRune cannot read. */
static enum err_code add_wide(struct buf *out, struct slice *text)
{
    struct slice rest = *text;
    uint32_t cp = utf8_next(&rest, false);
    size_t n = text->n - rest.n;

    if (!utf8_valid((struct slice){ text->p, n })) {
        *text = (struct slice){ text->p + 1, text->n - 1 };
        return go_json_add_unit(out, UTF8_REPLACEMENT);
    }
    struct slice one = { text->p, n };

    *text = rest;
    return cp == 0x2028 || cp == 0x2029 ? go_json_add_unit(out, cp) : buf_add(out, one);
}

enum err_code go_json_text(struct buf *out, struct slice text)
{
    enum err_code rc = buf_add_byte(out, '"');

    while (!rc && text.n) {
        unsigned char c = (unsigned char)text.p[0];

        if (c >= 0x80) {
            rc = add_wide(out, &text);
            continue;
        }
        rc = add_ascii(out, c);
        text = (struct slice){ text.p + 1, text.n - 1 };
    }
    return rc ? rc : buf_add_byte(out, '"');
}

enum err_code go_json_time(struct buf *out, int64_t ns)
{
    enum { SECONDS = 19 };
    char text[TIME_TEXT], fraction[16] = "";
    int64_t rest = ns % 1000000000;

    if (rest < 0)
        rest += 1000000000;
    time_format((ns - rest) / 1000000, text);
    int n = snprintf(fraction, sizeof fraction, ".%09lld", (long long)rest);

    while (n > 0 && (fraction[n - 1] == '0' || fraction[n - 1] == '.'))
        n--;
    return buf_addf(out, "\"%.*s%.*sZ\"", SECONDS, text, n, fraction);
}

/* A number as digits and exponent: 1.25e-7 is "125" and -7. */
struct decimal {
    char digit[24];
    int n, power;
    bool negative;
};

static enum err_code add_zeros(struct buf *out, int n)
{
    enum err_code rc = ERR_OK;

    while (n-- > 0 && !rc)
        rc = buf_add_byte(out, '0');
    return rc;
}

/* The digits with the point where it belongs: 1200, 1.25 or 0.0125. */
static enum err_code go_json_add_plain(struct buf *out, const struct decimal *d)
{
    int whole = d->power + 1; /* digits before the point */
    int front = whole < 0 ? 0 : whole < d->n ? whole : d->n;
    enum err_code rc =
        front ? buf_add(out, (struct slice){ d->digit, (size_t)front }) : buf_add_byte(out, '0');

    if (!rc)
        rc = add_zeros(out, whole - d->n);
    if (rc || front == d->n)
        return rc;
    rc = buf_add_byte(out, '.');
    if (!rc)
        rc = add_zeros(out, -whole);
    return rc ? rc : buf_add(out, (struct slice){ d->digit + front, (size_t)(d->n - front) });
}

enum err_code go_json_float(struct buf *out, double value)
{
    enum { ENOUGH = 17 };
    double size = value < 0 ? -value : value;
    struct decimal d;
    int power;
    char text[64];

    /* Find the fewest digits that identify this number. */
    int digits = 0;

    do
        snprintf(text, sizeof text, "%.*e", digits, value);
    while (strtod(text, NULL) != value && ++digits < ENOUGH);
    d = (struct decimal){ .negative = text[0] == '-' };
    for (const char *p = text; *p != 'e'; p++)
        if (*p >= '0' && *p <= '9')
            d.digit[d.n++] = *p;
    d.power = (int)strtol(strchr(text, 'e') + 1, NULL, 10);

    enum err_code rc = d.negative ? buf_add_byte(out, '-') : ERR_OK;

    if (rc || size == 0 || (size >= 1e-6 && size < 1e21))
        return rc ? rc : go_json_add_plain(out, &d);
    power = d.power;
    d.power = 0;
    rc = go_json_add_plain(out, &d);
    return rc ? rc : buf_addf(out, "e%c%d", power < 0 ? '-' : '+', power < 0 ? -power : power);
}

size_t go_json_text_length(struct slice rest)
{
    size_t n = 1;

    while (n < rest.n && rest.p[n] != '"')
        n += rest.p[n] == '\\' ? 2 : 1;
    return n < rest.n ? n + 1 : rest.n;
}

static bool go_json_hex_unit(struct slice text, uint32_t *unit)
{
    uint32_t n = 0;

    if (text.n < 6 || text.p[0] != '\\' || text.p[1] != 'u')
        return false;
    for (int i = 2; i < 6; i++) {
        char c = text.p[i];
        uint32_t digit = c <= '9' ? (uint32_t)(c - '0') : (uint32_t)((c | 0x20) - 'a') + 10;

        n = n << 4 | digit;
    }
    *unit = n;
    return true;
}

/* Adds the escape at the front as Go would spell it. Half a surrogate pair is kept as written,
 * because Go would lose it. */
static enum err_code add_escape(struct buf *out, struct slice *text)
{
    struct slice here = *text, pair;
    uint32_t unit, low;
    size_t n = 6;
    char bytes[4];

    if (!go_json_hex_unit(here, &unit)) {
        *text = (struct slice){ here.p + 2, here.n - 2 };
        return here.p[1] == '/' ? buf_add_byte(out, '/')
                                : buf_add(out, (struct slice){ here.p, 2 });
    }
    pair = (struct slice){ here.p + n, here.n - n };
    if (unit >= 0xD800 && unit < 0xDC00 && go_json_hex_unit(pair, &low) && low >= 0xDC00 &&
        low < 0xE000) {
        unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
        n = 12;
    }
    *text = (struct slice){ here.p + n, here.n - n };
    if (unit >= 0xD800 && unit < 0xE000)
        return buf_add(out, (struct slice){ here.p, n });
    if (unit < 0x80)
        return add_ascii(out, (unsigned char)unit);
    if (unit == 0x2028 || unit == 0x2029)
        return go_json_add_unit(out, unit);
    return buf_add(out, (struct slice){ bytes, utf8_encode(bytes, unit) });
}

/* The same text, in Go's spelling. */
static enum err_code add_quoted(struct buf *out, struct slice text)
{
    enum err_code rc = ERR_OK;

    while (text.n && !rc) {
        char c = text.p[0];

        if (c == '\\' && text.n > 1) {
            rc = add_escape(out, &text);
            continue;
        }
        if ((unsigned char)c >= 0x80) {
            rc = add_wide(out, &text);
            continue;
        }
        rc = c == '"' ? buf_add_byte(out, c) : add_ascii(out, (unsigned char)c);
        text = (struct slice){ text.p + 1, text.n - 1 };
    }
    return rc;
}

/* ---- the writer ---- */

void go_json_document_init(struct go_json_document *g, struct buf *out)
{
    *g = (struct go_json_document){ .out = out, .lines = true };
}

void go_json_row_init(struct go_json_document *g, struct buf *out)
{
    *g = (struct go_json_document){ .out = out };
}

static void go_json_append_bytes(struct go_json_document *g, struct slice bytes)
{
    if (!g->rc)
        g->rc = buf_add(g->out, bytes);
}

static void go_json_begin_line(struct go_json_document *g)
{
    if (!g->lines)
        return;
    go_json_append_bytes(g, SLICE("\n"));
    for (int i = 0; i < g->depth; i++)
        go_json_append_bytes(g, SLICE("  "));
}

/* Before each member of an object and each element of an array. */
static void begin_item(struct go_json_document *g)
{
    if (g->filled)
        go_json_append_bytes(g, SLICE(","));
    if (g->depth)
        go_json_begin_line(g);
    g->filled = true;
}

static void begin_value(struct go_json_document *g)
{
    if (!g->keyed)
        begin_item(g);
    g->keyed = false;
}

static void end_key(struct go_json_document *g)
{
    go_json_append_bytes(g, g->lines ? SLICE(": ") : SLICE(":"));
    g->keyed = true;
}

void go_json_document_open(struct go_json_document *g, char bracket)
{
    begin_value(g);
    go_json_append_bytes(g, (struct slice){ &bracket, 1 });
    g->depth++;
    g->filled = false;
}

void go_json_document_close(struct go_json_document *g, char bracket)
{
    g->depth--;
    if (g->filled)
        go_json_begin_line(g);
    go_json_append_bytes(g, (struct slice){ &bracket, 1 });
    g->filled = true;
}

void go_json_document_key(struct go_json_document *g, const char *key)
{
    begin_item(g);
    if (!g->rc)
        g->rc = go_json_text(g->out, slice_of(key));
    end_key(g);
}

void go_json_document_text(struct go_json_document *g, struct slice text)
{
    begin_value(g);
    if (!g->rc)
        g->rc = go_json_text(g->out, text);
}

void go_json_document_int(struct go_json_document *g, int64_t n)
{
    begin_value(g);
    if (!g->rc)
        g->rc = buf_addf(g->out, "%lld", (long long)n);
}

void go_json_document_time(struct go_json_document *g, int64_t ns)
{
    begin_value(g);
    if (!g->rc)
        g->rc = go_json_time(g->out, ns);
}

void go_json_document_member(struct go_json_document *g, const char *key, struct slice text)
{
    if (text.n == 0)
        return;
    go_json_document_key(g, key);
    go_json_document_text(g, text);
}

void go_json_document_end(struct go_json_document *g)
{
    go_json_append_bytes(g, SLICE("\n"));
}

/* ---- values of others ---- */

static const struct {
    const char *escape;
    char plain;
} html[] = { { "\\u003c", '<' }, { "\\u003e", '>' }, { "\\u0026", '&' } };

/* Returns which of the three characters is escaped at the front of the text; -1: no such escape. */
static int html_escape(struct slice text)
{
    for (int i = 0; i < 3; i++)
        if (text.n >= 6 && memcmp(text.p, html[i].escape, 6) == 0)
            return i;
    return -1;
}

/* The text with the three characters as they are. */
static enum err_code add_plain_html(struct buf *out, struct slice quoted)
{
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < quoted.n && !rc; i++) {
        int which = html_escape((struct slice){ quoted.p + i, quoted.n - i });
        bool pair = which < 0 && quoted.p[i] == '\\' && i + 1 < quoted.n;

        rc = which >= 0 ? buf_add_byte(out, html[which].plain)
                        : buf_add(out, (struct slice){ quoted.p + i, pair ? 2 : 1 });
        i += which >= 0 ? 5 : pair;
    }
    return rc;
}

static void go_json_add_raw_text(struct go_json_document *g, struct slice quoted)
{
    if (!g->rc)
        g->rc = !g->lines       ? add_quoted(g->out, quoted)
                : g->plain_html ? add_plain_html(g->out, quoted)
                                : buf_add(g->out, quoted);
}

void go_json_document_raw_key(struct go_json_document *g, struct slice quoted)
{
    begin_item(g);
    go_json_add_raw_text(g, quoted);
    end_key(g);
}

static struct slice after_blanks(struct slice rest)
{
    while (rest.n && strchr(" \t\r\n", rest.p[0]))
        rest = (struct slice){ rest.p + 1, rest.n - 1 };
    return rest;
}

static void put_raw_text(struct go_json_document *g, struct slice quoted, struct slice behind)
{
    behind = after_blanks(behind);
    if (behind.n && behind.p[0] == ':') {
        go_json_document_raw_key(g, quoted);
        return;
    }
    begin_value(g);
    go_json_add_raw_text(g, quoted);
}

void go_json_document_value(struct go_json_document *g, struct slice json)
{
    for (json = after_blanks(json); json.n && !g->rc; json = after_blanks(json)) {
        /* Writes the part at the front, and returns its length. */
        size_t n = 1;

        switch (json.p[0]) {
        case '{':
        case '[': go_json_document_open(g, json.p[0]); break;
        case '}':
        case ']': go_json_document_close(g, json.p[0]); break;
        case ',':
        case ':': break;
        case '"':
            n = go_json_text_length(json);
            put_raw_text(g, (struct slice){ json.p, n }, (struct slice){ json.p + n, json.n - n });
            break;
        default:
            while (n < json.n && !strchr(" \t\r\n,]}", json.p[n]))
                n++;
            begin_value(g);
            go_json_append_bytes(g, (struct slice){ json.p, n });
        }

        json = (struct slice){ json.p + n, json.n - n };
    }
}

/* ---- changing one ---- */

enum { SETS_MAX = 32 };

struct editing {
    struct go_json_document g;
    const char *const *order;
    const struct go_json_member *set;
    size_t n;
    bool there[SETS_MAX]; /* a member of the object: it keeps its place */
    bool done[SETS_MAX];
};

static size_t go_json_rank_of(const char *const order[], const char *key)
{
    size_t i = 0;

    while (order[i] && strcmp(order[i], key) != 0)
        i++;
    return i;
}

/* Returns true if the document contains <, > or & unescaped, and never escaped. */
static bool go_json_is_plain(struct slice object)
{
    bool plain = false;

    for (size_t i = 0; i < object.n; i++) {
        char c = object.p[i];

        if (html_escape((struct slice){ object.p + i, object.n - i }) >= 0)
            return false;
        plain |= c == '<' || c == '>' || c == '&';
        i += c == '\\'; /* and the escaped character */
    }
    return plain;
}

static void put_set(struct editing *x, size_t i)
{
    if (x->done[i])
        return;
    x->done[i] = true;
    if (x->set[i].value.n == 0)
        return;
    go_json_document_key(&x->g, x->set[i].key);
    go_json_document_value(&x->g, x->set[i].value);
}

/* New members that belong before this rank. */
static void put_due(struct editing *x, size_t rank)
{
    for (size_t i = 0; i < x->n; i++)
        if (!x->there[i] && go_json_rank_of(x->order, x->set[i].key) < rank)
            put_set(x, i);
}

static void go_json_edit_member(struct editing *x, struct slice key, struct slice value)
{
    size_t rank = 0;

    while (x->order[rank] && !json_string_is(key, x->order[rank]))
        rank++;
    if (x->order[rank]) /* the place of an unknown member means nothing */
        put_due(x, rank);
    for (size_t i = 0; i < x->n; i++)
        if (x->there[i] && json_string_is(key, x->set[i].key)) {
            put_set(x, i);
            return;
        }
    go_json_document_raw_key(&x->g, key);
    go_json_document_value(&x->g, value);
}

enum err_code go_json_document_edit(struct slice object, const char *const order[],
                                    const struct go_json_member set[], size_t n, struct buf *out)
{
    struct editing x = { .order = order, .set = set, .n = n };
    struct json_iter it;
    struct slice key, value;

    if (n > SETS_MAX)
        return ERR_USAGE;
    for (size_t i = 0; i < n; i++)
        x.there[i] = json_get(object, set[i].key, &value);
    go_json_document_init(&x.g, out);
    x.g.plain_html = go_json_is_plain(object);
    go_json_document_open(&x.g, '{');
    if (json_iter_open(&it, object))
        while (!x.g.rc && json_iter_next(&it, &key, &value))
            go_json_edit_member(&x, key, value);
    put_due(&x, SIZE_MAX);
    go_json_document_close(&x.g, '}');
    go_json_document_end(&x.g);
    return x.g.rc;
}
