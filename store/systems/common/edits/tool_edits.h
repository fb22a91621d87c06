#ifndef STORE_SYSTEMS_COMMON_EDITS_TOOL_EDITS_H
#define STORE_SYSTEMS_COMMON_EDITS_TOOL_EDITS_H

#include "lite/base/arena.h"
#include "lite/base/slice.h"
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
    /* what the row says about an edit: only time, turn, message, agent and copied are used */
    struct edit now;
    struct slice row;

    /* Private. */
    struct arena arena; /* calls that have no result yet */
    struct tool_edits_call *call;
    size_t calls;
    bool moved; /* a shell that is kept open may be in another directory */
    size_t rows;
    struct arena scratch; /* owns the texts of one row */
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

/* ---- reads (read_calls.c) ---- */

/* Calls with which an agent reads a file. Their results prove what it contained then. */

/* Returns true if the call reads a whole file, and sets its path as written. */
bool read_call_path(struct slice name, struct slice input, struct arena *a, struct slice *path);
/* Returns true if the result of a call that failed shows that there is no such file. */
bool read_call_is_missing(struct slice result, struct slice path);
/* Returns true if the result refers to an earlier one instead of the text. */
bool read_call_is_repeated(struct slice result);
/* The text that a result shows: itself, or without the numbers before its lines. Then nothing shows whether the last line
 * has an end, and it has none. Borrowed, or in the arena, which has failed if out of memory. */
struct slice read_call_text(struct slice result, struct arena *a);

/* ---- lists by a shell (listed.c) ---- */

/* What the output of a shell command that lists files ("ls -R", "cd src && ls -la", "find .") shows of one file. Anything
 * that is not understood completely shows nothing. */

enum listed { LISTED_UNKNOWN, LISTED_ABSENT, LISTED_PRESENT };

/* dir: where the command ran; path: of the file; both absolute and normalized. output: all that a command which
 * succeeded wrote; an agent may have added lines of its own, and wrapped lines. */
enum listed listed_by_command(struct slice command, const char *dir, struct slice output,
                              const char *path);

/* Returns true if the result that an agent recorded of a command is that of one that succeeded, with all of its output. */
bool listed_is_whole(struct slice result);

/* ---- the listing at the start of a session (listing.c) ---- */

/* The directory that an agent shows to its model at the start of a session, drawn as a tree ("├── name", "└── dir/"). It
 * proves that a file was not there. */

struct listing {
    const char *root;  /* the directory, absolute */
    struct slice tree; /* from the first line of the tree; other text may follow */
    int64_t time_ms;   /* when it was listed */
    size_t most;       /* the agent never shows more entries; 0: it marks what it leaves out */
    /* files that git ignores are left out without a mark */
    bool skips_ignored;
};

/* Returns true if the listing shows that there is no file with this name, relative to the directory. False if it is not
 * certain: a directory need not be listed, or not completely. */
bool listing_lacks(const struct listing *l, struct slice name);

/* Finds the listing in a row. Texts are in the arena or borrowed. */
typedef bool listing_find_fn(const struct session_ref *ref, struct slice row, struct arena *a,
                             struct listing *out);
/* Reports an EDIT_SEEN without a file for each path of the query that is absent in the first listing of the session, which is
 * in one of its first rows. */
MUST_CHECK enum err_code listing_report(const struct session_ref *ref, listing_find_fn *find,
                                        const struct edit_query *q, edit_fn *fn, void *arg,
                                        struct err *e);

#endif
