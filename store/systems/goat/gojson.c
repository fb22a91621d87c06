#include "store/systems/goat/gojson.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "lite/time.h"
#include "lite/utf8.h"

static enum err_code add_unit(struct buf *out, uint32_t unit)
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
        return add_unit(out, c);
    return buf_add_byte(out, (char)c);
}

/* Go replaces byte by byte what utf8.DecodeRune cannot read. */
static enum err_code add_wide(struct buf *out, struct slice *text)
{
    struct slice rest = *text;
    uint32_t cp = utf8_next(&rest, false);
    size_t n = text->n - rest.n;

    if (!utf8_valid((struct slice){ text->p, n })) {
        *text = (struct slice){ text->p + 1, text->n - 1 };
        return add_unit(out, UTF8_REPLACEMENT);
    }
    struct slice one = { text->p, n };

    *text = rest;
    return cp == 0x2028 || cp == 0x2029 ? add_unit(out, cp) : buf_add(out, one);
}

enum err_code gojson_text(struct buf *out, struct slice text)
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

enum err_code gojson_time(struct buf *out, int64_t ns)
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

/* Lays a value out again: what stands between its parts is new, the parts are copied. */
struct layout {
    struct buf *out;
    bool lines;
    unsigned depth;
};

static enum err_code new_line(const struct layout *l)
{
    enum err_code rc = l->lines ? buf_add_byte(l->out, '\n') : ERR_OK;

    for (unsigned i = 0; l->lines && i < l->depth && !rc; i++)
        rc = buf_add(l->out, SLICE("  "));
    return rc;
}

static size_t text_length(struct slice rest)
{
    size_t n = 1;

    while (n < rest.n && rest.p[n] != '"')
        n += rest.p[n] == '\\' ? 2 : 1;
    return n < rest.n ? n + 1 : rest.n;
}

/* A text as it stands, but for what Go never writes raw. */
static enum err_code add_quoted(struct buf *out, struct slice text)
{
    enum err_code rc = ERR_OK;

    while (text.n && !rc) {
        bool separator = text.n >= 3 && (memcmp(text.p, "\xe2\x80\xa8", 3) == 0 ||
                                         memcmp(text.p, "\xe2\x80\xa9", 3) == 0);
        size_t n = separator ? 3 : 1;

        if (separator)
            rc = add_unit(out, text.p[2] == '\xa8' ? 0x2028 : 0x2029);
        else if (text.p[0] == '<' || text.p[0] == '>' || text.p[0] == '&')
            rc = add_unit(out, (unsigned char)text.p[0]);
        else
            rc = buf_add_byte(out, text.p[0]);
        text = (struct slice){ text.p + n, text.n - n };
    }
    return rc;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static struct slice after_blanks(struct slice rest)
{
    while (rest.n && is_blank(rest.p[0]))
        rest = (struct slice){ rest.p + 1, rest.n - 1 };
    return rest;
}

/* One part at the front; *n is what it took of the text. */
static enum err_code lay_part(struct layout *l, struct slice rest, size_t *n)
{
    char c = rest.p[0];
    enum err_code rc = ERR_OK;
    struct slice next;

    *n = 1;
    switch (c) {
    case '{':
    case '[':
        next = after_blanks((struct slice){ rest.p + 1, rest.n - 1 });
        rc = buf_add_byte(l->out, c);
        if (next.n && (next.p[0] == '}' || next.p[0] == ']')) {
            *n = (size_t)(next.p - rest.p) + 1;
            return rc ? rc : buf_add_byte(l->out, next.p[0]);
        }
        l->depth++;
        return rc ? rc : new_line(l);
    case '}':
    case ']':
        l->depth--;
        rc = new_line(l);
        break;
    case ',': rc = buf_add_byte(l->out, c); return rc ? rc : new_line(l);
    case ':': return buf_add(l->out, l->lines ? SLICE(": ") : SLICE(":"));
    case '"':
        *n = text_length(rest);
        rest.n = *n;
        return l->lines ? buf_add(l->out, rest) : add_quoted(l->out, rest);
    default: break;
    }
    return rc ? rc : buf_add_byte(l->out, c);
}

static enum err_code lay_out(struct layout *l, struct slice value)
{
    enum err_code rc = ERR_OK;

    for (value = after_blanks(value); value.n && !rc; value = after_blanks(value)) {
        size_t n;

        rc = lay_part(l, value, &n);
        value = (struct slice){ value.p + n, value.n - n };
    }
    return rc;
}

enum err_code gojson_indent(struct buf *out, struct slice value, unsigned depth)
{
    struct layout l = { .out = out, .lines = true, .depth = depth };

    return lay_out(&l, value);
}

enum err_code gojson_compact(struct buf *out, struct slice value)
{
    struct layout l = { .out = out };

    return lay_out(&l, value);
}
