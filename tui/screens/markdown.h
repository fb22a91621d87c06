#ifndef TUI_SCREENS_MARKDOWN_H
#define TUI_SCREENS_MARKDOWN_H

#include "tui/screens/flow.h"

/* Markdown as lines of a sheet: headings, lists, quotes, code, tables, emphasis and links, without their
 * signs. Line breaks of the source stay, since an agent means them. `first` stands before the first line,
 * `rest` before all others. */
struct markdown {
    int width;
    bool ascii;
    struct margin first, rest;
};

void markdown_lay(struct sheet *s, const struct markdown *how, struct slice text);

#endif
