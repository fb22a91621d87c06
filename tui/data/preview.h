#ifndef TUI_DATA_PREVIEW_H
#define TUI_DATA_PREVIEW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "lite/base/cleanup.h"
#include "store/api/checkpoint.h"
#include "store/rewind/diff/linediff.h"
#include "store/rewind/plan/rewind.h"
#include "store/rewind/plan/source.h"

/* Data about a rewind that workers and the model exchange, by the rules of conversation.h: one
 * thread fills it in and passes it on, and then the receiver is the only owner. The exception is a
 * preview, which never changes, is shared, and is freed by its last holder. */

/* The effect of a rewind to a point: a plan, and its preview. */
struct preview {
    atomic_uint holders;
    struct rewind_options options;
    struct rewind_plan plan;
    struct rewind_preview preview;
};

/* Returns an empty preview for the caller, its only holder, to fill in. NULL if out of memory. */
struct preview *preview_new(void);
struct preview *preview_retain(struct preview *p);
void preview_free(struct preview *p); /* NULL is fine */
DEFINE_CLEANUP(struct preview, preview_free);

struct checkpoint_list *preview_checkpoints_new(void);       /* empty; NULL if out of memory */
void preview_checkpoints_free(struct checkpoint_list *list); /* NULL is fine */
DEFINE_CLEANUP(struct checkpoint_list, preview_checkpoints_free);

/* One file of a preview, line by line: from its present content to the wanted one. */
struct comparison {
    size_t entry;
    struct rewind_sides sides; /* the diff borrows from them */
    struct linediff diff;
};

void preview_comparison_free(struct comparison *c); /* NULL is fine */
DEFINE_CLEANUP(struct comparison, preview_comparison_free);

/* The selected part of a preview: one item for each of its entries, with copies of the hunks. */
struct preview_selection {
    struct rewind_selection *pick; /* owned, including its hunks */
    size_t n;
};

struct preview_selection *
preview_selection_new(size_t n); /* nothing is picked; NULL if out of memory */
struct preview_selection *preview_selection_copy(const struct preview_selection *from);
/* Returns one flag for each of n hunks, for the caller to change; all are set at first. NULL if out
 * of memory. */
bool *preview_selection_hunks(struct preview_selection *p, size_t entry, size_t n);
void preview_selection_free(struct preview_selection *p); /* NULL is fine */

/* The result of a rewind, or of undoing one. */
struct rewind_summary {
    char record[40]; /* the undo record; "": nothing had to be done */
    size_t restored, created, deleted;
    bool conversation_changed; /* the conversation was rewound or restored: */
    size_t dropped, added, kept;
    size_t skipped; /* files that were left unchanged: in conflict, or not allowed to be undone */
    char skipped_name[160];  /* one of them */
    const char *skipped_why; /* static text */
    /* If an undo has done nothing yet: the files that changed since. Owned by the message; NULL if
     * no file changed. */
    struct name_list *edited;
    bool needs_confirmation; /* there are such files */
};

#endif
