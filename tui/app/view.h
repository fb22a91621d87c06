#ifndef TUI_APP_VIEW_H
#define TUI_APP_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/app/action.h"
#include "tui/app/effect.h"
#include "tui/app/key.h"
#include "tui/app/msg.h"
#include "tui/config/config.h"
#include "tui/widgets/frame.h"
#include "tui/widgets/toast.h"

/* The model as the views see it: the stack of views, and the state of each.
 *
 * The list is at the bottom of the stack. A transcript or a rewind may be above it, and a menu, a
 * dialog or help above that. Keys go to the top view; Esc removes it. Each view is a row of the
 * table in model.c, the only file that knows all views: update() and render() use that table.
 *
 * Messages are offered to the rows from the last to the first, until one takes them. The two flows
 * are never on the stack; they use dialogs for their questions. */
enum view_id {
    VIEW_LIST,
    VIEW_TRANSCRIPT,
    VIEW_REWIND,
    VIEW_TREE,
    VIEW_BISECT,
    VIEW_BLAME,
    VIEW_CLEANUP,
    VIEW_DOCTOR,
    VIEW_DAMAGED,
    VIEW_TRASH,
    VIEW_LOG,
    VIEW_BOARD,
    VIEW_COMPARE,
    VIEW_USAGE,
    VIEW_MENU,
    VIEW_DIALOG,
    VIEW_PROMPT,
    VIEW_HELP,
    VIEW_EXPORT,
    VIEW_RESUME_OPTIONS,
    VIEW_CHANGE_FLOW,
    VIEW_RESUME_FLOW,
    VIEW_COUNT
};

enum { VIEW_STACK = 8, HELD_KEYS = 32 };

struct model {
    const struct settings *settings;
    int64_t now_ms;
    int rows, cols;
    struct effects fx;
    const struct view_ops *const *views; /* by view_id */
    enum view_id stack[VIEW_STACK];
    size_t depth; /* at least 1 */
    struct toast toast;
    const char *silent; /* a store whose server does not answer; NULL: none */
    bool rewind_only;   /* closing the rewind view ends the program */
    bool resume_waits;  /* Enter was pressed and waits for its row; another key cancels it */
    /* Keys, and text that was pasted, that came before the session that the first key is for; they are handled when it is
     * listed. */
    struct held_input {
        struct key key;
        struct buf paste; /* owned; instead of the key if it is not empty */
    } held[HELD_KEYS];
    size_t held_n;
    bool leaving; /* RESUME, PRINT or QUIT was queued; later messages are ignored */

    /* The state of the views; each struct is in the header of its view. */
    struct list *list;
    struct transcript_view *viewer;
    uint32_t viewed; /* the entry that the viewer shows; ENTRY_NONE */
    struct rewind_view *rewind;
    struct tree_view *tree;
    struct bisect_view *bisect;
    struct blame_view *blame;
    struct cleanup *cleanup;
    struct doctor_view *doctor;
    struct damaged_view *damaged;
    struct trash_view *trash;
    struct log_view *log;
    struct board_view *board;
    struct compare_view *compare;
    struct usage_view *usage;
    struct menu *menu;
    struct dialog *dialog;
    struct prompt *prompt;
    struct help *help;
    struct export_view *export;
    struct resume_view *resume_view;
    struct pending_change *pending_change;
    enum action way_back; /* what takes the last change of this run back: undo, redo, or ACT_NONE */
    struct undo_flow *undo_flow;
    struct resume_flow *resume_flow;
};

/* All members except name are optional; a view that can be on the stack has a context, draw and
 * act. */
struct view_ops {
    const char *name;
    bool overlay;                                     /* drawn over the view below */
    enum key_context context;                         /* where its keys are looked up, */
    enum key_context (*place)(const struct model *m); /* if that is not always the same */
    void (*draw)(const struct model *m, struct frame *f);
    /* Returns true if the view carried out the action. If not, the action has its general meaning:
     * see perform. */
    bool (*act)(struct model *m, enum action a);
    /* Carries out an action that means the same in every view, if it belongs to this row. Most such
     * actions open the view. */
    bool (*perform)(struct model *m, enum action a);
    /* The reason why an action is not possible now, while this view is the base; NULL if it is
     * possible. Static text. */
    const char *(*unavailable)(const struct model *m, enum action a);
    /* The session that actions apply to while this view is the base. If NULL, it is the session in
     * the viewer. */
    uint32_t (*entry)(const struct model *m);
    /* Returns true if an action that is not possible yet may be requested anyway, because it will
     * wait. */
    bool (*waits)(const struct model *m, enum action a);
    /* Returns true if a key for this action is held back for now, with all keys that follow, as what it acts on is not
     * there yet. */
    bool (*holds)(const struct model *m, enum action a);
    /* Called before any action, in any view: updates what is shown. */
    void (*prepare)(struct model *m, enum action a);
    /* Called before the keymap is read, for keys whose meaning depends on what is on the screen. */
    bool (*takes)(struct model *m, struct key key);
    void (*key)(struct model *m, struct key key); /* a key without an action: text */
    void (*paste)(struct model *m, struct slice text);
    void (*mouse)(struct model *m, struct mouse mouse);
    /* Returns true if one step back ends the program. */
    bool (*back_quits)(const struct model *m);
    /* Returns true if `?` opens help although letters are text here. */
    bool (*sign_helps)(const struct model *m);
    /* Called for every row when the screen size has changed. */
    void (*resized)(struct model *m);
    /* Returns true if the message was for this row and has been taken over. */
    bool (*message)(struct model *m, const struct msg *msg);
    void (*tick)(struct model *m);    /* after every message */
    void (*refresh)(struct model *m); /* something was changed, so the view may be outdated */
    /* The time at which the row needs a MSG_TICK; TIME_NONE: never. */
    int64_t (*wake_ms)(const struct model *m);
    /* The actions that the footer shows now, ended by ACT_NONE; NULL, from either: those of the context. */
    const enum action *(*footer)(const struct model *m);
    /* Draws the last line in place of the footer. Returns false if it has nothing to show. */
    bool (*status)(const struct model *m, struct frame *f, struct rect r);
};

enum view_id view_top(const struct model *m);
/* The topmost view that fills the screen; menus and help refer to it. */
enum view_id view_base(const struct model *m);
bool view_is_open(const struct model *m, enum view_id id); /* on top or below others */
/* A dialog or a prompt is open, perhaps below help, and no other question may be put over it: there is one of each. */
bool view_asks(const struct model *m);
void view_push(struct model *m, enum view_id id);
void view_pop(struct model *m);
/* The earlier of two times; TIME_NONE means never. */
int64_t view_earlier(int64_t a, int64_t b);
/* Ends the program without a choice. */
void view_quit(struct model *m);

/* The context in which keys are looked up now. */
enum key_context view_key_context(const struct model *m);
/* The session that actions apply to: the one that is being read or checked, or is selected; or
 * ENTRY_NONE. */
uint32_t view_entry(const struct model *m);
/* The reason why an action is not possible now; NULL if it is possible or unknown here. Static
 * text. */
const char *view_unavailable(const struct model *m, enum action a);
/* Notifies all rows that something was changed. */
void view_refresh(struct model *m);

/* Carries out an action, whether requested by key, menu or mouse. If it is not possible, the reason
 * is shown. */
void update_perform(struct model *m, enum action a);
void update_forget_held(struct model *m); /* the keys and texts that wait */

#endif
