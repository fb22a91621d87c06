#ifndef TUI_WIDGETS_MARKDOWN_H
#define TUI_WIDGETS_MARKDOWN_H

#include "tui/widgets/text_wrap.h"

/* Markdown as lines of a sheet: headings, lists, quotes, code, tables, emphasis and links, without their
 * signs. Line breaks of the source stay, since an agent means them. `first` stands before the first line,
 * `rest` before all others. */
struct markdown {
    int width;
    bool ascii;
    struct text_margin first, rest;
};

void markdown_layout(struct styled_text *s, const struct markdown *how, struct slice text);

#endif
