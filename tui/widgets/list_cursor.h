#ifndef TUI_WIDGETS_LIST_CURSOR_H
#define TUI_WIDGETS_LIST_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/app/action.h"
#include "tui/app/key.h"
#include "tui/widgets/frame.h"

/* A cursor in a list of which only some rows fit on the screen. Every screen with rows uses it.
 *
 * Invariant, after each call: at < n (0 if there are no rows), top <= at < top + fit, and no line is left empty below
 * the last row as long as rows are hidden above. */
struct list_cursor {
    size_t at, top;
};

/* The rows on the screen: n of them, each one line high, as many as r has lines. */
struct list_area {
    struct rect r;
    size_t n;
};

/* Sets *by to the distance of a movement action in rows (FIRST and LAST: beyond any end). Returns
 * false if the action is not a movement. */
bool list_cursor_steps(enum action a, int64_t page, int64_t *by);
/* The first row to show, so that `at` is visible. A fit of 0 counts as 1. */
size_t list_cursor_top(size_t top, size_t at, size_t n, size_t fit);

/* Moves the cursor to this row, or to the nearest existing one. */
void list_cursor_move(struct list_cursor *c, struct list_area area, int64_t at);
/* Moves it by an action. Returns false if the action is not a movement. */
bool list_cursor_act(struct list_cursor *c, struct list_area area, enum action a);
/* The wheel moves by three rows, a click to the row under it. Returns true if a row was clicked. */
bool list_cursor_mouse(struct list_cursor *c, struct list_area area, struct mouse mouse);
/* Finds the row at a point of the screen. Returns false if no row is there. */
bool list_cursor_row_at(const struct list_cursor *c, struct list_area area, int y, int x,
                        size_t *row);
/* Moves among a few choices, wrapping around at both ends. Returns false if the action is not a
 * movement by one. */
bool list_cursor_wrap(size_t *at, size_t n, enum action a);

typedef void list_row_fn(const void *arg, struct frame *f, struct rect r, size_t row);
/* Draws the visible rows, and points at the selected one. */
void list_cursor_draw(const struct list_cursor *c, struct list_area area, struct frame *f,
                      list_row_fn *draw, const void *arg);

#endif
