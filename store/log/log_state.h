#ifndef STORE_LOG_LOG_STATE_H
#define STORE_LOG_LOG_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/err.h"
#include "lite/base/id.h"
#include "lite/base/slice.h"
#include "lite/io/file.h"
#include "store/log/append.h"

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
    void *own;     /* what the system itself remembers; freed with own_free */
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
