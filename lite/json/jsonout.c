#include "lite/json/jsonout.h"

#include "lite/base/utf8.h"
#include "lite/json/scan.h"

static void append_bytes(struct jsonout *j, struct slice bytes)
{
    if (!j->rc)
        j->rc = buf_add(j->out, bytes);
}

/* In front of every value and key. */
static void append_comma(struct jsonout *j)
{
    if (j->comma)
        append_bytes(j, SLICE(","));
    j->comma = true;
}

void jsonout_init(struct jsonout *j, struct buf *out)
{
    *j = (struct jsonout){ .out = out };
}

void jsonout_open(struct jsonout *j, char bracket)
{
    append_comma(j);
    append_bytes(j, (struct slice){ &bracket, 1 });
    j->comma = false;
}

void jsonout_close(struct jsonout *j, char bracket)
{
    append_bytes(j, (struct slice){ &bracket, 1 });
    j->comma = true;
}

static bool stands_for_itself(unsigned char c)
{
    return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

/* How many bytes at the front do. */
static size_t plain_front(struct slice text)
{
    size_t n = 0;

    while (n + SCAN_BLOCK <= text.n && !(scan_block(text.p + n) | scan_beyond_ascii(text.p + n)))
        n += SCAN_BLOCK;
    while (n < text.n && stands_for_itself((unsigned char)text.p[n]))
        n++;
    return n;
}

static void add_escaped(struct jsonout *j, uint32_t unit)
{
    static const char hex[] = "0123456789abcdef";
    char six[] = {
        '\\', 'u', hex[unit >> 12 & 15], hex[unit >> 8 & 15], hex[unit >> 4 & 15], hex[unit & 15]
    };

    append_bytes(j, (struct slice){ six, sizeof six });
}

static void add_char(struct jsonout *j, uint32_t cp)
{
    char one[4];

    switch (cp) {
    case '"': append_bytes(j, SLICE("\\\"")); return;
    case '\\': append_bytes(j, SLICE("\\\\")); return;
    case '\b': append_bytes(j, SLICE("\\b")); return;
    case '\f': append_bytes(j, SLICE("\\f")); return;
    case '\n': append_bytes(j, SLICE("\\n")); return;
    case '\r': append_bytes(j, SLICE("\\r")); return;
    case '\t': append_bytes(j, SLICE("\\t")); return;
    default: break;
    }
    if (cp < 0x20 || (cp >= 0xD800 && cp <= 0xDFFF))
        add_escaped(j, cp);
    else
        append_bytes(j, (struct slice){ one, utf8_encode(one, cp) });
}

/* All of it in quotes, where nothing has to be changed and nothing has failed: most texts. */
static bool add_plain(struct jsonout *j, struct slice text, const char *then)
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
    if (add_plain(j, text, ""))
        return;
    append_comma(j);
    append_bytes(j, SLICE("\""));
    while (text.n && !j->rc) {
        size_t run = plain_front(text);

        append_bytes(j, (struct slice){ text.p, run });
        text = (struct slice){ text.p + run, text.n - run };
        if (text.n)
            add_char(j, utf8_next(&text, true));
    }
    append_bytes(j, SLICE("\""));
}

void jsonout_key(struct jsonout *j, const char *key)
{
    struct slice text = slice_of(key);

    if (!add_plain(j, text, ":")) {
        jsonout_text(j, text);
        append_bytes(j, SLICE(":"));
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
    append_bytes(j, (struct slice){ p, (size_t)(digits + sizeof digits - p) });
}

void jsonout_bool(struct jsonout *j, bool b)
{
    append_comma(j);
    append_bytes(j, b ? SLICE("true") : SLICE("false"));
}

void jsonout_null(struct jsonout *j)
{
    append_comma(j);
    append_bytes(j, SLICE("null"));
}

void jsonout_raw(struct jsonout *j, struct slice json)
{
    append_comma(j);
    while (json.n && !j->rc) {
        size_t whole = utf8_valid_prefix(json);

        append_bytes(j, (struct slice){ json.p, whole });
        json = (struct slice){ json.p + whole, json.n - whole };
        if (json.n)
            add_char(j, utf8_next(&json, false));
    }
}

void jsonout_raw_key(struct jsonout *j, struct slice quoted)
{
    jsonout_raw(j, quoted);
    append_bytes(j, SLICE(":"));
    j->comma = false;
}

void jsonout_member(struct jsonout *j, const char *key, struct slice text)
{
    if (text.n == 0)
        return;
    jsonout_key(j, key);
    jsonout_text(j, text);
}
