#ifndef STORE_SYSTEMS_CLAUDE_WRITE_HOST_WRITE_H
#define STORE_SYSTEMS_CLAUDE_WRITE_HOST_WRITE_H

#include "lite/base/buf.h"
#include "store/api/store.h"
#include "store/systems/claude/write/metarow.h"

/* Shared by the calls of a host that write to a transcript. */

/* Where a resume continues once the rows are written. */
struct claude_write_leaf {
    struct slice id; /* uuid; empty: nowhere */
    bool unknown;    /* the leaf is not known: a last-prompt row is not moved */
    bool wanted;     /* a last-prompt row is written unless one is near the end */
};

/* Adds metadata rows to rows that are about to be appended to a file with this metadata near its end: those that would
 * otherwise be pushed out of the tail window, unless the new rows replace them. leaf NULL: the rows do not change where
 * a resume continues. */
MUST_CHECK enum err_code claude_add_metarows(const struct session_ref *ref,
                                             const struct metarows *near_end,
                                             const struct claude_write_leaf *leaf, struct buf *rows,
                                             struct err *e);
/* Appends whole lines that are not part of the conversation, together with these metadata rows. */
MUST_CHECK enum err_code claude_write_rows(const struct store_env *env,
                                           const struct session_ref *ref, struct slice lines,
                                           struct err *e);

/* Reads a text from the row with which claude_create began the session: "cwd", or the title, if it is not set yet.
 * Empty if absent. */
#define CLAUDE_CREATED_TITLE "createdTitle"
MUST_CHECK enum err_code claude_creation_text(const char *path, const char *key, struct arena *a,
                                              struct slice *text, struct err *e);

#endif
