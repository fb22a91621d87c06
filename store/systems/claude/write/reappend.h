#ifndef STORE_SYSTEMS_CLAUDE_WRITE_REAPPEND_H
#define STORE_SYSTEMS_CLAUDE_WRITE_REAPPEND_H

#include "lite/base/buf.h"
#include "store/systems/claude/write/metarow.h"

/* Which rows have to be written again so that each type's newest row lies within the last WINDOW_BYTES once
 * `coming` more bytes were appended. Rows are copied as they are, in the client's order, each with a
 * newline. `except` names a type that the coming bytes hold already (METAROW_TYPES: none). A row that stays
 * inside the window is left alone. Adds to out; answers how many rows. */
MUST_CHECK enum err_code reappend_rows(const struct metarows *m, size_t coming,
                                       enum metarow_type except, struct buf *out, size_t *rows);

/* To be called before: a last-prompt row that would be written again gets the leaf from which a resume goes on once the
 * coming bytes are there (leaf; NULL: the one of the file at path). With the old one the next row would be put behind
 * that, and what lies between would be lost to the conversation. A row that was written to say just this ("explicit")
 * stays where it is as long as it holds: behind rows that another program adds at this moment it would take them out of the
 * conversation. */
MUST_CHECK enum err_code reappend_set_leaf(struct metarows *m, const char *path, size_t coming,
                                           const struct slice *leaf, struct arena *a,
                                           struct err *e);

#endif
