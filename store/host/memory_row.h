#ifndef STORE_HOST_MEMORY_ROW_H
#define STORE_HOST_MEMORY_ROW_H

#include "lite/base/arena.h"
#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"

/* Adds a row of any agent and its newline to the rows of the store in memory. It keeps its members and gets those of these
 * that it lacks, by which the store reads it: id, role ("user", "assistant", or another text for a row that is no
 * message) and text. The id is in the arena. */
MUST_CHECK enum err_code memory_row_add(struct slice row, struct arena *a, struct slice *id,
                                        struct buf *rows);

#endif
