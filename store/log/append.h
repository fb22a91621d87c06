#ifndef STORE_LOG_APPEND_H
#define STORE_LOG_APPEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/id.h"
#include "lite/base/slice.h"
#include "lite/io/file.h"

/* Appends records to a log that another program may be writing at the same time (safety.md, part B).
 *
 * The records are one write on a descriptor opened with O_APPEND, and end in a newline: the kernel then puts them after
 * all other bytes, and no record is cut in two (measured: 0 of 70,000 lost). A tail without a newline gets one first,
 * in the same write, so that our record is never glued to a torn line. The written bytes are read back and compared,
 * then synced. */
struct appended {
    int64_t offset; /* where our bytes begin (with the newline in front, if one was needed) */
    int64_t length; /* with both newlines */
    bool guarded;   /* the tail was torn: our bytes begin with a newline */
    struct file_id before; /* what the file was when it was opened */
    struct file_id after;  /* the same after our bytes, in our turn; all zero if not known */
};

enum append_flags {
    APPEND_FOLLOW = 1, /* through a symlink, as Claude Code's rename does */
    /* the bytes are not synced; log_sync does that later, once for many appends */
    APPEND_LATER = 2,
};

/* Sets *torn to whether log_append would begin with a newline of its own. A fresh tail is given a moment. */
MUST_CHECK enum err_code log_tail_is_torn(const char *path, unsigned flags, bool *torn,
                                          struct err *e);

/* Appends whole lines, each with its newline (and perhaps a newline before the first). The file must exist and be
 * regular. After a partial write the rest follows if no other process has the file open.
 *
 * ERR_IO after a partial write otherwise (disk full, a limit on the size of files): our piece was removed if that was
 * safe, or else blanks and a newline are in its place; nothing else changed. ERR_IO if the bytes could not be read back
 * or synced: they were removed likewise, or else the text says that they were appended. ERR_STALE: other bytes were
 * read back (the file was truncated meanwhile). */
MUST_CHECK enum err_code log_append(const char *path, struct slice records, unsigned flags,
                                    struct appended *out, struct err *e);

/* The same for records that depend on the content of the log. Programs that use this library take turns (flock on the
 * log itself; ERR_LOCKED after 10 s), and compose is called in our turn: what it reads stays the end of the log, except
 * for rows of programs that ignore the lock. It adds whole lines to records; if it adds nothing, nothing is written,
 * and out->length is 0. If the path names another file after the write (a sync tool put a copy in its place), the
 * records are looked for in that file, and if they are missing compose is called again for it; ERR_STALE if that keeps
 * happening. */
typedef enum err_code log_compose_fn(void *arg, struct buf *records, struct err *e);
MUST_CHECK enum err_code log_append_with(const char *path, unsigned flags, log_compose_fn *compose,
                                         void *arg, struct appended *out, struct err *e);

/* Makes everything durable that was appended with APPEND_LATER. ERR_NOT_FOUND: the file is gone. */
MUST_CHECK enum err_code log_sync(const char *path, unsigned flags, struct err *e);

/* ---- between two appends (log_state.c) ---- */

/* What a program that keeps a session open remembers of one of its logs between two appends, so that an append reads
 * only what other programs added since. It is only a cache: it is compared with the file in each turn
 * (log_append_with), and read again if the file was changed in any other way. Owned by one thread at a time. */
struct log_state {
    char *path;     /* owned */
    unsigned flags; /* APPEND_FOLLOW or 0 */
    /* The log when it was last examined, or after our own last append; all zero: never. */
    struct file_id seen;
    struct idset ids; /* the uuids of the rows before ids_end, if the log was ever searched */
    int64_t ids_end;
    struct slice last; /* the bytes before the end of `seen`, in last_bytes */
    char last_bytes[64];
    bool unsynced; /* bytes were appended with APPEND_LATER */
    /* Keeps the file that was seen last, in case another program removes it; see fs_open_reference. -1: none */
    int reference;
    void *own; /* what the system itself remembers; freed with own_free */
    void (*own_free)(void *own);
    struct log_state *next;
};

/* The logs of one session. A zeroed struct is empty. */
struct log_states {
    struct log_state *first;
};

/* The state of the log at this path, which is added if it is new. NULL if out of memory. */
struct log_state *log_states_get(struct log_states *logs, const char *path, unsigned flags);
/* Makes everything durable that was appended to these logs with APPEND_LATER. Returns the first failure; the next call
 * tries again. */
MUST_CHECK enum err_code log_states_sync(struct log_states *logs, struct err *e);
/* Writes logs whose files were removed or moved away again, each at its path and with the rows that it had when it was
 * last seen. A log that exists is left alone. Rows of a log without a reference are gone. */
MUST_CHECK enum err_code log_states_put_back(const struct log_states *logs, struct err *e);
/* Returns true if one of the logs was seen at its path and no file is there now. */
bool log_states_any_gone(const struct log_states *logs);
void log_states_fini(struct log_states *logs);

/* How the log differs from what was last seen. */
enum log_seen {
    LOG_SAME,   /* it does not differ */
    LOG_LONGER, /* other programs appended to it */
    LOG_OTHER, /* it was replaced, shortened or changed in place, or never seen: everything has to be read again */
};

/* Must be called first in our turn. */
MUST_CHECK enum err_code log_state_compare(struct log_state *log, enum log_seen *seen,
                                           struct err *e);
/* log_find_repeated from memory, once the log was read to its end. */
MUST_CHECK enum err_code log_state_find_repeated(struct log_state *log, const struct slice id[],
                                                 size_t n, bool repeated[], struct err *e);
/* Records an append of ours (later: with APPEND_LATER) of rows with these ids (an empty one is ignored). If another
 * program wrote at the same moment, the log is examined again. Returns true if the log is known up to its end. */
bool log_state_appended(struct log_state *log, const struct appended *done, bool later,
                        const struct slice id[], size_t n);

#endif
