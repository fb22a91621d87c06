#ifndef STORE_JOURNAL_RECORD_ID_H
#define STORE_JOURNAL_RECORD_ID_H

#include "lite/base/err.h"
#include "store/api/env.h"

/* Ids of changes and of rewinds begin with a time in ms, fifteen digits of it, and sort by it: in both logs together,
 * since undo means the newest of either. So one is later than all there are, also where the clock went back. */
MUST_CHECK enum err_code record_id_next(const struct store_env *env, int64_t *ms, struct err *e);
/* Of an id; 0 where it is none. */
int64_t record_id_time(const char *id);

#endif
