#ifndef TUI_APP_VIEW_H
#define TUI_APP_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "tui/app/action.h"
#include "tui/app/key.h"
#include "tui/app/model.h"
#include "tui/screens/dialogs/dialog.h"
#include "tui/screens/dialogs/help.h"
#include "tui/screens/dialogs/menu.h"
#include "tui/screens/flows/change_flow.h"
#include "tui/screens/list/list.h"
#include "tui/screens/maintenance/cleanup.h"
#include "tui/screens/maintenance/damaged.h"
#include "tui/screens/maintenance/doctor.h"
#include "tui/screens/maintenance/trash.h"
#include "tui/screens/rewind/rewind_view.h"
#include "tui/screens/transcript/transcript.h"
#include "tui/widgets/toast.h"

/* What the model is made of: for the files of tui/ that change and draw it, nobody else.
 *
 * Views lie on a stack: the list at the bottom, then perhaps a transcript or a rewind, then perhaps a menu, a dialog or
 * help. Keys go to the uppermost; Esc takes it away. A view is a row of the table in view.c. */
enum view_id {
    VIEW_LIST,
    VIEW_TRANSCRIPT,
    VIEW_REWIND,
    VIEW_TRASH,
    VIEW_CLEANUP,
    VIEW_DAMAGED,
    VIEW_DOCTOR,
    VIEW_MENU,
    VIEW_DIALOG,
    VIEW_PROMPT,
    VIEW_HELP,
    VIEW_COUNT
};

enum { VIEW_STACK = 8 };

/* A choice on its way: Enter was pressed; perhaps the row is not there yet, perhaps we wait to hear whether
 * the session's directory still is. */
struct resume_flow {
    bool waits_for_row;        /* act as soon as the list can tell which session is meant */
    enum action action;        /* what then: ACT_RESUME, ACT_PRINT */
    uint32_t entry;            /* which session; ENTRY_NONE: the one that will be selected */
    unsigned question;         /* generation of EFFECT_RESUME_DIRS; 0: none */
    bool knows_live;           /* the person was told that it is running */
    struct resume_dirs *place; /* owned; what the dialog chooses from */
};

struct model {
    const struct settings *settings;
    int64_t now_ms;
    int rows, cols;
    struct effects fx;
    enum view_id stack[VIEW_STACK];
    size_t depth; /* at least 1 */
    struct list list;
    struct transcript_view *viewer; /* owned */
    uint32_t viewed;                /* the entry it shows */
    struct rewind_view *rewind;     /* owned */
    bool rewind_only;               /* to leave it is to leave the program */
    struct trash_view trash;
    struct cleanup cleanup;
    struct damaged_view damaged;
    struct doctor_view doctor;
    struct menu menu;
    struct dialog dialog;
    struct prompt prompt;
    struct help help;
    struct toast toast;
    struct resume_flow resume_flow;
    struct pending_change pending_change;
    struct undo_flow undo_flow;
    const struct session_row **chosen; /* owned: what RESUME and PRINT point to */
    bool leaving;                      /* RESUME, PRINT or QUIT was queued: nothing more happens */
};

struct view_ops {
    const char *name;
    bool overlay; /* drawn over the view below */
    enum key_context (*place)(const struct model *m);
    void (*draw)(const struct model *m, struct frame *f);
    /* True: the view did it. Else it is one of the actions that mean the same everywhere. */
    bool (*act)(struct model *m, enum action a);
    /* Optional: a key asked for before the keymap is, for keys whose meaning hangs on what stands there. */
    bool (*takes)(struct model *m, struct key key);
    void (*key)(struct model *m, struct key key);       /* a key without an action: text */
    void (*paste)(struct model *m, struct slice text);  /* may be NULL: ignored */
    void (*mouse)(struct model *m, struct mouse mouse); /* may be NULL: ignored */
    void (*resized)(struct model *m); /* may be NULL: the cursor is brought back into sight */
};

