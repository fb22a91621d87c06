#ifndef TUI_THEME_H
#define TUI_THEME_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/slice.h"
#include "tui/frame.h"

/* What each style looks like. The 16 colours of the terminal's own palette, so that what the person chose for
 * their terminal is respected; a configuration may name up to 256. Attributes carry the meaning where there
 * are no colours. */
enum look_attribute {
    LOOK_BOLD = 1 << 0,
    LOOK_DIM = 1 << 1,
    LOOK_ITALIC = 1 << 2,
    LOOK_UNDERLINE = 1 << 3,
    LOOK_REVERSE = 1 << 4,
};

enum { LOOK_DEFAULT = -1 }; /* the terminal's own foreground or background */

struct look {
    int16_t fg, bg; /* 0 to 255, or LOOK_DEFAULT */
    uint8_t attributes;
};

struct theme {
    struct look look[STYLE_COUNT];
};

void theme_default(struct theme *t);
/* "bold bright-cyan on black", "208 on 17", "underline", "default". False when a word is none of them;
 * *look is then unchanged. */
bool look_parse(struct slice text, struct look *look);
/* Which style has this name ("title")? STYLE_COUNT: none. */
enum style style_named(struct slice name);

#endif
