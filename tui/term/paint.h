#ifndef TUI_TERM_PAINT_H
#define TUI_TERM_PAINT_H

#include <stdbool.h>

#include "tui/config/settings.h"
#include "tui/widgets/frame.h"
#include "tui/widgets/theme.h"

/* From frames to the curses screen. Rows that are as they were before are not touched, and the screen is never
 * cleared: curses then sends little more than what differs. */
struct paint {
    struct frame shown; /* what the curses screen holds; no cells: nothing is known */
    const struct theme *theme;
    bool utf8;               /* the locale; else curses would send bytes for characters */
    int colours;             /* 0: attributes only; 8, 16, 256 */
    short pair[STYLE_COUNT]; /* the curses pair of each style; 0: the terminal's own colours */
};

/* After newterm. wanted: what the person asked for; no_color counts with COLOURS_AUTO. */
void paint_init(struct paint *p, const struct theme *theme, enum colours wanted, bool no_color);
void paint_fini(struct paint *p);
void paint_invalidate(struct paint *p);
void paint_frame(struct paint *p, const struct frame *f);

#endif
