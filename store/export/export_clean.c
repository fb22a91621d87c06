#include "store/export/export_internal.h"

#include <stdio.h>
#include <string.h>

#include <utf8proc.h>

#include "lite/base/utf8.h"

enum {
    ZWNJ = 0x200C,
    ZWJ = 0x200D,
    FIRST_JOINING_SCRIPT = 0x0600, /* Arabic ... Mongolian: scripts spelt with joiners */
    LAST_JOINING_SCRIPT = 0x18AF,
};

static bool export_clean_is_selector(uint32_t cp)
{
    return (cp >= 0xFE00 && cp <= 0xFE0F) || (cp >= 0xE0100 && cp <= 0xE01EF);
}

static bool export_clean_is_invisible_mark(uint32_t cp)
{
    return cp == 0x034F || cp == 0x115F || cp == 0x1160 || cp == 0x17B4 || cp == 0x17B5 ||
           (cp >= 0x180B && cp <= 0x180F) || cp == 0x3164 || cp == 0xFFA0;
}

static bool is_pictograph(uint32_t cp)
{
    return utf8proc_get_property((utf8proc_int32_t)cp)->boundclass ==
               UTF8PROC_BOUNDCLASS_EXTENDED_PICTOGRAPHIC ||
           (cp >= 0x1F3FB && cp <= 0x1F3FF);
}

/* Returns true for a joiner or selector that belongs to the cluster of the character before it. */
static bool joins(const struct export_walk *w, uint32_t cp, struct slice behind)
{
    if (w->before == 0 || w->before == ' ' || w->before == '\n')
        return false;
    if (export_clean_is_selector(cp))
        return !export_clean_is_selector(w->before);
    if ((cp == ZWJ || cp == ZWNJ) && w->before >= FIRST_JOINING_SCRIPT &&
        w->before <= LAST_JOINING_SCRIPT)
        return true;
    if (cp != ZWJ || behind.n == 0 ||
        !(is_pictograph(w->before) || export_clean_is_selector(w->before)))
        return false;
    return is_pictograph(utf8_next(&behind, true));
}

static bool acts_or_hides(uint32_t cp)
{
    if (cp == '\t')
        return false;
    switch (utf8proc_category((utf8proc_int32_t)cp)) {
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP: return true;
    default: return export_clean_is_selector(cp) || export_clean_is_invisible_mark(cp);
    }
}

/* The CR of a CRLF, or the colour escapes in the output of programs. */
static size_t noise(struct slice text)
{
    size_t end = 2;

    if (text.p[0] == '\r')
        return text.n > 1 && text.p[1] == '\n' ? 1 : 0;
    if (text.p[0] != '\x1b' || text.n < 3 || text.p[1] != '[')
        return 0;
    while (end < text.n && end < 32 && text.p[end] && strchr("0123456789;:", text.p[end]))
        end++;
    return end < text.n && text.p[end] == 'm' ? end + 1 : 0;
}

static struct slice export_clean_make_sign(struct export_walk *w, uint32_t cp)
{
    int n;

    if (cp < 0x20 || cp == 0x7F)
        n = snprintf(w->sign, sizeof w->sign, "^%c", (char)(cp ^ 0x40));
    else if (cp < 0xA0)
        n = snprintf(w->sign, sizeof w->sign, "<%02X>", (unsigned)cp);
    else
        n = snprintf(w->sign, sizeof w->sign, "<U+%04X>", (unsigned)cp);
    return (struct slice){ w->sign, (size_t)n };
}

enum export_piece_kind export_walk_next(struct export_walk *w, struct slice *piece)
{
    uint32_t cp = 0;
    struct slice behind = { NULL, 0 };
    size_t n;

    while (w->rest.n && (n = noise(w->rest)) > 0)
        w->rest = (struct slice){ w->rest.p + n, w->rest.n - n };
    if (w->rest.n == 0)
        return EXPORT_PIECE_END;

    /* Characters that are shown as they are; the next other one is `cp`, and `behind` follows
     * it. */
    const char *p = w->rest.p, *end = p + w->rest.n;

    while (p < end) {
        if ((*p >= 0x20 && *p < 0x7F) || *p == '\t') {
            w->before = (unsigned char)*p++;
            continue;
        }
        behind = (struct slice){ p, (size_t)(end - p) };
        cp = utf8_next(&behind, true);
        bool broken =
            cp == UTF8_REPLACEMENT && (behind.p - p != 3 || memcmp(p, "\xEF\xBF\xBD", 3) != 0);

        if (broken || cp == '\n' || (acts_or_hides(cp) && !joins(w, cp, behind)))
            break;
        w->before = cp;
        p = behind.p;
    }

    n = (size_t)(p - w->rest.p);

    if (n > 0) {
        *piece = (struct slice){ w->rest.p, n };
        w->rest = (struct slice){ w->rest.p + n, w->rest.n - n };
        return EXPORT_PIECE_TEXT;
    }
    w->rest = behind;
    w->before = cp;
    *piece = SLICE("\n");
    if (cp == '\n')
        return EXPORT_PIECE_NEWLINE;
    *piece = SLICE("\xEF\xBF\xBD");
    if (cp == UTF8_REPLACEMENT || (cp >= 0xD800 && cp <= 0xDFFF))
        return EXPORT_PIECE_TEXT;
    *piece = export_clean_make_sign(w, cp);
    return EXPORT_PIECE_SIGN;
}

static bool export_clean_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

struct slice export_trim_end(struct slice text)
{
    while (text.n && export_clean_is_blank(text.p[text.n - 1]))
        text.n--;
    return text;
}

struct slice export_trim_line(struct slice text, size_t max)
{
    text = export_trim_end(text);
    while (text.n && export_clean_is_blank(*text.p)) {
        text.p++;
        text.n--;
    }
    if (text.n <= max)
        return text;
    for (text.n = max; text.n && ((unsigned char)text.p[text.n] & 0xc0) == 0x80;)
        text.n--;
    return text;
}

size_t export_longest_run(struct slice text, char c)
{
    size_t longest = 0, run = 0;

    for (size_t i = 0; i < text.n; i++) {
        run = text.p[i] == c ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}
