#ifndef TUI_SCREENS_TRANSCRIPT_TRANSCRIPT_H
#define TUI_SCREENS_TRANSCRIPT_TRANSCRIPT_H

#include <stdbool.h>

#include "tui/app/action.h"
#include "tui/app/effect.h"
#include "tui/app/key.h"
#include "tui/app/msg.h"
#include "tui/config/config.h"
#include "tui/widgets/frame.h"

/* The view of a conversation: over the whole screen (the viewer) or beside the list (the preview,
 * which has no title line and no cursor). It is part of the model: it has no terminal, and changes
 * only in calls that take `effects`.
 *
 *     transcript_view_new -> open -> resize -> { msg, act, key, draw }... -> close or open -> free
 *
 * The end of the session is shown first, from its tail; the whole conversation then replaces it
 * without moving what is on the screen. Only messages around the viewport are read and laid out,
 * however large the session is. */
struct transcript_view;
struct view_ops;

extern const struct view_ops view_transcript;

/* requester: REQUESTER_VIEWER, REQUESTER_PREVIEW or REQUESTER_TRASH (a preview too). settings is borrowed. NULL if
 * out of memory. */
struct transcript_view *transcript_view_new(const struct settings *settings,
                                            enum requester requester);
void transcript_view_free(struct transcript_view *v); /* NULL is fine */

/* Shows the end of a session in place of the one shown before. The texts of ref, title and cwd are
 * copied; paths below cwd are shown relative to it (empty: the project's). Returns false if out of
 * memory; the view is then empty. A preview reads only the tail until it is scrolled. */
bool transcript_view_open(struct transcript_view *v, const struct session_ref *ref,
                          struct slice title, struct slice cwd, struct effects *fx);
/* Forgets the session and cancels open questions. */
void transcript_view_close(struct transcript_view *v, struct effects *fx);
/* Reads the session's changed file again. The position stays the same, or at the end if it was
 * there. */
void transcript_view_reload(struct transcript_view *v, const struct session_ref *ref,
                            struct effects *fx);

/* Sets whether the file no longer exists; what was read of it stays. */
void transcript_view_set_gone(struct transcript_view *v, bool gone);
/* Sets a new title, which is copied. */
void transcript_view_retitle(struct transcript_view *v, struct slice title);

/* Goes to the first occurrence of a text, as soon as the whole conversation is read; n and N go on
 * from there. An empty text: nothing is searched for any more. */
void transcript_view_search_for(struct transcript_view *v, struct slice text, struct effects *fx);
/* The same in the conversation of a sub-agent, which is opened over this one; empty: in this one.
 * With `last`, begins at the last occurrence. */
void transcript_view_search_in(struct transcript_view *v, struct slice agent, struct slice text,
                               bool last, struct effects *fx);
/* Returns true if this text was searched for to the end, and no occurrence follows the current one
 * (1) or precedes it (-1): a step would wrap around. */
bool transcript_view_search_ends(const struct transcript_view *v, struct slice text, int direction);

/* "1 of 4", "4 found", "not found" or "searching"; "": nothing is searched for. */
void transcript_view_search_state(const struct transcript_view *v, char *out, size_t cap);

/* Goes to a message as soon as the whole conversation is read; none: stays at the end. */
void transcript_view_go_to_message(struct transcript_view *v, struct id128 message);

/* Sets the size of the rectangle to draw into. */
void transcript_view_resize(struct transcript_view *v, int h, int w, struct effects *fx);
/* The tokens of the session, once they are read; NULL: not known. Valid until the next call that takes `effects`. */
const struct usage_sum *transcript_view_usage(const struct transcript_view *v);
/* Returns true while they are being read. */
bool transcript_view_sums_usage(const struct transcript_view *v);
/* Returns true if the message answered a question of this view and was taken over. */
bool transcript_view_msg(struct transcript_view *v, const struct msg *msg, struct effects *fx);

/* The current key context: IN_TRANSCRIPT, IN_SEARCH (text is typed), IN_MENU (a choice of
 * sub-agents). */
enum key_context transcript_view_key_context(const struct transcript_view *v);

enum transcript_view_result {
    TRANSCRIPT_DONE,    /* the action was carried out */
    TRANSCRIPT_BACK,    /* no further step back in this view: leave it */
    TRANSCRIPT_IGNORED, /* not an action of this view, but of its owner */
};

enum transcript_view_result transcript_view_act(struct transcript_view *v, enum action a,
                                                struct effects *fx);
/* Puts away the reason why the last action was refused. Returns true if one was shown. */
bool transcript_view_dismiss(struct transcript_view *v);
/* Keys without an action, and pasted text, while text is typed. */
void transcript_view_key(struct transcript_view *v, struct key key, struct effects *fx);
void transcript_view_paste(struct transcript_view *v, struct slice text, struct effects *fx);
/* The wheel moves by lines, up if negative; the position of a click is relative to the
 * rectangle. */
void transcript_view_scroll(struct transcript_view *v, int lines, struct effects *fx);
void transcript_view_click(struct transcript_view *v, int y, int x, struct effects *fx);

/* The message under the cursor; in a sub-agent's conversation, the message that it was opened from.
 * Returns false, and sets nothing, if there is no such message. */
bool transcript_view_message(const struct transcript_view *v, struct id128 *id, int64_t *time_ms);

/* The last message of the branch that is shown; none: no branch is. */
struct id128 transcript_view_leaf(const struct transcript_view *v);

/* Returns true if an entry is shown as it is stored. */
bool transcript_view_shows_raw(const struct transcript_view *v);

/* The reason why an action is not possible now; NULL if it is possible, or is not an action of this
 * view. */
const char *transcript_view_unavailable(const struct transcript_view *v, enum action a);

/* Draws into r; changes nothing. The viewer puts the cursor of the frame on the selected line. */
void transcript_view_draw(const struct transcript_view *v, struct frame *f, struct rect r);

/* Shows a session on the whole screen, at a message (none: at its end). A session that the list has keeps its title and
 * directory there (transcript_screen.c). */
struct model;
void transcript_screen_show(struct model *m, const struct session_ref *ref, struct slice title,
                            struct slice cwd, struct id128 message);

#endif
