#include "tui/text/clean.h"

#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include <utf8proc.h>

#include "lite/base/cleanup.h"
#include "lite/base/utf8.h"

static int width_by_category(uint32_t cp)
{
    int width = utf8proc_charwidth((utf8proc_int32_t)cp);

    switch (utf8proc_category((utf8proc_int32_t)cp)) {
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP: return -1;
    case UTF8PROC_CATEGORY_MC: return width ? width : 1; /* utf8proc: 0 for most */
    default: return width;
    }
}

int text_width(uint32_t cp)
{
    if (cp < 0x7F)
        return cp < 0x20 ? -1 : 1;
    if (cp > 0x10FFFF)
        return -1;
    int width = width_by_category(cp);

    /* The two libraries know different versions of Unicode; in a single-byte locale wcwidth knows
     * none. */
    return width < 0 || MB_CUR_MAX == 1 ? width : wcwidth((wchar_t)cp);
}

bool text_width_breaks(uint32_t before, uint32_t next, int32_t *state)
{
    return utf8proc_grapheme_break_stateful((utf8proc_int32_t)before, (utf8proc_int32_t)next,
                                            state);
}

bool text_width_pictograph(uint32_t cp)
{
    return utf8proc_get_property((utf8proc_int32_t)cp)->boundclass ==
           UTF8PROC_BOUNDCLASS_EXTENDED_PICTOGRAPHIC;
}

enum {
    MARKS_MAX = 4,
    ZWNJ = 0x200C,
    ZWJ = 0x200D,
    DOTTED_CIRCLE = 0x25CC,
    FIRST_JOINING_SCRIPT = 0x0600, /* Arabic ... Khmer, Mongolian: scripts spelt with joiners */
    LAST_JOINING_SCRIPT = 0x18AF,
};

void clean_begin(struct clean *c, struct slice text)
{
    *c = (struct clean){ .text = text };
}

/* Reads the character at `at` and the offset of the next one. Returns false at the end. */
static bool peek(const struct clean *c, size_t at, uint32_t *cp, size_t *next)
{
    if (at >= c->text.n)
        return false;
    unsigned char byte = (unsigned char)c->text.p[at];

    if (byte < 0x80) {
        *cp = byte;
        *next = at + 1;
        return true;
    }
    struct slice rest = { c->text.p + at, c->text.n - at };

    *cp = utf8_next(&rest, true);
    if (*cp >= 0xD800 && *cp <= 0xDFFF) /* a surrogate */
        *cp = UTF8_REPLACEMENT;
    *next = c->text.n - rest.n;
    return true;
}

static bool clean_is_selector(uint32_t cp)
{
    return (cp >= 0xFE00 && cp <= 0xFE0F) || (cp >= 0xE0100 && cp <= 0xE01EF);
}

static bool is_skin_tone(uint32_t cp)
{
    return cp >= 0x1F3FB && cp <= 0x1F3FF;
}

/* Zero columns and nothing visible, so text could be hidden in it. */
static bool clean_is_invisible_mark(uint32_t cp)
{
    return clean_is_selector(cp) || cp == 0x034F || cp == 0x17B4 || cp == 0x17B5 || cp == 0x1160 ||
           (cp >= 0x180B && cp <= 0x180F);
}

bool clean_is_sign(uint32_t cp)
{
    return text_width(cp) < 0 || clean_is_invisible_mark(cp);
}

static void append_to_glyph(struct glyph *g, uint32_t cp)
{
    char utf8[4];
    size_t n = utf8_encode(utf8, cp);

    if (g->len + n > GLYPH_BYTES)
        return;
    memcpy(g->bytes + g->len, utf8, n);
    g->len = (uint8_t)(g->len + n);
}

static void clean_make_sign(struct glyph *g, uint32_t cp)
{
    int n;

    g->kind = GLYPH_SIGN;
    if (cp < 0x20 || cp == 0x7F)
        n = snprintf(g->bytes, sizeof g->bytes, "^%c", (char)(cp ^ 0x40));
    else if (cp < 0xA0)
        n = snprintf(g->bytes, sizeof g->bytes, "<%02X>", (unsigned)cp);
    else
        n = snprintf(g->bytes, sizeof g->bytes, "<U+%04X>", (unsigned)cp);
    g->len = g->width = (uint8_t)n;
}

