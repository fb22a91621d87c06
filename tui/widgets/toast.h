#ifndef TUI_WIDGETS_TOAST_H
#define TUI_WIDGETS_TOAST_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "tui/widgets/frame.h"

/* Feedback at the bottom: one line, or a few if the screen is narrow. A message disappears by itself or at the next
 * key; an error stays until a key is pressed after it was on the screen. */
enum { TOAST_TEXT = 400 };

struct toast {
    char text[TOAST_TEXT]; /* "": none */
    /* Where an error's path is, which is cut in its middle; no bytes: no path. */
    size_t path, path_n;
    bool error;
    bool note; /* nothing was done: the reason, or a state */
    /* A prompt was refused: what is typed or pasted for it is dropped, until Enter, Esc, or a key that edits no text. */
    bool absorbs;
    int64_t until_ms; /* when a message disappears */
};

void toast_info(struct toast *t, int64_t now_ms, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* Shows a message that does not report success: a reason, or a state. */
void toast_note(struct toast *t, int64_t now_ms, const char *fmt, ...) PRINTF_LIKE(3, 4);
void toast_error(struct toast *t, const struct err *e);
void toast_error_text(struct toast *t, struct slice text);
void toast_no_memory(struct toast *t);
/* Called after a key: the message has been read. Returns true if there was one. */
bool toast_dismiss(struct toast *t);
/* Removes a message whose time is over. */
void toast_tick(struct toast *t, int64_t now_ms);
int64_t toast_wake_ms(const struct toast *t);
/* The number of lines that it takes in w columns; at least 1, even if there is nothing to draw. */
int toast_height(const struct toast *t, int w);
/* Returns false if there is nothing to draw. */
bool toast_draw(const struct toast *t, struct frame *f, struct rect r);

#endif
