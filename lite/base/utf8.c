#include "lite/base/utf8.h"

#include <assert.h>
#include <stdlib.h>
#include <utf8proc.h>

/* The bytes that may follow a first byte: their number, and the range of the second (Unicode table
 * 3-7). That range determines the "maximal broken parts": E0 80 is two of them. */
struct lead {
    unsigned more;
    unsigned char low, high;
};

static struct lead lead_of(unsigned char c, bool wtf)
{
    if (c < 0xC2 || c > 0xF4)
        return (struct lead){ 0, 0, 0 };
    if (c < 0xE0)
        return (struct lead){ 1, 0x80, 0xBF };
    if (c < 0xF0)
        return (struct lead){ 2, c == 0xE0 ? 0xA0 : 0x80, c == 0xED && !wtf ? 0x9F : 0xBF };
    return (struct lead){ 3, c == 0xF0 ? 0x90 : 0x80, c == 0xF4 ? 0x8F : 0xBF };
}

static struct slice utf8_skip_bytes(struct slice s, size_t n)
{
    if (n == 0)
        return s; /* which may point nowhere */
    return (struct slice){ s.p + n, s.n - n };
}

uint32_t utf8_next(struct slice *rest, bool wtf)
{
    const unsigned char *p = (const unsigned char *)rest->p;
    size_t n = rest->n, at = 1;
    assert(n > 0);
    uint32_t cp = p[0];

    if (cp < 0x80) {
        *rest = utf8_skip_bytes(*rest, 1);
        return cp;
    }
    struct lead lead = lead_of(p[0], wtf);

    cp &= 0x3Fu >> lead.more;
    for (; at <= lead.more && at < n && p[at] >= lead.low && p[at] <= lead.high; at++) {
        cp = cp << 6 | (p[at] & 0x3Fu);
        lead.low = 0x80;
        lead.high = 0xBF;
    }
    *rest = utf8_skip_bytes(*rest, at);
    return lead.more && at == lead.more + 1 ? cp : UTF8_REPLACEMENT;
}

size_t utf8_encode(char out[4], uint32_t cp)
{
    if (cp < 0x80) {
        out[0] = (char)cp;
        return 1;
    }
    size_t more = cp < 0x800 ? 1 : cp < 0x10000 ? 2 : 3;

    for (size_t i = more; i > 0; i--, cp >>= 6)
        out[i] = (char)(0x80 | (cp & 0x3F));
    out[0] = (char)(cp | (0xFF80u >> more & 0xFFu));
    return more + 1;
}

/* Bytes at the front that are ASCII. */
static size_t utf8_ascii_front(struct slice s)
{
    size_t i = 0;

    for (; s.n - i >= 8; i += 8) {
        uint64_t v;

        memcpy(&v, s.p + i, sizeof v);
        if (v & 0x8080808080808080u)
            break;
    }
    while (i < s.n && (unsigned char)s.p[i] < 0x80)
        i++;
    return i;
}

/* Cuts off the next character and returns true if it is whole. A real U+FFFD counts as whole. */
static bool next_whole(struct slice *rest)
{
    struct slice before = *rest;

    return utf8_next(rest, false) != UTF8_REPLACEMENT ||
           (before.n - rest->n == 3 && memcmp(before.p, "\xEF\xBF\xBD", 3) == 0);
}

size_t utf8_valid_prefix(struct slice text)
{
    struct slice rest = text;

    for (;;) {
        rest = utf8_skip_bytes(rest, utf8_ascii_front(rest));
        struct slice before = rest;

        if (rest.n == 0 || !next_whole(&rest))
            return text.n - before.n;
    }
}

bool utf8_valid(struct slice text)
{
    return utf8_valid_prefix(text) == text.n;
}

/* Writes the repaired text to out and returns its length; only counts if out is NULL. */
static size_t repair(struct slice rest, char *out)
{
    size_t n = 0;

    while (rest.n) {
        size_t whole = utf8_valid_prefix(rest);

        if (out && whole)
            memcpy(out + n, rest.p, whole);
        n += whole;
        rest = utf8_skip_bytes(rest, whole);
        if (rest.n == 0)
            break;
        utf8_next(&rest, false);
        if (out)
            memcpy(out + n, "\xEF\xBF\xBD", 3);
        n += 3;
    }
    return n;
}

