#ifndef STORE_REWIND_RECORDS_H
#define STORE_REWIND_RECORDS_H

#include <limits.h>

#include "store/rewind/rewind.h"

/* Private to store/rewind/. Makes <state>/rewinds and takes its lock (flock: it dies with the process). ERR_LOCKED
 * names the holder. */
MUST_CHECK enum err_code rewinds_open(const struct store_env *env, char dir[PATH_MAX], int *lock,
                                      struct err *e);
/* The newest `most` records, newest first, as far as they can be read; *more false ends it. No record is no error. */
struct tx;
typedef enum err_code rewinds_fn(const struct tx *tx, void *arg, bool *more, struct err *e);
MUST_CHECK enum err_code rewinds_each(const struct store_env *env, size_t most, rewinds_fn *fn,
                                      void *arg, struct err *e);
/* Finishes or drops what crashes left; the lock is held. */
MUST_CHECK enum err_code rewinds_recover(const struct store_env *env, const char *dir,
                                         size_t *recovered, struct err *e);

#endif
