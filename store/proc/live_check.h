#ifndef STORE_PROC_LIVE_CHECK_H
#define STORE_PROC_LIVE_CHECK_H

#include "store/api/store.h"

/* Is a program writing to each of n sessions? Sessions of one store that follow each other are asked about together if
 * the store can do that (live_many of store_ops).
 *
 * A program that opens a session's files anew for each row is in no registry and keeps nothing open: only the change of
 * the files shows that it is there. So the quiet sessions that were written to in the last ten seconds, or since the
 * command began, are watched for 300 ms, all together. One that changes becomes LIVE_UNKNOWN. */
MUST_CHECK enum err_code live_check(const struct session_ref *const ref[], size_t n,
                                    struct live out[], struct err *e);

#endif
