#ifndef TUI_TERM_PAINT_H
#define TUI_TERM_PAINT_H

#include <stdbool.h>

#include "lite/base/buf.h"
#include "tui/config/config.h"
#include "tui/widgets/frame.h"
#include "tui/widgets/theme.h"

/* Draws frames on the curses screen. Rows that have not changed are not touched, and the screen is never cleared, so
 * that curses sends little more than the difference. */
struct paint {
    struct frame shown; /* the contents of the curses screen; no cells: not known */
    const struct theme *theme;
    bool utf8;             /* the locale; otherwise only ASCII is drawn */
    int colours;           /* 0: attributes only; 8, 16, 256 */
    int pair[STYLE_COUNT]; /* the curses pair of each style; 0: the terminal's own colours */
    bool true_colour;  /* the terminal has 24 bits a colour; curses knows only 256 of them, so */
    int32_t slot[256]; /* these numbers stand for a THEME_RGB; 0: for themselves */
};

/* What is known of colours besides the terminal's entry. */
struct paint_colours {
    enum colours wanted; /* the setting */
    bool no_color;       /* NO_COLOR, and */
    bool true_colour;    /* COLORTERM: with COLOURS_AUTO only */
};

/* Called after newterm(). */
void paint_init(struct paint *p, const struct theme *theme, struct paint_colours c);
/* Another theme from the next frame on, which is drawn whole. */
void paint_set_theme(struct paint *p, const struct theme *theme);
/* Appends what curses has written, with true colours in place of the numbers that stand for them. */
MUST_CHECK enum err_code paint_expand(const struct paint *p, struct slice drawn, struct buf *out);
void paint_fini(struct paint *p);
/* Forgets what is on the screen: the next frame is drawn whole. */
void paint_invalidate(struct paint *p);
/* Draws the rows that differ from the frame before. If out of memory nothing is drawn. */
void paint_frame(struct paint *p, const struct frame *f);

#endif
