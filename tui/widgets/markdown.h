#ifndef TUI_WIDGETS_MARKDOWN_H
#define TUI_WIDGETS_MARKDOWN_H

#include <stdbool.h>
#include <stddef.h>

#include "store/show/tool_call.h"
#include "tui/widgets/styled_text.h"

/* A table of a document: the cells are collected and then laid out in columns that fit. */
struct table;

enum { TABLE_RUNS = 96 }; /* maximum of one line */

/* NULL if out of memory. */
struct table *table_new(unsigned cols);
void table_free(struct table *t); /* NULL is fine */

/* These functions do nothing if the table is NULL. The first row is the head. align: 0 and 1 left,
 * 2 centre, 3 right. */
void table_row(struct table *t);
void table_cell(struct table *t, int align);
void table_text(struct table *t, enum style style, struct slice text);

typedef void table_line_fn(void *arg, const struct run *run, size_t n);

/* Passes on the lines; runs are valid during the call. */
enum err_code table_layout(const struct table *t, int width, bool ascii, table_line_fn *fn,
                           void *arg);

/* Lays Markdown out as styled text: headings, lists, quotes, code, tables, emphasis and links,
 * without their markup. Line breaks of the source are kept, because agents use them deliberately.
 * `first` precedes the first line, `rest` before all others. */
struct markdown {
    int width;
    bool ascii;
    struct text_margin first, rest;
};

typedef void markdown_code_fn(void *arg, struct slice code);
/* Passes on the blocks of code in a document, as they are to be copied; valid during the call. */
MUST_CHECK enum err_code markdown_code_blocks(struct slice text, markdown_code_fn *fn, void *arg);

void markdown_layout(struct styled_text *s, const struct markdown *how, struct slice text);

/* ---- hunks.c ---- */

/* The lines of an edit on the screen, each with its number and sign, in the colours of the theme.
 * In a removed line and the added line that replaces it, the differing part is highlighted, unless
 * the lines have little in common. Long lines are wrapped below their text, so that the numbers
 * stay in a separate column. */
struct hunks_layout_options {
    int width;
    bool ascii;
    struct text_margin margin;
    size_t first;     /* lines of the diff before this one are left out, too */
    size_t max_lines; /* the most lines of a diff; 0: all */
};

/* Appends the lines. A diff that failed (rc) makes the text fail. Returns the number of lines left
 * out at the end. */
size_t hunks_layout(struct styled_text *s, const struct hunks_layout_options *how,
                    const struct hunks *d);

#endif
