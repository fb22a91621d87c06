#ifndef STORE_REWIND_RECORD_RECORDS_H
#define STORE_REWIND_RECORD_RECORDS_H

#include <limits.h>

#include "store/rewind/plan/rewind.h"

/* Private to store/rewind/. Makes <state>/rewinds and takes its lock (flock: it dies with the process). ERR_LOCKED
 * names the holder. */
MUST_CHECK enum err_code rewind_records_open(const struct store_env *env, char dir[PATH_MAX],
                                             int *lock, struct err *e);
/* The newest `most` records, newest first, as far as they can be read; *more false ends it. No record is no error. */
struct rewind_tx;
typedef enum err_code rewind_records_fn(const struct rewind_tx *tx, void *arg, bool *more,
                                        struct err *e);
MUST_CHECK enum err_code rewind_records_each(const struct store_env *env, size_t most,
                                             rewind_records_fn *fn, void *arg, struct err *e);
/* Finishes or drops what crashes left; the lock is held. Records that have to wait are no error. */
MUST_CHECK enum err_code rewind_records_recover(const struct store_env *env, const char *dir,
                                                struct rewind_recovery *out, struct err *e);
/* Removes the record's own temporary files. Afterwards nobody would look for them. */
MUST_CHECK enum err_code rewind_records_sweep(const char *dir, struct err *e);
/* Was none cut short? Then nothing needs to be written: no lock is taken, also where none could be. */
MUST_CHECK enum err_code rewind_records_are_done(const char *dir, bool *all, struct err *e);

#endif
