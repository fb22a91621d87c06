#include "lite/json/json.h"

#include "lite/base/utf8.h"
#include "lite/json/scan.h"

/* Strings: from what stands between the quotes to the text it says. */

static bool hex_digit(char c, uint32_t *unit)
{
    uint32_t low = (unsigned char)c | 0x20u;

    if (c >= '0' && c <= '9')
        *unit = *unit << 4 | (uint32_t)(c - '0');
    else if (low >= 'a' && low <= 'f')
        *unit = *unit << 4 | (low - 'a' + 10);
    else
        return false;
    return true;
}

/* \uXXXX at p. */
static bool hex_unit(const char *p, const char *end, uint32_t *unit)
{
    *unit = 0;
    if (end - p < 6 || p[0] != '\\' || p[1] != 'u')
        return false;
    for (int i = 2; i < 6; i++)
        if (!hex_digit(p[i], unit))
            return false;
    return true;
}

/* What a letter behind a backslash says; 0: it is none that says anything. */
static const char says[256] = {
    ['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
    ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t',
};

/* One escape at the front of *rest; a high and a low surrogate in a row are one character. A bad escape
 * is its backslash, and what follows stands for itself. */
static uint32_t next_escape(struct slice *rest)
{
    const char *p = rest->p, *end = p + rest->n;
    char letter = rest->n > 1 ? says[(unsigned char)p[1]] : '\0';
    uint32_t high, low;
    size_t used = 1;
    uint32_t cp = '\\';

    if (letter) {
        used = 2;
        cp = (unsigned char)letter;
    } else if (hex_unit(p, end, &high)) {
        used = 6;
        cp = high;
        if (high >> 10 == 0xD800 >> 10 && hex_unit(p + 6, end, &low) && low >> 10 == 0xDC00 >> 10) {
            used = 12;
            cp = 0x10000 + ((high & 0x3FF) << 10 | (low & 0x3FF));
        }
    }
    *rest = (struct slice){ p + used, rest->n - used };
    return cp;
}

static uint32_t next_char(struct slice *rest)
{
    return *rest->p == '\\' ? next_escape(rest) : utf8_next(rest, false);
}

/* What stands between the quotes. */
static bool unquote(struct slice quoted, struct slice *text)
{
    if (quoted.n < 2 || *quoted.p != '"')
        return false;
    const char *end = scan_string_end(quoted.p + 1, quoted.p + quoted.n);

    if (!end)
        return false;
    *text = (struct slice){ quoted.p + 1, (size_t)(end - quoted.p) - 1 };
    return true;
}

/* A letter that stands for itself tells most strings apart, however long they are. */
static bool begins_otherwise(struct slice quoted, const char *text)
{
    char c = quoted.n > 1 ? quoted.p[1] : '"';

    return c != *text && c != '"' && c != '\\' && (unsigned char)c < 0x80;
}

bool json_string_is(struct slice quoted, const char *text)
{
    struct slice rest;

    if (begins_otherwise(quoted, text) || !unquote(quoted, &rest))
        return false;
    while (rest.n) {
        char one[4];
        size_t n = utf8_encode(one, next_char(&rest));

        for (size_t i = 0; i < n; i++, text++)
            if (*text == '\0' || *text != one[i])
                return false;
    }
    return *text == '\0';
}

/* The text up to the next backslash is copied as it is: the caller knows that it is valid UTF-8. */
static size_t decode_valid(struct slice rest, char *out)
{
    size_t n = 0;

    while (rest.n) {
        const char *escape = memchr(rest.p, '\\', rest.n);
        size_t run = escape ? (size_t)(escape - rest.p) : rest.n;

        memcpy(out + n, rest.p, run);
        n += run;
        rest = (struct slice){ rest.p + run, rest.n - run };
        if (rest.n)
            n += utf8_encode(out + n, next_escape(&rest));
    }
    return n;
}

bool json_text(struct slice value, struct arena *a, struct slice *text)
{
    struct slice rest, clean;

    if (!unquote(value, &rest) || !utf8_repair(rest, a, &clean))
        return false;
    if (!clean.n || !memchr(clean.p, '\\', clean.n)) {
        *text = clean;
        return true;
    }
    /* No escape says more bytes than it is written with. */
    char *p = arena_alloc(a, clean.n);

    if (!p)
        return false;
    *text = (struct slice){ p, decode_valid(clean, p) };
    return true;
}