bool utf8_repair(struct slice bytes, struct arena *a, struct slice *text)
{
    if (utf8_valid(bytes)) {
        *text = bytes;
        return true;
    }
    size_t n = repair(bytes, NULL);
    char *p = arena_alloc(a, n);

    if (!p)
        return false;
    repair(bytes, p);
    *text = (struct slice){ p, n };
    return true;
}

size_t utf8_utf16_length(struct slice text)
{
    size_t units = 0;

    for (;;) {
        size_t ascii = utf8_ascii_front(text);

        units += ascii;
        text = utf8_skip_bytes(text, ascii);
        if (text.n == 0)
            return units;
        units += utf8_next(&text, true) > 0xFFFF ? 2 : 1;
    }
}

struct slice utf8_utf16_prefix(struct slice text, size_t units)
{
    struct slice rest = text;

    while (rest.n && units) {
        size_t ascii = utf8_ascii_front((struct slice){ rest.p, rest.n < units ? rest.n : units });
        struct slice before = rest = utf8_skip_bytes(rest, ascii);

        units -= ascii;
        if (!rest.n || !units)
            break;
        size_t wide = utf8_next(&rest, true) > 0xFFFF ? 2 : 1;

        if (wide > units) {
            rest = before;
            break;
        }
        units -= wide;
    }
    return (struct slice){ text.p, text.n - rest.n };
}

bool utf8_is_js_space(uint32_t cp)
{
    if (cp < 0x80)
        return cp == ' ' || (cp >= '\t' && cp <= '\r');
    return cp == 0xA0 || cp == 0x1680 || (cp >= 0x2000 && cp <= 0x200A) || cp == 0x2028 ||
           cp == 0x2029 || cp == 0x202F || cp == 0x205F || cp == 0x3000 || cp == 0xFEFF;
}

/* Length of the blank at the end, or 0. Every blank has one to three bytes, and a first byte always
 * begins a character, so it is enough to try these lengths. */
static size_t space_at_end(struct slice text)
{
    for (size_t n = 1; n <= 3 && n <= text.n; n++) {
        struct slice last = utf8_skip_bytes(text, text.n - n);
        uint32_t cp = utf8_next(&last, true);

        if (last.n == 0 && utf8_is_js_space(cp))
            return n;
    }
    return 0;
}

struct slice utf8_js_trim(struct slice text)
{
    struct slice rest = text;

    while (rest.n && utf8_is_js_space(utf8_next(&rest, true)))
        text = rest;
    for (size_t n; (n = space_at_end(text)) > 0;)
        text.n -= n;
    return text;
}

/* No character below U+0300 changes, and none of these has a byte of 0xCC or more. */
static bool surely_nfc(struct slice text)
{
    for (size_t i = 0; i < text.n; i++)
        if ((unsigned char)text.p[i] >= 0xCC)
            return false;
    return utf8_valid(text);
}

/* utf8proc takes valid text only. A surrogate or a broken part composes with nothing, so the runs
 * between them can be normalised one by one. */
static enum err_code nfc_runs(struct buf *out, struct slice rest)
{
    enum err_code rc = ERR_OK;

    while (!rc && rest.n) {
        size_t whole = utf8_valid_prefix(rest);

        if (whole) {
            struct slice valid = { rest.p, whole };

            utf8proc_uint8_t *p = NULL;
            utf8proc_ssize_t n =
                utf8proc_map((const utf8proc_uint8_t *)valid.p, (utf8proc_ssize_t)valid.n, &p,
                             UTF8PROC_STABLE | UTF8PROC_COMPOSE);

            /* The text is valid, so it can only fail for lack of memory. */
            rc = ERR_NOMEM;

            if (n >= 0)
                rc = buf_add(out, (struct slice){ (const char *)p, (size_t)n });
            free(p);
        }
        rest = utf8_skip_bytes(rest, whole);
        if (!rc && rest.n) {
            char one[4];
            size_t n = utf8_encode(one, utf8_next(&rest, true));

            rc = buf_add(out, (struct slice){ one, n });
        }
    }
    return rc;
}

bool utf8_nfc(struct slice text, struct arena *a, struct slice *out)
{
    struct buf nfc = { 0 };

    if (surely_nfc(text)) {
        *out = text;
        return true;
    }
    bool ok = nfc_runs(&nfc, text) == ERR_OK;

    if (ok && slice_eq(buf_slice(&nfc), text)) {
        *out = text;
    } else if (ok) {
        struct slice copy = arena_copy(a, buf_slice(&nfc));

        ok = copy.p != NULL;
        if (ok)
            *out = copy;
    }
    buf_fini(&nfc);
    return ok;
}
