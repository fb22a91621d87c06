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
    bool utf8;             /* the locale is UTF-8; otherwise only ASCII is drawn */
    int colours;           /* 0: attributes only; 8, 16, 256 */
    int pair[STYLE_COUNT]; /* the curses pair of each style; 0: the terminal's own colours */
    bool true_colour;      /* the terminal has 24-bit colours, but curses knows only 256, so */
    int32_t slot[256];     /* these numbers stand for a THEME_RGB; 0: for themselves */
};

/* Facts about colours that the terminal's description does not contain. */
struct paint_colours {
    enum colours wanted; /* the setting */
    bool no_color;       /* NO_COLOR, and */
    bool true_colour;    /* COLORTERM: with COLOURS_AUTO only */
};

/* Called after newterm(). */
void paint_init(struct paint *p, const struct theme *theme, struct paint_colours c);
/* Sets the theme for the next frame, which is then drawn completely. */
void paint_set_theme(struct paint *p, const struct theme *theme);
/* Appends what curses has written, with true colours in place of the numbers that stand for them. */
MUST_CHECK enum err_code paint_expand(const struct paint *p, struct slice drawn, struct buf *out);
void paint_fini(struct paint *p);
/* Forgets what is on the screen: the next frame is drawn completely. */
void paint_invalidate(struct paint *p);
/* Draws the rows that differ from the frame before. If out of memory nothing is drawn. */
void paint_frame(struct paint *p, const struct frame *f);

#endif
