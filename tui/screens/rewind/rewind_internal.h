#ifndef TUI_SCREENS_REWIND_REWIND_INTERNAL_H
#define TUI_SCREENS_REWIND_REWIND_INTERNAL_H

#include <string.h>

#include "lite/base/time.h"
#include "tui/app/effect.h"
#include "tui/app/key.h"
#include "tui/app/msg.h"
#include "tui/screens/dialogs/dialog.h"
#include "tui/screens/rewind/rewind.h"
#include "tui/widgets/list_cursor.h"
#include "tui/widgets/styled_text.h"
#include "tui/widgets/toast.h"

/* The parts of the rewind view. Shared by the files of this folder only.
 *
 *     turns         the points that a rewind can go back to
 *       preview     the effect of a rewind to preview_turn, which may still be the turn selected
 *                   before
 *         picks     the part of it that the person has selected
 *         row       which of its files are listed: those held back, then those that change
 *         changes   the selected file line by line, laid out for the width of its pane */

enum rewind_pane { PANE_TURNS, PANE_FILES, PANE_CHANGES, PANE_COUNT };
enum rewind_operation { OPERATION_REWIND, OPERATION_UNDO, OPERATION_REDO };
enum rewind_question { QUESTION_NONE, QUESTION_APPLY, QUESTION_CONSENT };

/* The numbers of lines that the picked hunks of a file add and remove. */
struct lines_changed {
    unsigned insertions, deletions;
};

struct changes {
    struct comparison *comparison;  /* owned; NULL: not available (yet) */
    struct styled_text styled_text; /* its lines; `block` is the hunk */
    struct list_cursor cursor;
    size_t left_out; /* lines of the diff that are not laid out */
};

struct rewind_view {
    const struct settings *settings;
    struct arena texts;
    struct ref_list *session; /* owned; NULL: nothing is shown */
    struct slice title;
    struct rewind_start at;
    int64_t now_ms;
    int h, w;
    enum rewind_pane pane;

    struct checkpoint_list *turns; /* owned; NULL until it arrives */
    struct list_cursor turn;
    enum rewind_mode mode;
    struct err turns_error;

    struct preview *preview; /* held; NULL: none */
    size_t preview_turn;
    struct preview_selection *selection; /* owned; one for each entry of the preview */
    struct lines_changed *partial;       /* owned; of files with picked hunks */
    struct err preview_error;
    size_t *row; /* owned; entries of the preview */
    size_t rows, unchanged;
    struct list_cursor file;

    struct changes changes;
    struct err changes_error;

    /* generations; 0: not asked */
    unsigned asked_turns, asked_lines, asked_preview, asked_changes, asked_rewind;
    int64_t asked_ms; /* time of the last question */
    int64_t due_ms;   /* when to request the preview; TIME_NONE: never */

    enum rewind_question question;
    enum rewind_operation operation; /* the operation of asked_rewind, */
    int64_t done, total;             /* and its progress; total 0: not known */
    char result[300];                /* the result of the last rewind; "": no rewind yet */
    bool incomplete;                 /* the rewind was not done completely */
    char undo[40], redo[40];
};

/* ---- what is selected (rewind_view.c) ---- */
const struct checkpoint *rewind_turn(const struct rewind_view *v); /* NULL: none */
const struct rewind_entry *rewind_entry_at(const struct rewind_view *v, size_t row);
const struct rewind_entry *rewind_file(const struct rewind_view *v); /* NULL: none */
struct rewind_selection *rewind_selection_at(const struct rewind_view *v, size_t row);
/* Returns true if the preview is that of the selected turn. */
bool rewind_is_current(const struct rewind_view *v);
/* Returns true if the person has waited long enough to see a spinner. */
bool rewind_is_slow(const struct rewind_view *v);
/* The action for a file; if its rule can be lifted, the action with the rule lifted. */
enum rewind_action rewind_action_of(const struct rewind_entry *x);
/* The path as shown: relative to the session's directory, or with ~. */
struct slice rewind_path(const struct rewind_view *v, const struct rewind_entry *x, char *out,
                         size_t cap);

/* The reason why a rewind to the turn is not possible; NULL if it is possible. The conversation can
 * be rewound even if the files cannot. */
