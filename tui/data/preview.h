#ifndef TUI_DATA_PREVIEW_H
#define TUI_DATA_PREVIEW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "store/api/checkpoint.h"
#include "store/rewind/diff/linediff.h"
#include "store/rewind/plan/rewind.h"
#include "store/rewind/plan/source.h"

/* Data about a rewind that workers and the model hand each other, by the rules of conversation.h: filled by one thread,
 * handed over, and then the receiver's alone. The exception is a preview, which never changes, is shared, and
 * is freed by its last holder. */

/* The effect of a rewind to a point: a plan, and its preview. */
struct preview {
    atomic_uint holders;
    struct rewind_options options;
    struct rewind_plan plan;
    struct rewind_preview preview;
};

/* Empty, with one holder: the caller, who fills it. NULL if out of memory. */
struct preview *preview_new(void);
struct preview *preview_retain(struct preview *p);
void preview_free(struct preview *p); /* NULL is fine */

struct checkpoint_list *preview_checkpoints_new(void);       /* empty; NULL if out of memory */
void preview_checkpoints_free(struct checkpoint_list *list); /* NULL is fine */

/* One file of a preview, line by line: from its present content to the wanted one. */
struct comparison {
    size_t entry;
    struct rewind_sides sides; /* the diff borrows from them */
    struct linediff diff;
};

void preview_comparison_free(struct comparison *c); /* NULL is fine */

/* The selected part of a preview: one item for each of its entries, with copies of the hunks. */
struct preview_selection {
    struct rewind_selection *pick; /* owned, its hunks too */
    size_t n;
};

struct preview_selection *
preview_selection_new(size_t n); /* nothing is picked; NULL if out of memory */
struct preview_selection *preview_selection_copy(const struct preview_selection *from);
/* Which of n hunks are taken, to be changed; all of them at first. NULL if out of memory. */
bool *preview_selection_hunks(struct preview_selection *p, size_t entry, size_t n);
void preview_selection_free(struct preview_selection *p); /* NULL is fine */

/* The result of a rewind, or of undoing one. */
struct rewind_summary {
    char record[40]; /* the undo record; "": nothing had to be done */
    size_t restored, created, deleted;
    bool conversation_changed; /* the conversation went back, or came back: */
    size_t dropped, added, kept;
    size_t left;          /* files that stayed as they are: in conflict, or refused to an undo */
    char left_name[160];  /* one of them */
    const char *left_why; /* static text */
    /* An undo did nothing yet, because these files changed since. Owned by the message; NULL if no
     * file changed. */
    struct name_list *edited;
    bool asks; /* there are such files */
};

#endif
