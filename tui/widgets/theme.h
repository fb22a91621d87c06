#ifndef TUI_WIDGETS_THEME_H
#define TUI_WIDGETS_THEME_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/base/slice.h"
#include "tui/widgets/frame.h"

/* The look of each style. The theme `dark` uses the 16 colours of the terminal's palette, which the
 * person may have chosen; `light` has colours that are readable on white; `contrast` sets its own
 * background. Without colours, attributes carry the meaning. */
#define THEMES(X)                                                                                  \
    X(DARK, "dark")                                                                                \
    X(LIGHT, "light")                                                                              \
    X(CONTRAST, "contrast")

enum theme_id {
#define X(id, name) THEME_##id,
    THEMES(X)
#undef X
        THEME_COUNT
};

enum theme_attribute {
    THEME_BOLD = 1 << 0,
    THEME_DIM = 1 << 1,
    THEME_ITALIC = 1 << 2,
    THEME_UNDERLINE = 1 << 3,
    THEME_REVERSE = 1 << 4,
};

enum {
    THEME_DEFAULT_COLOUR = -1, /* the terminal's own foreground or background */
    THEME_RGB = 1 << 24,       /* and 0xRRGGBB */
};

struct theme_style {
    int32_t fg, bg; /* 0 to 255, THEME_RGB | 0xRRGGBB, or THEME_DEFAULT_COLOUR */
    uint8_t attributes;
};

struct theme {
    struct theme_style look[STYLE_COUNT];
    /* used instead of `look` on a terminal with fewer than 256 colours */
    struct theme_style few_colours[STYLE_COUNT];
};

void theme_fill(struct theme *t, enum theme_id id);
/* "bold bright-cyan on black", "208 on 17", "#ff8800", "underline", "default". Returns false, and leaves *look
 * unchanged, if a word is not one of these. */
bool theme_parse_style(struct slice text, struct theme_style *look);
/* The style with this name ("title"); STYLE_COUNT if no style has it. */
enum style theme_find_style(struct slice name);
const char *theme_style_name(enum style style);

#endif
