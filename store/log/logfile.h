#ifndef STORE_LOG_LOGFILE_H
#define STORE_LOG_LOGFILE_H

#include <stdatomic.h>

#include "lite/base/buf.h"
#include "lite/base/err.h"
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
};

/* Opens the file and indexes all of it (INDEX_VALIDATE). flags are those of file_open. On failure nothing is left
 * open. */
MUST_CHECK enum err_code logfile_open(struct logfile *log, const char *path, unsigned flags,
                                      const struct index_keys *keys, const atomic_bool *stop,
                                      struct err *e);
/* The same for the lines that are wholly in the last `bytes` of the file. The offset of the first line is 0 if and only
 * if nothing was left out. */
MUST_CHECK enum err_code logfile_open_tail(struct logfile *log, const char *path, unsigned flags,
                                           const struct index_keys *keys, size_t bytes,
                                           struct err *e);
/* Returns the bytes of one line, valid until the next call. Reads ahead if rows are read in file order. ERR_STALE if
 * the file became shorter. */
MUST_CHECK enum err_code logfile_row(struct logfile *log, size_t line, struct slice *row,
                                     struct err *e);
void logfile_close(struct logfile *log);

#endif
