#ifndef STORE_LOG_LOG_FIND_H
#define STORE_LOG_LOG_FIND_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/id.h"
#include "lite/io/file.h"

/* Finding a few rows in a log of any size without an index of it: a search for bytes, from the end to the front in
 * pieces, which runs at the speed of memory. What it finds are places; whether a row is meant, its line tells. */

/* rest: from the place that was found on, at least LOG_FIND_REST bytes where the file has as many. Within a piece places come
 * in the order of the file. *enough: no piece before this one is needed; the rest of this one still comes. */
typedef enum err_code log_find_fn(void *arg, struct slice rest, int64_t offset, bool *enough,
                                  struct err *e);
enum { LOG_FIND_REST = 4096, LOG_FIND_PATTERN_MAX = 64 };

/* Every place before `end` where the part stands; it is at most LOG_FIND_PATTERN_MAX bytes. */
MUST_CHECK enum err_code log_find_backward(const struct file *f, int64_t end, struct slice part,
                                           log_find_fn *fn, void *arg, struct err *e);

/* The line around a place, without its newline, into an emptied buffer; *begin is where it begins. */
MUST_CHECK enum err_code log_find_line(const struct file *f, int64_t offset, struct buf *line,
                                       int64_t *begin, struct err *e);

/* Which of n rows, told by their ids, need not be written: a whole row of the log has the id as its "uuid", or an earlier
 * one of the n. A row without an id (empty) is always new. Ids that the log writes with escapes are found; a key that is
 * written with escapes is not. */
MUST_CHECK enum err_code log_find_repeated(const char *path, unsigned flags,
                                           const struct slice id[], size_t n, bool repeated[],
                                           struct err *e);

#endif