extern const struct view_ops view_list, view_transcript, view_rewind, view_trash, view_cleanup,
    view_damaged, view_doctor, view_menu, view_dialog, view_prompt, view_help;

const struct view_ops *view_ops_of(enum view_id id);
enum view_id view_top(const struct model *m);
void view_push(struct model *m, enum view_id id);
void view_pop(struct model *m);
/* Whether a view is open, on top or below others. */
bool view_is_open(const struct model *m, enum view_id id);
/* The uppermost view that fills the screen: what a menu or help is about. */
enum view_id view_base(const struct model *m);

/* Does an action wherever it was asked for: by key, from the menu, by mouse. An action that cannot be done
 * says why. */
void update_perform(struct model *m, enum action a);
/* Why an action cannot be done now; NULL: it can (or is nobody's). Static text. */
const char *action_unavailable(const struct model *m, enum action a);

/* What a session must be able to do for an action; 0: nothing special. */
unsigned action_required_ability(enum action a);

/* The session that actions on one are about: the one that is read, examined or selected; ENTRY_NONE, NULL: none. */
uint32_t list_selection_entry(const struct model *m);
const struct session_entry *list_selection_session(const struct model *m);

/* The sessions that a change is about (selection.c): a walk over them. */
struct selection {
    const struct list *list;
    bool marked; /* those that are marked, from `next` on; else `one` */
    uint32_t one, next;
};

struct selection list_selection_of(const struct model *m);
bool list_selection_next(struct selection *s, uint32_t *entry);

/* screens/list_view.c: here -> the repository's worktrees -> every project. */
void list_next_scope(struct model *m);

/* resume_flow.c */
void resume_flow_begin(struct model *m, enum action a);
void resume_flow_retry(struct model *m); /* something has arrived */
bool resume_flow_msg(struct model *m, const struct msg *msg);
void resume_flow_answer(struct model *m, enum dialog_choice choice);
void resume_flow_cancel(struct model *m);
void view_quit(struct model *m);

/* screens/rewind/rewind_screen.c: from the list, or from a message of the conversation that is read. */
void rewind_screen_open(struct model *m, enum action a);
/* pending_change.c */
void change_flow_begin(struct model *m, enum action a);
/* Asks for the repair of one session. */
void change_flow_request_fix(struct model *m, uint32_t entry);
/* Asks for a change that is about names alone; takes them over. */
void change_flow_request_names(struct model *m, enum change_request request,
                               struct name_list *names);
/* The same for what is chosen of a sweep; takes it over. */
void change_flow_request_sweep(struct model *m, struct sweep *sweep);
bool change_flow_msg(struct model *m, const struct msg *msg);
void change_flow_clear(struct model *m); /* what was being asked about */
/* Undo and redo (undo_flow.c): what was done elsewhere or in another run, and files that changed since, are asked about. */
void undo_flow_begin(struct model *m, enum change_request request);
void undo_flow_confirm(struct model *m, const struct change_result *c);
/* Of the rewind view: notes its record, or asks about files that changed since. */
void undo_flow_rewound(struct model *m, const struct rewind_summary *r);
void undo_flow_note_rewind(struct model *m, const char *record);
void undo_flow_fini(struct undo_flow *u);
/* Asks a worker for the change with this id (CHANGE_UNDO, CHANGE_REDO); takes the names. */
void change_flow_request_undo(struct model *m, enum change_request request, struct name_list *names,
                              struct slice id);
/* What came of one (pending_change_result.c): said, and what it touched is read again. */
void change_flow_finish(struct model *m, const struct change_result *c);
/* Says that a change takes its time; false: none does. */
bool change_flow_draw(const struct model *m, struct frame *f, struct rect r);

/* screens/prompt.c */
void dialog_prompt(struct model *m, const char *label, struct slice text,
                   const char *(*answer)(struct model *m, struct slice text));

void footer_draw(const struct model *m, struct frame *f, struct rect r);

#endif
