#ifndef STORE_QUERY_DESCRIBE_POOL_H
#define STORE_QUERY_DESCRIBE_POOL_H

#include <stddef.h>

#include "lite/base/err.h"
#include "store/api/session.h"
#include "store/api/store.h"

/* Describes many sessions on several threads and delivers the rows in order. A few rows are made ahead of the one that
 * is due, and their memory is reused, so that memory does not grow with the list. Each thread has one file open at a
 * time. Two threads suffice while the files are in memory; if the first reads are slow, more are started, because the
 * disk is then the bottleneck. */

enum { DESCRIBE_POOL_AHEAD = 64 };

/* Receives the i-th row, valid during the call; NULL if the session is gone. A non-zero result ends the work and is
 * returned. Called on the calling thread. */
typedef enum err_code describe_pool_fn(size_t i, const struct session_row *row, void *arg,
                                       struct err *e);

/* `ahead` is how many rows may be made that are perhaps not needed (a page that fills early), at most
 * DESCRIBE_POOL_AHEAD. */
MUST_CHECK enum err_code describe_pool_run(const struct scope *scope,
                                           const struct session_ref *const order[], size_t n,
                                           size_t ahead, describe_pool_fn *fn, void *arg,
                                           struct err *e);

#endif
