#ifndef TUI_SCREENS_DIALOGS_HELP_H
#define TUI_SCREENS_DIALOGS_HELP_H

#include <stdbool.h>
#include <stddef.h>

#include "tui/app/key.h"
#include "tui/config/settings.h"
#include "tui/widgets/frame.h"
#include "tui/widgets/line_editor.h"

/* All keys, made from the action list and the keymap: those of the place one came from first; what can be
 * typed into the filter; what the signs in the list mean. Typing looks for a line. */
struct help {
    enum key_context place; /* where it was asked for */
    struct line_editor query;
    size_t top;
};

void help_open(struct help *h, enum key_context place);
/* Lines that fit the query. */
size_t help_count(const struct help *h, const struct settings *settings, bool ascii);
void help_draw(const struct help *h, const struct settings *settings, struct frame *f,
               struct rect r);

#endif
