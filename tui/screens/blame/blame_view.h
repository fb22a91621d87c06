#ifndef TUI_SCREENS_BLAME_BLAME_VIEW_H
#define TUI_SCREENS_BLAME_BLAME_VIEW_H

#include <stdbool.h>

#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "tui/data/blame_rows.h"
#include "tui/widgets/list_cursor.h"

/* Who changed a file: the sessions and turns that touched it, newest first, or its lines, each with
 * the age and prompt of the turn that wrote it. Tab switches; / searches; Enter opens the conversation
 * at that turn. H and L scroll long lines. */
struct model;
struct view_ops;

extern const struct view_ops view_blame;

struct blame_view {
    struct buf path;         /* the file */
    struct blame_rows *rows; /* owned; NULL until they arrive */
    struct err error;        /* why they are missing */
    unsigned asked;          /* generation of EFFECT_BLAME; 0: none */
    int64_t asked_ms;
    bool by_line;
    struct list_cursor pick;
    size_t longest;   /* the columns of the longest line */
    size_t left;      /* the columns that the lines are scrolled sideways */
    char sought[128]; /* what was searched last; "": nothing yet */
};

/* Opens the view of a file, which is an absolute path. */
void blame_view_open(struct model *m, struct slice path);
void blame_view_fini(struct blame_view *v);

#endif
