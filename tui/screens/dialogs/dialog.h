#ifndef TUI_SCREENS_DIALOGS_DIALOG_H
#define TUI_SCREENS_DIALOGS_DIALOG_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/err.h"
#include "lite/base/id.h"
#include "lite/base/slice.h"
#include "store/export/export.h"
#include "tui/app/key.h"
#include "tui/config/resume_command.h"
#include "tui/data/ref_list.h"
#include "tui/widgets/line_editor.h"

/* A question with a few answers. The first answer is the safe one and is selected, so pressing
 * Enter without reading changes nothing. */
enum dialog_choice {
    CHOICE_CANCEL,
    CHOICE_ANYWAY,        /* resume although it is running */
    CHOICE_GO,            /* to the terminal in which it runs */
    CHOICE_MAIN_WORKTREE, /* resume there */
    CHOICE_PRESENT_DIR,
    CHOICE_MOVE,     /* let the sessions follow their project */
    CHOICE_REDACTED, /* do it without secrets */
    CHOICE_HUNKS,    /* choose some of its hunks first */
    CHOICE_DO,       /* do what the question asks */
};

struct model;
struct view_ops;
typedef void dialog_answer_fn(struct model *m, enum dialog_choice choice);

enum { DIALOG_LINES = 10, DIALOG_CHOICES = 8, DIALOG_TEXT = 300 };

struct dialog {
    char title[DIALOG_TEXT];
    char line[DIALOG_LINES][DIALOG_TEXT];
    size_t lines;
    char label[DIALOG_CHOICES][DIALOG_TEXT];
    enum dialog_choice choice[DIALOG_CHOICES];
    size_t choices;
    size_t at;                /* when the dialog was answered: what was chosen */
    dialog_answer_fn *answer; /* called when the dialog is closed */
    bool wants_yes;           /* confirmed only by typing "yes" and Enter, never by a single key */
    size_t typed;             /* letters of it */
};

void dialog_begin(struct dialog *d, const char *title, dialog_answer_fn *answer);
void dialog_line(struct dialog *d, const char *fmt, ...) PRINTF_LIKE(2, 3);
void dialog_offer(struct dialog *d, enum dialog_choice choice, const char *fmt, ...)
    PRINTF_LIKE(3, 4);
/* Replaces dialog_offer: CHOICE_DO is chosen by typing "yes" and Enter. */
void dialog_want_yes(struct dialog *d);

/* A prompt for one line of text at the bottom of the screen: a title, a tag. */
enum { PROMPT_TEXT = 160 };

/* Called for Enter: takes the text over and returns NULL (the prompt is already closed), or returns
 * the reason why the text is not valid. */
typedef const char *prompt_answer_fn(struct model *m, struct slice text);

struct prompt {
    char label[PROMPT_TEXT];
    char note[PROMPT_TEXT]; /* why Enter was refused; shown until the next key */
    struct line_editor edit;
    prompt_answer_fn *answer;
};

void dialog_prompt(struct model *m, const char *label, struct slice text, prompt_answer_fn *answer);

/* The menu of all actions on a session, each with its letter (menu.c). */
struct menu {
    size_t at;
    uint32_t entry; /* the session that it is about */
    bool about;     /* there is one */
};

/* Help lists all keys, made from the action list and the keymap, beginning with those of the
 * context where help was opened; then the filter syntax and the meaning of the signs in the list.
 * Typing searches the lines (help.c). */
struct help {
    enum key_context place; /* where help was opened */
    struct line_editor query;
    size_t top;
};

extern const struct view_ops view_dialog, view_prompt, view_menu, view_help;

/* ---- resume_view.c ---- */

/* Resumes a session once with other flags than the configured ones: the dialog has a row for each
 * known option of the agent, one for any other flags, and one that resumes. The choices are not
 * saved. */
enum { RESUME_TEXT = 160 };

struct resume_view {
    const struct resume_choice *choice[RESUME_CHOICES_MAX];
    size_t choices;
    /* 0: as configured; then those of the choice, then the typed one */
    size_t value[RESUME_CHOICES_MAX];
    char typed[RESUME_CHOICES_MAX][RESUME_TEXT]; /* "": none */
    char flags[RESUME_TEXT];                     /* as a shell would read them */
    char session[RESUME_TEXT];                   /* its id, because the list may be reloaded */
    size_t at; /* the choices, the flags, then the row that resumes */
};

extern const struct view_ops view_resume_options;

/* ---- export_view.c ---- */

/* Exports a session, or the marked ones into a directory. The dialog shows the options of `reprise
 * export` as rows, and the name of the file. It stays open while the file is written, and Esc
 * cancels the export. If the file exists, confirming again replaces it. */
enum export_row {
    EXPORT_ROW_FORMAT,
    EXPORT_ROW_TOOLS,
    EXPORT_ROW_THINKING,
    EXPORT_ROW_SUBAGENTS,
    EXPORT_ROW_SECRETS,
    EXPORT_ROW_MESSAGES,
    EXPORT_ROW_FILE,
    EXPORT_ROW_WRITE,
    EXPORT_ROWS
};

enum export_messages { EXPORT_ALL_MESSAGES, EXPORT_FROM_MESSAGE, EXPORT_TO_MESSAGE };

struct export_view {
    struct ref_list *session; /* owned; NULL: never opened; several: one file each */
    struct id128 leaf;        /* the end of the branch that is read; zero: no branch */
    struct id128 message;     /* under the cursor; none: no such message */
    enum export_format format;
    enum export_tools tools;
    enum export_messages messages;
    bool thinking, subagents;
    bool keep_secrets; /* a document is often for others: by default, they are replaced */
    bool named;        /* the person chose the name of the file */
    bool exists;       /* the file exists: confirming again replaces it */
    char path[PATH_MAX];
    char title[128];
    size_t at;        /* the selected row */
    unsigned writing; /* generation of EFFECT_EXPORT; 0: nothing is written */
};

void export_view_fini(struct export_view *v);

extern const struct view_ops view_export;

#endif