/* Returns true if cp, which follows `before` in one cluster, is an ordinary part of the cluster
 * that is left out. */
static bool clean_is_silent(const struct clean *c, uint32_t before, uint32_t cp, size_t next)
{
    uint32_t follower = 0;
    size_t ignored;

    if (clean_is_selector(cp))
        return !clean_is_invisible_mark(before) && text_width(before) > 0;
    if (is_skin_tone(cp))
        return text_width_pictograph(before) || clean_is_selector(before);
    if (cp != ZWJ && cp != ZWNJ)
        return false;
    if (before >= FIRST_JOINING_SCRIPT && before <= LAST_JOINING_SCRIPT)
        return true;
    return cp == ZWJ && peek(c, next, &follower, &ignored) && text_width_pictograph(follower) &&
           (text_width_pictograph(before) || clean_is_selector(before) || is_skin_tone(before));
}

/* Adds the marks on the base, and skips the silent parts of its cluster. */
static void add_marks(struct clean *c, struct glyph *g)
{
    uint32_t cp;
    size_t next;
    int marks = 0;

    while (peek(c, c->at, &cp, &next)) {
        int32_t state = c->state;

        if (cp < 0x80 || text_width_breaks(c->before, cp, &state))
            return;
        bool silent = clean_is_silent(c, c->before, cp, next);

        if (!silent && (text_width(cp) != 0 || clean_is_invisible_mark(cp)))
            return;
        if (!silent && marks++ < MARKS_MAX)
            append_to_glyph(g, cp);
        c->state = state;
        c->before = cp;
        c->at = next;
    }
}

bool clean_next(struct clean *c, struct glyph *g)
{
    uint32_t cp;
    size_t next;

    if (!peek(c, c->at, &cp, &next))
        return false;

    /* Most text is ASCII, which needs no tables and never joins the character before it. */
    if (cp < 0x80) {
        char byte = (char)cp;

        *g = (struct glyph){ .bytes = { byte }, .len = 1, .width = 1, .at = c->at };
        if (byte == '\t' || byte == '\n') {
            g->bytes[0] = ' ';
            g->kind = byte == '\n' ? GLYPH_NEWLINE : GLYPH_BLANK;
        } else if (byte == ' ') {
            g->kind = GLYPH_BLANK;
        } else if (byte < 0x20 || byte == 0x7F) {
            clean_make_sign(g, (unsigned char)byte);
        }
        c->before = (unsigned char)byte;
        c->state = 0;
        c->at++;

        if (g->kind == GLYPH_TEXT || g->kind == GLYPH_BLANK)
            add_marks(c, g);
        return true;
    }

    *g = (struct glyph){ .at = c->at };
    int width = text_width(cp);

    g->joined = c->at > 0 && !text_width_breaks(c->before, cp, &c->state);
    c->before = cp;
    c->at = next;

    if (clean_is_sign(cp)) {
        g->joined = false;
        clean_make_sign(g, cp);
        return true;
    }

    /* A mark without a base would combine with the cell on its left, so it gets a base of its own. */
    if (width == 0) {
        append_to_glyph(g, DOTTED_CIRCLE);
        width = 1;
    }
    append_to_glyph(g, cp);
    g->width = (uint8_t)width;
    add_marks(c, g);
    return true;
}

size_t clean_cluster_width(const struct clean *c)
{
    struct clean ahead = *c;
    struct glyph g;

    if (!clean_next(&ahead, &g))
        return 0;
    size_t width = g.width;

    while (ahead.at < ahead.text.n && (unsigned char)ahead.text.p[ahead.at] >= 0x80 &&
           clean_next(&ahead, &g) && g.joined)
        width += g.width;
    return width;
}

size_t clean_width(struct slice text)
{
    struct clean c;
    struct glyph g;
    size_t width = 0;

    clean_begin(&c, text);
    while (clean_next(&c, &g))
        width += g.width;
    return width;
}

