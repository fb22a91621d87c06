#ifndef TUI_SCREENS_REWIND_REWIND_VIEW_H
#define TUI_SCREENS_REWIND_REWIND_VIEW_H

#include <stdbool.h>

#include "lite/base/id.h"
#include "tui/app/action.h"
#include "tui/app/effect.h"
#include "tui/app/msg.h"
#include "tui/config/settings.h"
#include "tui/screens/dialogs/dialog.h"
#include "tui/widgets/frame.h"
#include "tui/widgets/toast.h"

/* Going back: on the left the turns, on the right what going back to the selected one would do to each file, and
 * below, line by line, to the selected file. Everything shown is a dry run; only APPLY, asked once and answered with
 * the choice that is not selected, changes files.
 *
 *     rewind_view_new -> open -> resize -> { msg, act, answer, tick, draw }... -> close or open -> free
 *
 * A part of the model, as transcript.h is: no terminal, and it changes only in calls that are handed effects. */
struct rewind_view;

/* settings is borrowed. NULL without memory. */
struct rewind_view *rewind_view_new(const struct settings *settings);
void rewind_view_free(struct rewind_view *v); /* NULL is fine */

/* What the view begins with. The selected turn is that of the message; without one it is the newest. */
struct rewind_start {
    struct id128 message;
    int64_t time_ms; /* of the message; TIME_NONE */
    bool live;       /* an agent has the session open */
};

/* Shows a session; what was shown before is forgotten. Texts are copied. False without memory. */
bool rewind_view_open(struct rewind_view *v, const struct session_ref *ref, struct slice title,
                      struct rewind_start at, int64_t now_ms, struct effects *fx);
void rewind_view_close(struct rewind_view *v, struct effects *fx);

/* The size of the rectangle it will be drawn into. */
void rewind_view_resize(struct rewind_view *v, int h, int w);
/* True when the message answers a question of this view: it was taken over. */
bool rewind_view_msg(struct rewind_view *v, const struct msg *msg, struct effects *fx);
/* Time has passed; and when to say so. TIME_NONE: never. */
void rewind_view_tick(struct rewind_view *v, int64_t now_ms, struct effects *fx);
int64_t rewind_view_wake_ms(const struct rewind_view *v);

enum rewind_view_result {
    REWIND_VIEW_DONE,    /* the view did it */
    REWIND_VIEW_ASKS,    /* it has a question for the person: rewind_view_question, then _answer */
    REWIND_VIEW_BACK,    /* leave the view */
    REWIND_VIEW_IGNORED, /* not an action of this view: it is the owner's */
};

enum rewind_view_result rewind_view_act(struct rewind_view *v, enum action a, struct toast *toast,
                                        struct effects *fx);
/* Takes back what the person was asked about, with the files that changed since and are named; takes the list. */
void rewind_view_take_back(struct rewind_view *v, struct name_list *taken, struct effects *fx);
void rewind_view_question(const struct rewind_view *v, struct dialog *d, dialog_answer_fn *answer);
void rewind_view_answer(struct rewind_view *v, bool yes, struct effects *fx);
/* The wheel over (y, x), lines down or up; and a click. */
void rewind_view_scroll(struct rewind_view *v, int y, int x, int lines, struct effects *fx);
void rewind_view_click(struct rewind_view *v, int y, int x, struct effects *fx);

/* Why an action cannot be done here and now: NULL when it can, or is not ours. Static text. */
const char *rewind_view_unavailable(const struct rewind_view *v, enum action a);

/* Draws into r; changes nothing. */
void rewind_view_draw(const struct rewind_view *v, struct frame *f, struct rect r);

#endif
