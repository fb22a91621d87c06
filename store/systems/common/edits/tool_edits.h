#ifndef STORE_SYSTEMS_COMMON_EDITS_TOOL_EDITS_H
#define STORE_SYSTEMS_COMMON_EDITS_TOOL_EDITS_H

#include "lite/base/arena.h"
#include "store/api/edit.h"
#include "store/api/store.h"

/* The edits of a session, read from its tool calls and their results as `blocks` returns them. A call counts once it
 * has a result that is not an error.
 *
 * The input of a call is understood by its members, as most agents write them: a path (file_path, path, ...) with
 * old_string and new_string (or edits, a list of them, or blocks of SEARCH and REPLACE), with content, or with only a
 * patch; a patch in the form of apply_patch; or a shell command that consists of mv, rm and cd with plain names.
 * Anything else is not an edit. */

/* Completes an edit with what the row of its result records: whole texts before and after, whether it was copied.
 * Texts borrow from the row or are in the arena. Clears *counts if the row proves that nothing was done. */
typedef void tool_edits_fill_fn(struct slice row, struct arena *a, struct edit *edit, bool *counts);

/* Finds the turn of the row that is being read: sets `turn` and `prompt`, which stay valid during the next call. */
typedef enum err_code tool_edits_turn_fn(void *arg, struct edit *edit, struct err *e);

struct tool_edits_call;

struct tool_edits {
    const struct edit_query *q;
    edit_fn *fn;
    void *arg;
    tool_edits_fill_fn *fill; /* may be NULL */
    tool_edits_turn_fn *turn; /* may be NULL: `now` has the turn */
    void *turn_arg;
    const char *cwd; /* base of relative paths; NULL: those are skipped */
    struct edit now; /* of the row: only time, turn, message and agent are used */
    struct slice row;

    /* Private. */
    struct arena arena; /* calls that have no result yet */
    struct tool_edits_call *call;
    size_t calls;
    bool moved; /* a shell that is kept open may be in another directory */
    size_t rows;
    struct arena scratch; /* of one row */
};

/* Handles one row, in the order of the transcript. */
MUST_CHECK enum err_code tool_edits_blocks(struct tool_edits *t, const struct block_list *blocks,
                                           struct err *e);
/* Returns true if the row may contain the result of an earlier call. */
bool tool_edits_waits_for(const struct tool_edits *t, struct slice row);
/* Reports one edit of this row, for systems whose rows record edits in another way. Edits that the query does not match
 * are dropped; path may be relative. */
MUST_CHECK enum err_code tool_edits_put(struct tool_edits *t, const struct edit *edit,
                                        struct err *e);
void tool_edits_fini(struct tool_edits *t);

/* ---- whole sessions ---- */

/* The edits of a session whose rows are lines of files (row_keys), on all of its branches and in its sub-agents. Files
 * that cannot name the query's paths are read once and not parsed. ops: the system of the rows; the ref's store may be
 * that of another system. */
MUST_CHECK enum err_code tool_edits_files(const struct store_ops *ops,
                                          const struct session_ref *ref, const struct edit_query *q,
                                          tool_edits_fill_fn *fill, edit_fn *fn, void *arg,
                                          struct err *e);
/* The same for sessions in other forms, through blocks and a load that may also return undone turns: the conversation
 * and its sub-agents. */
MUST_CHECK enum err_code tool_edits_rows(const struct store *st, const struct session_ref *ref,
                                         store_load_fn *load, const struct edit_query *q,
                                         tool_edits_fill_fn *fill, edit_fn *fn, void *arg,
                                         struct err *e);
/* The same as a member of store_ops, for systems whose calls have the usual forms and whose results record nothing
 * else. */
store_edits_fn tool_edits_loaded;
/* The same for stores that begin with a struct jsonl_store, with turns that were undone and branches that were left. */
store_edits_fn tool_edits_logged;

#endif