enum err_code clean_add(struct buf *out, struct slice text)
{
    struct clean c;
    struct glyph g;

    clean_begin(&c, text);
    while (clean_next(&c, &g)) {
        TRY(buf_add(out, (struct slice){ g.bytes, g.len }));
    }
    return ERR_OK;
}

bool clean_locale_is_utf8(void)
{
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

static char plain_punctuation(uint32_t cp)
{
    static const struct {
        uint32_t first, last;
        char plain;
    } known[] = {
        { 0x2010, 0x2015, '-' }, { 0x2018, 0x201B, '\'' }, { 0x201C, 0x201F, '"' },
        { 0x2022, 0x2022, '*' }, { 0x2026, 0x2026, '~' },  { 0x2039, 0x2039, '<' },
        { 0x203A, 0x203A, '>' }, { 0x2190, 0x2190, '<' },  { 0x2192, 0x2192, '>' },
        { 0x00A0, 0x00A0, ' ' }, { 0x00AB, 0x00AB, '"' },  { 0x00B7, 0x00B7, '.' },
        { 0x00BB, 0x00BB, '"' }, { 0x00D7, 0x00D7, 'x' },
    };

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (cp >= known[i].first && cp <= known[i].last)
            return known[i].plain;
    return '?';
}

char clean_ascii_fallback(struct slice character)
{
    enum { PARTS = 32 };
    utf8proc_int32_t part[PARTS];
    uint32_t cp = character.n ? utf8_next(&character, true) : ' ';
    int last = 0;

    if (plain_punctuation(cp) != '?')
        return plain_punctuation(cp);
    if (cp >= 0x80 && utf8proc_decompose_char((utf8proc_int32_t)cp, part, PARTS,
                                              UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT, &last) > 0)
        cp = (uint32_t)part[0];
    return cp >= 0x20 && cp < 0x7F ? (char)cp : '?';
}

enum err_code clean_add_ascii(struct buf *out, struct slice text)
{
    struct clean c;
    struct glyph g;
    enum err_code rc = ERR_OK;

    clean_begin(&c, text);
    while (!rc && clean_next(&c, &g)) {
        if (g.kind == GLYPH_SIGN) {
            rc = buf_add(out, (struct slice){ g.bytes, g.len });
            continue;
        }
        rc = buf_add_byte(out, clean_ascii_fallback((struct slice){ g.bytes, g.len }));
        for (int i = 1; i < g.width && !rc; i++)
            rc = buf_add_byte(out, ' ');
    }
    return rc;
}

size_t clean_noise(struct slice text, size_t at)
{
    size_t end = at + 2;

    if (at >= text.n)
        return 0;
    if (text.p[at] == '\r')
        return at + 1 < text.n && text.p[at + 1] == '\n' ? 1 : 0;
    if (text.p[at] != '\x1b' || text.n - at < 3 || text.p[at + 1] != '[')
        return 0;
    while (end < text.n && end - at < 32 && strchr("0123456789;:", text.p[end]) && text.p[end])
        end++;
    return end < text.n && text.p[end] == 'm' ? end + 1 - at : 0;
}

struct slice text_path_short(struct slice path, struct slice home, char *out, size_t cap)
{
    if (home.n < 2 || path.n < home.n || memcmp(path.p, home.p, home.n) != 0)
        return path;
    size_t rest = path.n - home.n;

    if ((rest > 0 && path.p[home.n] != '/') || rest + 1 > cap)
        return path;
    out[0] = '~';
    memcpy(out + 1, path.p + home.n, rest);
    return (struct slice){ out, rest + 1 };
}

struct slice text_path_last(struct slice path)
{
    const bool windows =
        path.n && path.p[0] != '/'; /* a relative one has no backslash of its own */

    while (path.n > 1 && path.p[path.n - 1] == '/')
        path.n--;
    for (size_t i = path.n; i-- > 0;)
        if ((path.p[i] == '/' || (windows && path.p[i] == '\\')) && path.n > 1)
            return (struct slice){ path.p + i + 1, path.n - i - 1 };
    return path;
}
