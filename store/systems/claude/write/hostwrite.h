#ifndef STORE_SYSTEMS_CLAUDE_WRITE_HOSTWRITE_H
#define STORE_SYSTEMS_CLAUDE_WRITE_HOSTWRITE_H

#include "lite/base/buf.h"
#include "store/api/store.h"

/* What the calls of a host that write to a transcript share. */

/* Where a resume goes on once the rows are written. */
struct claude_write_leaf {
    struct slice id; /* uuid; empty: nowhere */
    bool unknown;    /* it is not known: a last-prompt row stays where it is */
    bool wanted;     /* a last-prompt row is written where none is near the end */
};

/* Adds to rows that are about to be appended: metadata rows that they would push out of the window in which listings
 * look come again behind them, unless the rows say the same thing anew. leaf NULL: the rows change nothing about it. */
MUST_CHECK enum err_code claude_add_metarows(const struct session_ref *ref,
                                             const struct claude_write_leaf *leaf, struct buf *rows,
                                             struct err *e);
/* Appends whole lines that are no part of the conversation, and such metadata rows; done at once. */
MUST_CHECK enum err_code claude_write_rows(const struct store_env *env,
                                           const struct session_ref *ref, struct slice lines,
                                           struct err *e);

/* A text in the row that claude_create began the session with: "cwd", or the title that it did not get yet. Empty: there
 * is none. */
#define CLAUDE_CREATED_TITLE "createdTitle"
MUST_CHECK enum err_code claude_created_with(const char *path, const char *key, struct arena *a,
                                             struct slice *text, struct err *e);

#endif
