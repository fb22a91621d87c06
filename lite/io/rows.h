#ifndef LITE_IO_ROWS_H
#define LITE_IO_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "lite/io/file.h"

/* Reading on beyond the windows, row by row: a prompt may be behind a paste or a screenshot of many megabytes, and the
 * last row may be as long. Memory is that of the longest row. The limits are what no session meets; where they end a
 * walk, or memory for a row above ROWS_SPARE is short, the row counts as unreadable and is left out, not an error. */

enum { ROWS_MOST = 512 << 20, ROWS_LINE_MOST = 128 << 20, ROWS_SPARE = 1 << 20 };

/* Receives a row without its newline, valid during this call only: what is kept must be copied. A last row without a
 * newline is passed, too. Returns false to end the walk. */
typedef bool rows_fn(struct slice row, void *arg);

/* Walks through the rows that begin at `from`, which is the beginning of a row, to the size that the file had when it
 * was opened. Blank rows are passed. */
MUST_CHECK enum err_code rows_forward(const struct file *f, int64_t from, rows_fn *fn, void *arg,
                                      struct err *e);
/* Walks backwards through the rows that end at `to`, which is the end of a row or of the file. */
MUST_CHECK enum err_code rows_backward(const struct file *f, int64_t to, rows_fn *fn, void *arg,
                                       struct err *e);

/* The rest of the text after a byte order mark, which some editors write at the beginning of a file. */
struct slice rows_skip_mark(struct slice text);

#endif
