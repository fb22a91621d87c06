#ifndef TUI_WIDGETS_THEME_H
#define TUI_WIDGETS_THEME_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/base/slice.h"
#include "tui/widgets/frame.h"

/* The look of each style. The default uses the 16 colours of the terminal's own palette and so
 * respects the person's choice; a configuration may name up to 256. Without colours, attributes
 * carry the meaning. */
enum theme_attribute {
    THEME_BOLD = 1 << 0,
    THEME_DIM = 1 << 1,
    THEME_ITALIC = 1 << 2,
    THEME_UNDERLINE = 1 << 3,
    THEME_REVERSE = 1 << 4,
};

enum { THEME_DEFAULT_COLOUR = -1 }; /* the terminal's own foreground or background */

struct theme_style {
    int16_t fg, bg; /* 0 to 255, or THEME_DEFAULT_COLOUR */
    uint8_t attributes;
};

struct theme {
    struct theme_style look[STYLE_COUNT];
};

void theme_default(struct theme *t);
/* "bold bright-cyan on black", "208 on 17", "underline", "default". Returns false, and leaves *look
 * unchanged, if a word is not one of these. */
bool theme_parse_style(struct slice text, struct theme_style *look);
/* The style with this name ("title"); STYLE_COUNT if no style has it. */
enum style theme_find_style(struct slice name);
const char *theme_style_name(enum style style);

#endif
