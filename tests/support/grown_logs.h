#ifndef TESTS_SUPPORT_GROWN_LOGS_H
#define TESTS_SUPPORT_GROWN_LOGS_H

#include <stdbool.h>

#include "lite/base/buf.h"

/* Logs that have grown, where there are no leases and nothing is cut off (docs/architecture.md, "Portability"): what
 * was appended and did not count is blanked there, what was undone is contradicted by a row. Behind its old end such a
 * log is shown as nothing, or as the row that is in force, so that it compares with the old tree and the new one. With
 * leases nothing here does anything. */

/* Remembers how long the logs (*.jsonl) below a directory are. */
void grown_logs_begin(const char *dir);
/* Remembers what the operation has appended to them since. */
void grown_logs_learn(const char *dir);
/* Takes what does not count out of a log's bytes. `name` is relative to the directory. Returns true if it had grown, so
 * that its time is a later one too. */
bool grown_logs_settle(const char *name, struct buf *bytes);

#endif
