#ifndef TUI_WIDGETS_HUNKS_H
#define TUI_WIDGETS_HUNKS_H

#include <stdbool.h>
#include <stddef.h>

#include "store/show/hunks.h"
#include "tui/widgets/styled_text.h"
#include "tui/widgets/text_wrap.h"

/* The lines of an edit on the screen: each with its number and sign, in the colours of the theme.
 * A removed line and the added one that replaces it are shown with the part in which they differ
 * highlighted, unless hardly anything of them is the same. Long lines are wrapped below their
 * text, so that the numbers stay in a column of their own. */
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
