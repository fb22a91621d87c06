#ifndef STORE_LOG_LOG_FIND_H
#define STORE_LOG_LOG_FIND_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/id.h"
#include "lite/io/file.h"

/* Finds a few rows in a log of any size without an index: a search for bytes, backwards from the end in pieces, at the
 * speed of memory. It finds positions; the line around a position shows whether the row is the wanted one. */

/* Called for each position. `rest` begins there and has at least LOG_FIND_REST bytes if the file does. Within a piece
 * the positions are in the order of the file. Set *enough if no earlier piece is needed; the rest of this one still
 * follows. */
typedef enum err_code log_find_fn(void *arg, struct slice rest, int64_t offset, bool *enough,
                                  struct err *e);
enum { LOG_FIND_REST = 4096, LOG_FIND_PATTERN_MAX = 64 };

/* Finds every occurrence of the part before `end`. The part has at most LOG_FIND_PATTERN_MAX bytes. */
MUST_CHECK enum err_code log_find_backward(const struct file *f, int64_t end, struct slice part,
                                           log_find_fn *fn, void *arg, struct err *e);

/* Reads the line around an offset, without its newline, into an emptied buffer; *begin is where it begins. */
MUST_CHECK enum err_code log_find_line(const struct file *f, int64_t offset, struct buf *line,
                                       int64_t *begin, struct err *e);

/* Finds which of n rows need not be written: a whole row of the log, or an earlier one of the n, has the same id (its
 * "uuid"). A row without an id (empty) is always new. Ids that the log writes with escapes are found; a key written
 * with escapes is not. */
MUST_CHECK enum err_code log_find_repeated(const char *path, unsigned flags,
                                           const struct slice id[], size_t n, bool repeated[],
                                           struct err *e);

#endif
