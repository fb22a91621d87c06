#include "tui/widgets/theme.h"

#include <string.h>

enum { BLACK, RED, GREEN, YELLOW, BLUE, MAGENTA, CYAN, WHITE, BRIGHT = 8, GREY = BRIGHT + BLACK };

/* clang-format off */
static const struct theme_style defaults[STYLE_COUNT] = {
    [STYLE_TEXT] =        { THEME_DEFAULT_COLOUR, THEME_DEFAULT_COLOUR, 0 },
    [STYLE_DIM] =         { THEME_DEFAULT_COLOUR, THEME_DEFAULT_COLOUR, THEME_DIM },
    [STYLE_TITLE] =       { THEME_DEFAULT_COLOUR, THEME_DEFAULT_COLOUR, 0 },
    [STYLE_STRONG] =      { THEME_DEFAULT_COLOUR, THEME_DEFAULT_COLOUR, THEME_BOLD },
    [STYLE_EMPHASIS] =    { THEME_DEFAULT_COLOUR, THEME_DEFAULT_COLOUR, THEME_ITALIC },
    [STYLE_MATCH] =       { YELLOW,       THEME_DEFAULT_COLOUR, THEME_BOLD | THEME_UNDERLINE },
    [STYLE_MARK] =        { MAGENTA,      THEME_DEFAULT_COLOUR, THEME_BOLD },
    [STYLE_TAG] =         { MAGENTA,      THEME_DEFAULT_COLOUR, 0 },
    [STYLE_BRANCH] =      { CYAN,         THEME_DEFAULT_COLOUR, 0 },
    [STYLE_SYSTEM] =      { THEME_DEFAULT_COLOUR, THEME_DEFAULT_COLOUR, THEME_DIM },
    [STYLE_AGE] =         { THEME_DEFAULT_COLOUR, THEME_DEFAULT_COLOUR, THEME_DIM },
    [STYLE_LIVE] =        { GREEN,        THEME_DEFAULT_COLOUR, THEME_BOLD },
    [STYLE_WARN] =        { YELLOW,       THEME_DEFAULT_COLOUR, 0 },
    [STYLE_ERROR] =       { RED,          THEME_DEFAULT_COLOUR, THEME_BOLD },
    [STYLE_OK] =          { GREEN,        THEME_DEFAULT_COLOUR, 0 },
    [STYLE_BAR] =         { THEME_DEFAULT_COLOUR, THEME_DEFAULT_COLOUR, THEME_REVERSE },
    [STYLE_KEY] =         { THEME_DEFAULT_COLOUR, THEME_DEFAULT_COLOUR, THEME_BOLD },
    [STYLE_BORDER] =      { THEME_DEFAULT_COLOUR, THEME_DEFAULT_COLOUR, THEME_DIM },
    [STYLE_PROMPT] =      { CYAN,         THEME_DEFAULT_COLOUR, THEME_BOLD },
    [STYLE_TOOL] =        { BLUE,         THEME_DEFAULT_COLOUR, 0 },
    [STYLE_THINKING] =    { THEME_DEFAULT_COLOUR, THEME_DEFAULT_COLOUR, THEME_DIM | THEME_ITALIC },
    [STYLE_HEADING] =     { THEME_DEFAULT_COLOUR, THEME_DEFAULT_COLOUR, THEME_BOLD | THEME_UNDERLINE },
    [STYLE_CODE] =        { GREEN,        THEME_DEFAULT_COLOUR, 0 },
    [STYLE_QUOTE] =       { THEME_DEFAULT_COLOUR, THEME_DEFAULT_COLOUR, THEME_ITALIC },
    [STYLE_LINK] =        { BLUE,         THEME_DEFAULT_COLOUR, THEME_UNDERLINE },
    [STYLE_ADD] =         { GREEN,        THEME_DEFAULT_COLOUR, 0 },
    [STYLE_DELETE] =      { RED,          THEME_DEFAULT_COLOUR, 0 },
    [STYLE_HUNK] =        { CYAN,         THEME_DEFAULT_COLOUR, 0 },
    [STYLE_ADD_WORD] =    { GREEN,        THEME_DEFAULT_COLOUR, THEME_BOLD | THEME_UNDERLINE },
    [STYLE_DELETE_WORD] = { RED,          THEME_DEFAULT_COLOUR, THEME_BOLD | THEME_UNDERLINE },
    [STYLE_AGENT_1] =     { CYAN,         THEME_DEFAULT_COLOUR, THEME_DIM },
    [STYLE_AGENT_2] =     { GREEN,        THEME_DEFAULT_COLOUR, THEME_DIM },
    [STYLE_AGENT_3] =     { MAGENTA,      THEME_DEFAULT_COLOUR, THEME_DIM },
    [STYLE_AGENT_4] =     { YELLOW,       THEME_DEFAULT_COLOUR, THEME_DIM },
    [STYLE_AGENT_5] =     { BLUE,         THEME_DEFAULT_COLOUR, THEME_DIM },
    [STYLE_AGENT_6] =     { RED,          THEME_DEFAULT_COLOUR, THEME_DIM },
};

static const char *const style_names[STYLE_COUNT] = {
#define X(id, name) name,
    STYLES(X)
#undef X
};

static const struct {
    const char *name;
    uint8_t attribute;
} attributes[] = {
    { "bold", THEME_BOLD },           { "dim", THEME_DIM },
    { "italic", THEME_ITALIC },       { "underline", THEME_UNDERLINE },
    { "reverse", THEME_REVERSE },
};

