#ifndef TUI_COMMANDS_OUT_H
#define TUI_COMMANDS_OUT_H

#include <stdbool.h>

#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"

/* Where a command's answer goes. Rows are gathered and written in pieces of OUT_PIECE, so that a long
 * answer streams and costs no memory. Each call reports its own failure; a caller stops at the first.
 *
 * Nothing that clean.h calls a sign leaves as itself, but for what ASCII has of them: DEL, C1, bidi, zero-width and tag
 * characters are written as JSON escapes them (\u009b). Text for people was cleaned and has none; in JSON they are
 * inside of strings. Pieces end where rows do, so no character is cut.
 *
 * A reader that went away (EPIPE) is no failure of the command: it is ERR_CANCELLED with `closed` set,
 * which stops the work and ends the program quietly. */
struct out {
    int fd;
    struct buf buf; /* what is not written yet; jsonout may write here */
    bool closed;
    bool ascii;     /* a terminal that knows nothing else: its locale is no UTF-8 one */
    bool color;     /* may be styled with escape sequences of our own */
    size_t columns; /* of the terminal that the answer goes to; 0: it goes elsewhere */
    bool raw;       /* the bytes of a file: written as they are */
};

enum { OUT_PIECE = 32 * 1024 };

void out_init(struct out *o, int fd);
/* Forgets what was not flushed. */
void out_fini(struct out *o);
/* Bytes of our own: literals, JSON, numbers. */
MUST_CHECK enum err_code out_add(struct out *o, struct slice bytes, struct err *e);
MUST_CHECK enum err_code out_addf(struct out *o, struct err *e, const char *fmt, ...)
    PRINTF_LIKE(3, 4);
/* Text from disk, for people: cleaned, so that nothing in it acts on a terminal. */
MUST_CHECK enum err_code out_text(struct out *o, struct slice text, struct err *e);
/* How what follows looks, until OUT_PLAIN; nothing where `color` is off. Colours of the terminal's own palette. */
enum out_style { OUT_PLAIN, OUT_AGE, OUT_BRANCH, OUT_TAG, OUT_FLAGS };
MUST_CHECK enum err_code out_style(struct out *o, enum out_style look, struct err *e);
/* After each row: writes when a piece is full. */
MUST_CHECK enum err_code out_row(struct out *o, struct err *e);
MUST_CHECK enum err_code out_flush(struct out *o, struct err *e);

/* Writes "reprise: PATH-OR-ID: what: why" to fd as exactly one clean line. */
void out_report(int fd, const struct err *e);

#endif
