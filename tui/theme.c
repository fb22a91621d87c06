#include "tui/theme.h"

#include <string.h>

enum { BLACK, RED, GREEN, YELLOW, BLUE, MAGENTA, CYAN, WHITE, BRIGHT = 8, GREY = BRIGHT + BLACK };

/* clang-format off */
static const struct look defaults[STYLE_COUNT] = {
    [STYLE_TEXT] =        { LOOK_DEFAULT, LOOK_DEFAULT, 0 },
    [STYLE_DIM] =         { LOOK_DEFAULT, LOOK_DEFAULT, LOOK_DIM },
    [STYLE_TITLE] =       { LOOK_DEFAULT, LOOK_DEFAULT, 0 },
    [STYLE_STRONG] =      { LOOK_DEFAULT, LOOK_DEFAULT, LOOK_BOLD },
    [STYLE_EMPHASIS] =    { LOOK_DEFAULT, LOOK_DEFAULT, LOOK_ITALIC },
    [STYLE_MATCH] =       { YELLOW,       LOOK_DEFAULT, LOOK_BOLD | LOOK_UNDERLINE },
    [STYLE_MARK] =        { MAGENTA,      LOOK_DEFAULT, LOOK_BOLD },
    [STYLE_TAG] =         { MAGENTA,      LOOK_DEFAULT, 0 },
    [STYLE_BRANCH] =      { CYAN,         LOOK_DEFAULT, 0 },
    [STYLE_SYSTEM] =      { LOOK_DEFAULT, LOOK_DEFAULT, LOOK_DIM },
    [STYLE_AGE] =         { LOOK_DEFAULT, LOOK_DEFAULT, LOOK_DIM },
    [STYLE_LIVE] =        { GREEN,        LOOK_DEFAULT, LOOK_BOLD },
    [STYLE_WARN] =        { YELLOW,       LOOK_DEFAULT, 0 },
    [STYLE_ERROR] =       { RED,          LOOK_DEFAULT, LOOK_BOLD },
    [STYLE_OK] =          { GREEN,        LOOK_DEFAULT, 0 },
    [STYLE_BAR] =         { LOOK_DEFAULT, LOOK_DEFAULT, LOOK_REVERSE },
    [STYLE_KEY] =         { LOOK_DEFAULT, LOOK_DEFAULT, LOOK_BOLD },
    [STYLE_BORDER] =      { LOOK_DEFAULT, LOOK_DEFAULT, LOOK_DIM },
    [STYLE_PROMPT] =      { CYAN,         LOOK_DEFAULT, LOOK_BOLD },
    [STYLE_TOOL] =        { BLUE,         LOOK_DEFAULT, 0 },
    [STYLE_THINKING] =    { LOOK_DEFAULT, LOOK_DEFAULT, LOOK_DIM | LOOK_ITALIC },
    [STYLE_HEADING] =     { LOOK_DEFAULT, LOOK_DEFAULT, LOOK_BOLD | LOOK_UNDERLINE },
    [STYLE_CODE] =        { GREEN,        LOOK_DEFAULT, 0 },
    [STYLE_QUOTE] =       { LOOK_DEFAULT, LOOK_DEFAULT, LOOK_ITALIC },
    [STYLE_LINK] =        { BLUE,         LOOK_DEFAULT, LOOK_UNDERLINE },
    [STYLE_ADD] =         { GREEN,        LOOK_DEFAULT, 0 },
    [STYLE_DELETE] =      { RED,          LOOK_DEFAULT, 0 },
    [STYLE_HUNK] =        { CYAN,         LOOK_DEFAULT, 0 },
    [STYLE_ADD_WORD] =    { GREEN,        LOOK_DEFAULT, LOOK_BOLD | LOOK_UNDERLINE },
    [STYLE_DELETE_WORD] = { RED,          LOOK_DEFAULT, LOOK_BOLD | LOOK_UNDERLINE },
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
    { "bold", LOOK_BOLD },           { "dim", LOOK_DIM },
    { "italic", LOOK_ITALIC },       { "underline", LOOK_UNDERLINE },
    { "reverse", LOOK_REVERSE },
};

static const char *const colours[] = {
    "black", "red", "green", "yellow", "blue", "magenta", "cyan", "white",
};
/* clang-format on */

void theme_default(struct theme *t)
{
    memcpy(t->look, defaults, sizeof defaults);
}

enum style style_named(struct slice name)
{
    for (int i = 0; i < STYLE_COUNT; i++)
        if (slice_eq(name, slice_of(style_names[i])))
            return (enum style)i;
    return STYLE_COUNT;
}

static bool is(struct slice text, const char *word)
{
    return slice_eq(text, slice_of(word));
}

static bool parse_number(struct slice word, int16_t *colour)
{
    int n = 0;

    if (word.n == 0 || word.n > 3)
        return false;
    for (size_t i = 0; i < word.n; i++) {
        if (word.p[i] < '0' || word.p[i] > '9')
            return false;
        n = n * 10 + (word.p[i] - '0');
    }
    *colour = (int16_t)n;
    return n < 256;
}

static bool parse_colour(struct slice word, int16_t *colour)
{
    static const char bright[] = "bright-";
    int16_t base = 0;

    if (is(word, "default")) {
        *colour = LOOK_DEFAULT;
        return true;
    }
    if (is(word, "grey") || is(word, "gray")) {
        *colour = GREY;
        return true;
    }
    if (word.n > sizeof bright - 1 && memcmp(word.p, bright, sizeof bright - 1) == 0) {
        word.p += sizeof bright - 1;
        word.n -= sizeof bright - 1;
        base = BRIGHT;
    }
    for (int i = 0; i < BRIGHT; i++)
        if (is(word, colours[i])) {
            *colour = (int16_t)(base + i);
            return true;
        }
    return base == 0 && parse_number(word, colour);
}

static bool parse_attribute(struct slice word, uint8_t *set)
{
    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++)
        if (is(word, attributes[i].name)) {
            *set |= attributes[i].attribute;
            return true;
        }
    return false;
}

static bool take_word(struct slice *rest, struct slice *word)
{
    while (rest->n && rest->p[0] == ' ') {
        rest->p++;
        rest->n--;
    }
    *word = (struct slice){ rest->p, 0 };
    while (rest->n && rest->p[0] != ' ') {
        rest->p++;
        rest->n--;
        word->n++;
    }
    return word->n > 0;
}

bool look_parse(struct slice text, struct look *look)
{
    struct look made = { LOOK_DEFAULT, LOOK_DEFAULT, 0 };
    int16_t *next = &made.fg;
    struct slice word;

    while (take_word(&text, &word)) {
        if (is(word, "on"))
            next = &made.bg;
        else if (!parse_attribute(word, &made.attributes) && !parse_colour(word, next))
            return false;
    }
    *look = made;
    return true;
}