static const char *const colours[] = {
    "black", "red", "green", "yellow", "blue", "magenta", "cyan", "white",
};
/* The colours of a theme, in place of the terminal's. */
struct palette {
    uint32_t ground, text, dim;
    uint32_t colour[WHITE]; /* RED to CYAN */
    bool light, own_ground;
};

/* Every colour has a contrast of at least 4.5 with its background (7 in `contrast`); the colours of
 * `light` have it with white and with the ivory of common light terminals. */
static const struct palette palettes[THEME_COUNT] = {
    [THEME_LIGHT] = { .ground = 0xffffff, .text = 0x1f2328, .dim = 0x5b6067, .light = true,
        .colour = { 0, 0xb0211a, 0x1c6b2a, 0x7d5200, 0x1a56b8, 0x8b2f97, 0x00646f } },
    [THEME_CONTRAST] = { .ground = 0x000000, .text = 0xffffff, .dim = 0xd0d0d0, .own_ground = true,
        .colour = { 0, 0xff9c9c, 0x6cff6c, 0xffff5c, 0xa8c8ff, 0xffa8ff, 0x6cffff } },
};

/* The terminal's own yellow, green and cyan cannot be read on white. */
static const int16_t on_white[] = { BLACK, RED, BLUE, MAGENTA, BLUE, MAGENTA, BLUE };
/* clang-format on */

static struct theme_style with_palette(struct theme_style look, const struct palette *p)
{
    uint32_t text = p->text;

    if (look.fg != THEME_DEFAULT_COLOUR)
        text = p->colour[look.fg];
    else if (look.attributes & THEME_DIM)
        text = p->dim;
    look.attributes &= (uint8_t)~THEME_DIM;
    /* In a theme without a background, plain text has the terminal's own colour. */
    look.fg = text == p->text && !p->own_ground ? THEME_DEFAULT_COLOUR : (int32_t)text | THEME_RGB;
    look.bg = p->own_ground ? (int32_t)p->ground | THEME_RGB : THEME_DEFAULT_COLOUR;
    return look;
}

void theme_fill(struct theme *t, enum theme_id id)
{
    const struct palette *p = &palettes[id];

    for (int i = 0; i < STYLE_COUNT; i++) {
        const struct theme_style look = defaults[i];

        t->look[i] = id == THEME_DARK ? look : with_palette(look, p);
        t->few_colours[i] = look;
        if (p->light && look.fg != THEME_DEFAULT_COLOUR)
            t->few_colours[i].fg = on_white[look.fg];
    }
}

enum style theme_find_style(struct slice name)
{
    for (int i = 0; i < STYLE_COUNT; i++)
        if (slice_eq(name, slice_of(style_names[i])))
            return (enum style)i;
    return STYLE_COUNT;
}

const char *theme_style_name(enum style style)
{
    return style_names[style];
}

/* "#ff8800" */
static bool parse_rgb(struct slice word, int32_t *colour)
{
    static const char digits[] = "0123456789abcdef";
    int32_t n = 0;

    if (word.n != 7 || word.p[0] != '#')
        return false;
    for (size_t i = 1; i < word.n; i++) {
        char c = word.p[i];
        const char *at = memchr(digits, c >= 'A' && c <= 'F' ? c | 0x20 : c, sizeof digits - 1);

        if (!at)
            return false;
        n = n << 4 | (int32_t)(at - digits);
    }
    *colour = n | THEME_RGB;
    return true;
}

static bool parse_number(struct slice word, int32_t *colour)
{
    int n = 0;

    if (word.n == 0 || word.n > 3)
        return false;
    for (size_t i = 0; i < word.n; i++) {
        if (word.p[i] < '0' || word.p[i] > '9')
            return false;
        n = n * 10 + (word.p[i] - '0');
    }
    *colour = n;
    return n < 256;
}

static bool parse_colour(struct slice word, int32_t *colour)
{
    static const char bright[] = "bright-";
    int16_t base = 0;

    if (slice_eq(word, SLICE("default"))) {
        *colour = THEME_DEFAULT_COLOUR;
        return true;
    }
    if (slice_eq(word, SLICE("grey")) || slice_eq(word, SLICE("gray"))) {
        *colour = GREY;
        return true;
    }
    if (word.n > sizeof bright - 1 && memcmp(word.p, bright, sizeof bright - 1) == 0) {
        word.p += sizeof bright - 1;
        word.n -= sizeof bright - 1;
        base = BRIGHT;
    }
    for (int i = 0; i < BRIGHT; i++)
        if (slice_eq(word, slice_of(colours[i]))) {
            *colour = base + i;
            return true;
        }
    return base == 0 && (parse_number(word, colour) || parse_rgb(word, colour));
}

bool theme_parse_style(struct slice text, struct theme_style *look)
{
    struct theme_style made = { THEME_DEFAULT_COLOUR, THEME_DEFAULT_COLOUR, 0 };
    int32_t *next = &made.fg;

    while (text.n > 0) {
        const char *blank = memchr(text.p, ' ', text.n);
        struct slice word = { text.p, blank ? (size_t)(blank - text.p) : text.n };
        const size_t used = word.n + (blank != NULL), n = sizeof attributes / sizeof *attributes;
        size_t i = 0;

        text = (struct slice){ text.p + used, text.n - used };
        while (i < n && !slice_eq(word, slice_of(attributes[i].name)))
            i++;
        if (i < n)
            made.attributes |= attributes[i].attribute;
        else if (slice_eq(word, SLICE("on")))
            next = &made.bg;
        else if (word.n > 0 && !parse_colour(word, next))
            return false;
    }
    *look = made;
    return true;
}
