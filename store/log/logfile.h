#ifndef STORE_LOG_LOGFILE_H
#define STORE_LOG_LOGFILE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/id.h"
#include "lite/base/slice.h"
#include "lite/io/file.h"
#include "lite/scan/index.h"

/* index_build over a zeroed index with two threads: a large file is cut into pieces at line ends, because validating
 * JSON takes longer than reading it. The result is the same, line by line. */
MUST_CHECK enum err_code logfile_index_build(struct index *ix, const struct file *f,
                                             const struct index_keys *keys, unsigned flags,
                                             const atomic_bool *stop, struct err *e);

/* A log that is being read: the file, its line index, and one buffer through which rows are read again when a rule or
 * a reader needs their bytes. Owned by one thread. A zeroed struct with fd -1 is closed. */
struct logfile {
    struct file file;
    struct index index;
    struct buf bytes; /* what was read last */
    int64_t at;       /* the offset of these bytes in the file */
    const char *path; /* borrowed; for error texts */
    /* The last bytes when the file was opened: they are elsewhere, or gone, once it was rewritten in place. */
    char end[64];
    size_t end_n;
};

/* Opens the file and indexes all of it (INDEX_VALIDATE). flags are those of file_open. On failure nothing is left
 * open. ERR_STALE if the file was rewritten in place meanwhile. */
MUST_CHECK enum err_code logfile_open(struct logfile *log, const char *path, unsigned flags,
                                      const struct index_keys *keys, const atomic_bool *stop,
                                      struct err *e);
/* The same for the lines that are wholly in the last `bytes` of the file. The offset of the first line is 0 if and only
 * if nothing was left out. */
MUST_CHECK enum err_code logfile_open_tail(struct logfile *log, const char *path, unsigned flags,
                                           const struct index_keys *keys, size_t bytes,
                                           struct err *e);
/* Returns the bytes of one line, valid until the next call. Reads ahead if rows are read in file order. ERR_STALE if
 * the file became shorter or was rewritten in place. */
MUST_CHECK enum err_code logfile_row(struct logfile *log, size_t line, struct slice *row,
                                     struct err *e);
/* ERR_STALE if the file was rewritten in place since it was opened, so that the index does not describe what is read
 * from it now. For callers that read its bytes themselves, after they did. Appended rows are no change. */
MUST_CHECK enum err_code logfile_check(const struct logfile *log, struct err *e);
void logfile_close(struct logfile *log);

/* ---- finding bytes without an index ---- */

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
