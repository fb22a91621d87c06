#ifndef STORE_LOG_APPEND_H
#define STORE_LOG_APPEND_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "lite/io/file.h"

/* Adding records to a log that another program may be writing at this moment (safety.md B.
 *
 * One write, on a descriptor opened with O_APPEND, that ends in a newline: then the kernel puts it behind
 * everybody else's bytes and nobody's record is cut in two (measured there: 0 of 70,000 lost). A tail
 * without newline gets one first, in the same write, so that our record is never glued to a torn line. What
 * was written is read back and compared, then synced. */
struct appended {
    int64_t offset;        /* where our bytes begin (the guarding newline, if one was needed) */
    int64_t length;        /* with guard and newline */
    bool guarded;          /* the tail was torn: our bytes begin with a newline */
    struct file_id before; /* what the file was when it was opened */
};

enum append_flags {
    APPEND_FOLLOW = 1, /* through a symlink, as the vendor's rename does */
};

/* Would log_append begin with a newline of its own? A fresh tail is given a moment. */
MUST_CHECK enum err_code log_tail_is_torn(const char *path, unsigned flags, bool *torn,
                                          struct err *e);

/* records: whole lines, each with its newline (and perhaps a guarding one before the first). The file must exist and
 * be regular. After a partial write the rest follows where nobody else has the file open.
 * ERR_IO after a partial write otherwise (disk full, a limit on the size of files): our piece was taken back when that was
 * safe, else blanks and a newline lie in its place; nothing else changed. ERR_IO when it could not be read back or synced: taken
 * back likewise, else the text says that it is there. ERR_STALE: what was read back is not what
 * was written (the file was truncated under us). */
MUST_CHECK enum err_code log_append(const char *path, struct slice records, unsigned flags,
                                    struct appended *out, struct err *e);

/* The same for records that depend on what the log holds. Programs of ours take turns (flock on the log itself, for up to
 * 10 s: then ERR_LOCKED), and compose is called when it is our turn: what it reads in the log stays the end of it but
 * for rows of programs that know nothing of the lock. It adds whole lines to records, or nothing: then nothing is
 * written, and out->length is 0.
 * Where the path names another file after the write (a sync tool put a copy in its place), the records are looked for
 * in that one, and compose is called again for it; ERR_STALE when that happens again and again. */
typedef enum err_code log_compose_fn(void *arg, struct buf *records, struct err *e);
MUST_CHECK enum err_code log_append_with(const char *path, unsigned flags, log_compose_fn *compose,
                                         void *arg, struct appended *out, struct err *e);

#endif
