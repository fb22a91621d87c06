#ifndef TUI_WIDGETS_LIST_CURSOR_H
#define TUI_WIDGETS_LIST_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/app/action.h"

/* A cursor in rows of which only some fit on the screen.
 *
 * Invariant, after each call: at < n (0 where there is none), top <= at < top + fit, and no room is left below the last
 * row as long as rows are hidden above. */
struct list_cursor {
    size_t at, top;
};

/* Puts the cursor there, or as near as there are rows. */
void list_cursor_move(struct list_cursor *p, int64_t at, size_t n, size_t fit);
/* Moves it by a key; false: this is no action that moves. */
bool list_cursor_act(struct list_cursor *p, enum action a, size_t n, size_t fit);

#endif
