#ifndef STORE_GREP_GREP_RUN_H
#define STORE_GREP_GREP_RUN_H

#include "store/api/store.h"
#include "store/grep/grep.h"

/* A search through many sessions. */

/* Some of what was found in one session. Texts are valid during the call. */
struct grep_part {
    size_t session;                /* its place among those that are searched */
    const struct session_row *row; /* NULL from grep_refs */
    const struct grep_hit *hit;
    size_t n;
    bool last;      /* the last part of this session */
    uint64_t lines; /* with `last`: lines of the session with a match */
    size_t skipped; /* with `last`: rows that are too long, or on which a pattern took too long */
};

/* A non-zero result ends the search and is returned. Called on the calling thread. */
typedef enum err_code grep_fn(const struct grep_part *part, void *arg, struct err *e);

/* Searches the sessions of a listing that was opened with q->sessions, newest first, on several threads, and passes
 * hits to fn as they are found. A session that cannot be read is skipped and passed to trouble. Memory does not grow with the number of sessions or hits.
 *
 * ERR_USAGE: a pattern is empty or invalid; the text contains the reason and the position. ERR_UNSUPPORTED: the
 * patterns take too long on these texts. ERR_CANCELLED: the flag was raised, or fn returned it. */
MUST_CHECK enum err_code grep_run(struct listing *listing, const struct grep_query *q, grep_fn *fn,
                                  unreadable_fn *trouble, void *arg, struct err *e);

/* The same for sessions that are known already, in this order; they are not described, and q->sessions is ignored. */
MUST_CHECK enum err_code grep_refs(const struct session_ref *const order[], size_t n,
                                   const struct grep_query *q, grep_fn *fn, unreadable_fn *trouble,
                                   void *arg, struct err *e);

#endif
