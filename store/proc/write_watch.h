#ifndef STORE_PROC_WRITE_WATCH_H
#define STORE_PROC_WRITE_WATCH_H

#include "store/api/store.h"
#include "store/proc/live.h"

/* A program that opens a session's files anew for each row is in no registry and holds nothing open: all that shows of
 * it is that they change (safety.md C 4). Of those sessions that are said to be quiet, what was written to in the
 * last ten seconds, or since the command began, is watched for 300 ms, all together. One that changes becomes
 * LIVE_UNKNOWN. */
MUST_CHECK enum err_code write_watch_run(const struct session_ref *const ref[], size_t n,
                                         struct live out[], struct err *e);

#endif
