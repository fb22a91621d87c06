#ifndef STORE_SYSTEMS_COMMON_LOG_HEAD_H
#define STORE_SYSTEMS_COMMON_LOG_HEAD_H

#include "store/api/store.h"
#include "store/log/log_damage.h"

/* Some agents begin each log with a row of a certain type, without which they do not take the file for a session. What it
 * said (the directory, the version, the model's instructions) is nowhere else, so that it cannot be made again. */

/* Returns true if the agent's logs begin so, and this undamaged row is the first one of a log and of another type. Rows
 * without a type are those of old versions, and are not judged. */
bool log_head_is_lost(const struct store *st, struct slice row);

/* Reports the loss (FINDING_NO_SESSION) if the first undamaged row of the log is another one, and the right one is not in
 * a damaged line above it, from which a repair brings it back. */
MUST_CHECK enum err_code log_head_check(const struct store *st, struct logfile *log,
                                        struct slice session, finding_fn *fn, void *arg,
                                        struct err *e);

#endif
