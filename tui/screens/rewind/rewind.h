#ifndef TUI_SCREENS_REWIND_REWIND_H
#define TUI_SCREENS_REWIND_REWIND_H

#include <stdbool.h>

#include "lite/base/id.h"
#include "tui/app/action.h"
#include "tui/app/effect.h"
#include "tui/app/msg.h"
#include "tui/config/config.h"
#include "tui/widgets/frame.h"

/* The rewind view. The turns are on the left; the effect of a rewind to the selected turn on each
 * file is on the right, and below it, line by line, the effect on the selected file. Everything
 * shown is a dry run; only APPLY changes files, after one question whose selected choice is
 * "cancel".
 *
 *     rewind_view_new -> open -> resize -> { msg, act, answer, tick, draw }... -> close or open -> free
 *
 * Like transcript.h, it is part of the model: it has no terminal, and changes only in calls that
 * take `effects`. */
struct rewind_view;
struct view_ops;

extern const struct view_ops view_rewind, view_bisect;

/* A bisect of the session (bisect_view.c). */
struct bisect_view {
    unsigned asked; /* the generation of EFFECT_BISECT; 0: it has ended */
    struct buf command, output, turn;
    struct err why; /* the reason for which no turn was found */
    size_t back;    /* lines scrolled up from the end */
};

struct model;
void bisect_view_fini(struct bisect_view *v);
/* Returns NULL, or the reason why the command is none. */
const char *bisect_view_begin(struct model *m, const struct ref_list *session,
                              struct slice command);
/* Selects the turn with this id, if it is not empty. */
void rewind_bisected(struct model *m, struct slice turn);

/* settings is borrowed. NULL if out of memory. */
struct rewind_view *rewind_view_new(const struct settings *settings);
void rewind_view_free(struct rewind_view *v); /* NULL is fine */

/* Where the view begins: at the turn of the message or, without a message, at the newest turn. */
struct rewind_start {
    struct id128 message;
    int64_t time_ms; /* the time of the message, or TIME_NONE */
    bool live;       /* an agent has the session open */
};

/* Shows a session in place of the one shown before. Texts are copied. Returns false if out of
 * memory. */
bool rewind_view_open(struct rewind_view *v, const struct session_ref *ref, struct slice title,
                      struct rewind_start at, int64_t now_ms, struct effects *fx);
void rewind_view_close(struct rewind_view *v, struct effects *fx);

/* What is shown: the session, its title, the points that are listed, and which of them is selected. NULL: no points
 * (yet). Valid until the view gets its next message. */
struct rewind_shown {
    const struct ref_list *session;
    struct slice title;
    const struct checkpoint_list *turns;
    size_t at;
};
struct rewind_shown rewind_view_shown(const struct rewind_view *v);

/* The absolute path of the selected file; empty: no file is selected. */
struct slice rewind_view_file(const struct rewind_view *v);

/* Undoes the rewind that the person was asked about, including the named files that changed since;
 * takes the list over. */
void rewind_view_undo(struct rewind_view *v, struct name_list *taken, struct effects *fx);

#endif
