#ifndef TUI_SCREENS_DIALOGS_DIALOG_H
#define TUI_SCREENS_DIALOGS_DIALOG_H

#include <stdbool.h>
#include <stddef.h>

#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "tui/app/key.h"
#include "tui/widgets/line_editor.h"

/* A question with a few answers. The first answer is the safe one and is selected, so pressing
 * Enter without reading changes nothing. */
enum dialog_choice {
    CHOICE_CANCEL,
    CHOICE_ANYWAY,        /* resume although it is running */
    CHOICE_MAIN_WORKTREE, /* resume there */
    CHOICE_PRESENT_DIR,
    CHOICE_DO, /* do what the question asks */
};

struct model;
struct view_ops;
typedef void dialog_answer_fn(struct model *m, enum dialog_choice choice);

enum { DIALOG_LINES = 6, DIALOG_CHOICES = 4, DIALOG_TEXT = 300 };

struct dialog {
    char title[DIALOG_TEXT];
    char line[DIALOG_LINES][DIALOG_TEXT];
    size_t lines;
    char label[DIALOG_CHOICES][DIALOG_TEXT];
    enum dialog_choice choice[DIALOG_CHOICES];
    size_t choices;
    size_t at;
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

/* The menu of all actions on a session, each with its letter (help.c). */
struct menu {
    size_t at;
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

#endif
