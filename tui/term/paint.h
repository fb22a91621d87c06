#ifndef TUI_TERM_PAINT_H
#define TUI_TERM_PAINT_H

#include <stdbool.h>

#include "tui/config/config.h"
#include "tui/widgets/frame.h"
#include "tui/widgets/theme.h"

/* Draws frames on the curses screen. Rows that have not changed are not touched, and the screen is never cleared, so
 * that curses sends little more than the difference. */
struct paint {
    struct frame shown; /* the contents of the curses screen; no cells: not known */
    const struct theme *theme;
    bool utf8;               /* the locale; otherwise only ASCII is drawn */
    int colours;             /* 0: attributes only; 8, 16, 256 */
    short pair[STYLE_COUNT]; /* the curses pair of each style; 0: the terminal's own colours */
};

/* Called after newterm(). `wanted` is the setting; no_color counts with COLOURS_AUTO only. */
void paint_init(struct paint *p, const struct theme *theme, enum colours wanted, bool no_color);
void paint_fini(struct paint *p);
/* Forgets what is on the screen: the next frame is drawn whole. */
void paint_invalidate(struct paint *p);
/* Draws the rows that differ from the frame before. If out of memory nothing is drawn. */
void paint_frame(struct paint *p, const struct frame *f);

#endif
