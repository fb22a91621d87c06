#ifndef TUI_TERM_TERM_H
#define TUI_TERM_TERM_H

#include <stdbool.h>

#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "tui/config/settings.h"
#include "tui/widgets/frame.h"
#include "tui/widgets/theme.h"

/* The user's terminal, opened as /dev/tty, so that stdin and stdout may go elsewhere. While it is open, the screen is
 * ours; term_close(), a crash and a suspension restore everything.
 *
 * There is one terminal in a process: curses and the crash handlers know only one. */
struct terminal;

struct term_options {
    const char *type; /* $TERM */
    const struct theme *theme;
    enum colours colours;
    bool no_color; /* with COLOURS_AUTO: none */
    bool mouse;
};

/* ERR_USAGE if the process has no terminal, or the terminal cannot draw a screen. */
MUST_CHECK enum err_code term_open(const struct term_options *o, struct terminal **out,
                                   struct err *e);
void term_close(struct terminal *t); /* may be NULL */

/* The descriptor to wait for and to read keys from; it does not block. */
int term_input(const struct terminal *t);
/* The descriptor to write to; it blocks. For programs that take over the terminal. */
int term_output(const struct terminal *t);
/* The present size, at least 1; curses is resized, too. */
void term_size(struct terminal *t, int *rows, int *cols);
/* Restores the terminal for another program, and takes it again. */
void term_leave(struct terminal *t);
void term_enter(struct terminal *t);
/* Shows the frame: only the difference from the one before is sent. */
void term_paint(struct terminal *t, const struct frame *f);
/* Forgets what is on the screen: the next paint sends everything. */
void term_invalidate(struct terminal *t);
/* Copies text to the clipboard of the terminal (OSC 52). ERR_UNSUPPORTED if it is too long. */
MUST_CHECK enum err_code term_copy(struct terminal *t, struct slice text, struct err *e);

#endif
