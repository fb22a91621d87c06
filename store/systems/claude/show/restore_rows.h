#ifndef STORE_SYSTEMS_CLAUDE_SHOW_RESTORE_ROWS_H
#define STORE_SYSTEMS_CLAUDE_SHOW_RESTORE_ROWS_H

#include "store/api/restore.h"
#include "store/systems/claude/chain/row_facts.h"
#include "store/systems/claude/show/hidden_rows.h"

/* The rows of a conversation for a restore bundle, changed and hidden as the client does when it
 * loads them. Texts are in the arena of the bundle. */

struct claude_restore_row {
    struct slice row;
    struct id128 id;
    uint8_t kind;     /* enum claude_kind */
    uint8_t left_out; /* enum claude_hidden_row */
    /* the session ended during its calls: those without a result get one that reports this */
    bool cut;
};

struct claude_restore_rows {
    struct claude_restore_row *row; /* in the arena; oldest first */
    size_t n;
    struct arena *arena;
};

/* The row as the present client would have written it: attachments of old kinds get their new names, and an unknown
 * permission mode is removed. *out is `row` itself if nothing changes. Paths are shown relative to cwd. */
MUST_CHECK enum err_code claude_migrate_row(struct slice row, enum claude_kind kind,
                                            struct slice cwd, struct arena *a, struct slice *out);
/* Marks the rows that are left out, and the calls in which the session ended. The ids of calls without a result
 * (JSON texts of the rows) are added to unanswered, in their order. */
MUST_CHECK enum err_code claude_hide_rows(struct claude_restore_rows *r,
                                          struct claude_values *unanswered);
/* How the last turn ended. *prompt is the row of a prompt without an answer. */
enum interruption claude_interruption(const struct claude_restore_rows *r, struct slice *prompt);
/* Adds to out->messages what the client adds when it loads an interrupted conversation: a result for each unanswered
 * call, an empty answer after a user row, and the request to continue. out->interruption is set. */
MUST_CHECK enum err_code claude_close_rows(const struct claude_restore_rows *rows,
                                           const struct claude_values *unanswered,
                                           struct restore *out, int64_t now_ms);

#endif
