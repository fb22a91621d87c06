#ifndef TUI_TERM_TERM_H
#define TUI_TERM_TERM_H

#include <stdbool.h>

#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "tui/config/settings.h"
#include "tui/widgets/frame.h"
#include "tui/widgets/theme.h"

/* The person's terminal: opened as /dev/tty, so that stdin and stdout may go elsewhere. While it is open, the
 * screen is ours; term_close, a crash and a suspension put everything back as it was found.
 *
 * One terminal a process: curses and the crash handlers know only one. */
struct terminal;

struct term_options {
    const char *type; /* $TERM */
    const struct theme *theme;
    enum colours colours;
    bool no_color; /* with COLOURS_AUTO: none */
    bool mouse;
};

/* ERR_USAGE: there is no terminal, or one that cannot draw a screen. */
MUST_CHECK enum err_code term_open(const struct term_options *o, struct terminal **out,
                                   struct err *e);
void term_close(struct terminal *t); /* NULL is fine */

/* The descriptor to wait on, and to read keys from without blocking. */
int term_input(const struct terminal *t);
/* The one that is written to, blocking; for programs that take the terminal over. */
int term_output(const struct terminal *t);
/* Asks how large it is now and makes curses follow. Never less than 1. */
void term_size(struct terminal *t, int *rows, int *cols);
/* Gives the terminal back for a while, and takes it again. */
void term_leave(struct terminal *t);
void term_enter(struct terminal *t);
/* Shows the frame: only what differs from the one before is sent. */
void term_paint(struct terminal *t, const struct frame *f);
/* Forgets what is on the screen: the next paint sends everything. */
void term_invalidate(struct terminal *t);
/* Puts text on the clipboard of the person's terminal (OSC 52). ERR_UNSUPPORTED: it is too long. */
MUST_CHECK enum err_code term_copy(struct terminal *t, struct slice text, struct err *e);

#endif
