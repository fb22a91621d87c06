#ifndef TUI_WIDGETS_HUNKS_H
#define TUI_WIDGETS_HUNKS_H

#include <stdbool.h>
#include <stddef.h>

#include "store/show/tool_call.h"
#include "tui/widgets/styled_text.h"

/* The lines of an edit on the screen, each with its number and sign, in the colours of the theme.
 * In a removed line and the added line that replaces it, the differing part is highlighted, unless
 * the lines have little in common. Long lines are wrapped below their text, so that the numbers
 * stay in a separate column. */
struct hunks_layout_options {
    int width;
    bool ascii;
    struct text_margin margin;
    size_t max_lines; /* of the diff; 0: all */
};

/* Appends the lines. A diff that failed (rc) makes the text fail. Returns the number of lines left
 * out. */
size_t hunks_layout(struct styled_text *s, const struct hunks_layout_options *how,
                    const struct hunks *d);

#endif
