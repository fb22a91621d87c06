#ifndef TUI_SCREENS_REWIND_REWIND_DRAW_H
#define TUI_SCREENS_REWIND_REWIND_DRAW_H

#include <string.h>

#include "tui/screens/rewind/rewind_internal.h"

/* How the parts of the rewind view are drawn. Shared by tui/screens/rewind_*.c only. */

/* Text that ends before column `end`; answers where it begins. */
int rewind_draw_right(struct frame *f, int y, int end, enum style style, const char *text);
/* The selected line of a pane; the terminal's cursor stands in the pane that has the keys. */
void rewind_select_line(const struct rewind_view *v, enum rewind_pane pane, struct frame *f,
                        struct rect r);
/* Once it has taken long enough to be worth a word. */
void rewind_draw_spinner(const struct rewind_view *v, struct frame *f, struct rect r,
                         const char *text);

/* rewind_draw_turns.c: the list on the left, and what one has to know about the selected turn. */
void rewind_draw_turns(const struct rewind_view *v, struct frame *f, struct rect r);
void rewind_draw_note(const struct rewind_view *v, struct frame *f, struct rect r);

#endif
