#ifndef STORE_QUERY_DESCRIBE_POOL_H
#define STORE_QUERY_DESCRIBE_POOL_H

#include <stddef.h>

#include "lite/base/err.h"
#include "store/api/scope.h"
#include "store/api/session.h"
#include "store/api/store.h"

/* Describes many sessions on several threads and hands the rows over in order. A few rows are worked on
 * ahead of the one that is due, and they are used again: memory does not grow with the list. Each
 * thread holds one descriptor at a time. Two threads do while the files are in memory; when the first
 * reads are slow, more are started, since the disk then is what one waits for. */

enum { DESCRIBE_POOL_AHEAD = 64 };

/* The i-th row, valid during the call; NULL: the session is gone. A non-zero answer ends the work and is
 * passed up. Called on the thread that asked. */
typedef enum err_code describe_pool_fn(size_t i, const struct session_row *row, void *arg,
                                       struct err *e);

/* ahead: how many rows may be made that are perhaps not wanted (a page that fills early), at
 * most DESCRIBE_POOL_AHEAD. */
MUST_CHECK enum err_code describe_pool_run(const struct scope *scope,
                                           const struct session_ref *const order[], size_t n,
                                           size_t ahead, describe_pool_fn *fn, void *arg,
                                           struct err *e);

#endif
