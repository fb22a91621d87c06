#ifndef STORE_SYSTEMS_CLAUDE_REAPPEND_H
#define STORE_SYSTEMS_CLAUDE_REAPPEND_H

#include "lite/buf.h"
#include "store/systems/claude/metarow.h"

/* Which rows have to be written again so that each type's newest row lies within the last WINDOW_BYTES once
 * `coming` more bytes were appended. Rows are copied as they are, in the client's order, each with a
 * newline. `except` names a type that the coming bytes hold already (METAROW_TYPES: none). A row that stays
 * inside the window is left alone. Adds to out; answers how many rows. */
MUST_CHECK enum err_code reappend_rows(const struct metarows *m, size_t coming,
                                       enum metarow_type except, struct buf *out, size_t *rows);

#endif
