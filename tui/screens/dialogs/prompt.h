#ifndef TUI_SCREENS_DIALOGS_PROMPT_H
#define TUI_SCREENS_DIALOGS_PROMPT_H

#include "lite/base/slice.h"
#include "tui/widgets/line_editor.h"

/* One line of text asked for at the bottom of the screen: a title, a tag. */
struct model;

enum { PROMPT_TEXT = 160 };

struct prompt {
    char label[PROMPT_TEXT];
    char note[PROMPT_TEXT]; /* why Enter was not enough; until the next key */
    struct line_editor edit;
    /* Enter: NULL when the text will do (it was taken over; the prompt is closed already), else why not. */
    const char *(*answer)(struct model *m, struct slice text);
};

#endif
