#ifndef TUI_SCREENS_DIALOG_H
#define TUI_SCREENS_DIALOG_H

#include <stdbool.h>
#include <stddef.h>

#include "lite/err.h"
#include "lite/slice.h"

/* A question with a few answers. The first one is the safe one and is selected: Enter pressed without reading
 * changes nothing. */
enum dialog_choice {
    CHOICE_CANCEL,
    CHOICE_ANYWAY,        /* resume although it is running */
    CHOICE_MAIN_WORKTREE, /* resume there */
    CHOICE_PRESENT_DIR,
};

enum { DIALOG_LINES = 4, DIALOG_CHOICES = 4, DIALOG_TEXT = 300 };

struct dialog {
    char title[DIALOG_TEXT];
    char line[DIALOG_LINES][DIALOG_TEXT];
    size_t lines;
    char label[DIALOG_CHOICES][DIALOG_TEXT];
    enum dialog_choice choice[DIALOG_CHOICES];
    size_t choices;
    size_t at;
};

void dialog_begin(struct dialog *d, const char *title);
void dialog_line(struct dialog *d, const char *fmt, ...) PRINTF_LIKE(2, 3);
void dialog_offer(struct dialog *d, enum dialog_choice choice, const char *fmt, ...)
    PRINTF_LIKE(3, 4);

#endif
