#ifndef TUI_APP_MODEL_H
#define TUI_APP_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "tui/app/effect.h"
#include "tui/app/msg.h"
#include "tui/config/config.h"
#include "tui/widgets/frame.h"

/* The whole state of the screen. It contains no curses type and no descriptor, so that update and
 * render run in a test without a terminal.
 *
 *     model_new -> update(MSG_RESIZE) -> [ effects_pop..., render, wait, update ]... -> model_free
 *
 * The loop waits until a message arrives or the time model_wake_ms is reached (then it sends
 * MSG_TICK). It renders once when no message is waiting, not after every message. */
struct model;

/* settings is borrowed and outlives the model. NULL if out of memory. Queues the first effects. */
struct model *model_new(const struct settings *settings, int64_t now_ms);
/* Begins with the rewind view of a session instead of the list; closing it ends the program.
 * Returns false if out of memory. */
bool model_rewind(struct model *m, const struct session_row *row);
void model_free(struct model *m);

/* Changes the model and queues effects; touches nothing else. Takes over what msg contains
 * (tui/app/msg.h). */
void update(struct model *m, const struct msg *msg);
/* The effects queued by update, for the loop to take. */
struct effects *model_effects(struct model *m);
/* The time at which the model needs a MSG_TICK; TIME_NONE: never. */
int64_t model_wake_ms(const struct model *m);

/* Returns true if Esc would end the program. */
bool model_esc_quits(const struct model *m);
/* Returns true while a view is open that shows changes of files at once. */
bool model_follows(const struct model *m);

/* Draws the whole frame; its size need not be that of the last MSG_RESIZE. Changes nothing. */
void render(const struct model *m, struct frame *f);

#endif