const char *rewind_turn_why(const struct rewind_view *v, const struct checkpoint *turn);
/* The part of the preview that is about the conversation; NULL if it is not changed. */
const struct rewind_conversation *rewind_conversation_of(const struct rewind_view *v);

struct rewind_tally {
    size_t restored, created, deleted, partial, consented, held_open, files;
    unsigned insertions, deletions;
    size_t dropped; /* messages */
    bool has_conversation;
};
struct rewind_tally rewind_tally(const struct rewind_view *v);
/* "restore 2 files, delete 1" */
void rewind_tally_text(const struct rewind_tally *t, char *out, size_t cap);

/* ---- preview and changes (rewind_load.c) ---- */
void rewind_clear_preview(struct rewind_view *v, struct effects *fx);
void rewind_turn_changed(struct rewind_view *v, struct effects *fx);
void rewind_file_changed(struct rewind_view *v, struct effects *fx);
void rewind_request_preview(struct rewind_view *v, struct effects *fx);
void rewind_layout_changes(struct rewind_view *v);
struct effect *rewind_request(struct rewind_view *v, enum effect_kind kind, unsigned *generation,
                              struct effects *fx);

/* ---- layout (rewind_view.c) ---- */
enum { REWIND_SPLIT_W = 72 }; /* in fewer columns, one side is shown at a time */
struct rewind_layout {
    struct rect turns, note, conversation, files, head, warning, changes; /* h or w 0: not shown */
    int edge;   /* the column between left and right; -1: none */
    int result; /* the line with the result; -1: none */
};
struct rewind_layout rewind_layout(const struct rewind_view *v, int h, int w);
/* The number of lines that the note on the selected turn needs in a pane of that width, with one line of the prompt
 * or the whole of it; 0 for one line if nothing about the turn is unusual. */
int rewind_note_height(const struct rewind_view *v, int w, bool whole);
/* The warning about the selected file: why it is held back, or what its rewind would disturb; NULL:
 * none. It is drawn in the line above the changes if it fits there, otherwise below that line. */
const char *rewind_file_warning(const struct rewind_view *v);
/* Keeps the selected lines within their panes. */
void rewind_keep_in_panes(struct rewind_view *v);

/* Drawing the parts of the rewind view. Shared by the files of this folder only. */

/* Draws the selected line of a pane; the terminal's cursor is in the active pane. */
void rewind_select_line(const struct rewind_view *v, enum rewind_pane pane, struct frame *f,
                        struct rect r);
/* Draws the spinner once the work has taken long enough. */
void rewind_draw_spinner(const struct rewind_view *v, struct frame *f, struct rect r,
                         const char *text);

/* rewind_turns.c: the list on the left, and the notes about the selected turn. */
void rewind_draw_turn(const struct rewind_view *v, struct frame *f, struct rect r, size_t i);
void rewind_draw_note(const struct rewind_view *v, struct frame *f, struct rect r);

/* ---- what happens (rewind_load.c) ---- */
/* Returns true if the message answered a question of this view and was taken over. */
bool rewind_view_msg(struct rewind_view *v, const struct msg *msg, struct effects *fx);

/* ---- what a person does (rewind_act.c) ---- */
enum rewind_view_result {
    REWIND_VIEW_DONE,    /* the action was carried out */
    REWIND_VIEW_ASKS,    /* a question must be asked: rewind_view_question, then _answer */
    REWIND_VIEW_BACK,    /* leave the view */
    REWIND_VIEW_IGNORED, /* not an action of this view */
};

enum rewind_view_result rewind_view_act(struct rewind_view *v, enum action a, struct toast *toast,
                                        struct effects *fx);
void rewind_view_question(const struct rewind_view *v, struct dialog *d, dialog_answer_fn *answer);
void rewind_view_answer(struct rewind_view *v, bool yes, struct effects *fx);
/* Handles the wheel over (y, x), which moves by lines (up if negative), and a click. */
void rewind_view_scroll(struct rewind_view *v, int y, int x, int lines, struct effects *fx);
void rewind_view_click(struct rewind_view *v, int y, int x, struct effects *fx);
/* Why an action is not possible now; NULL if it is possible, or is not an action of this view.
 * Static text. */
const char *rewind_view_unavailable(const struct rewind_view *v, enum action a);

/* ---- how it looks (rewind_draw.c) ---- */
void rewind_view_draw(const struct rewind_view *v, struct frame *f, struct rect r);

#endif
