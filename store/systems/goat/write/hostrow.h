#ifndef STORE_SYSTEMS_GOAT_WRITE_HOSTROW_H
#define STORE_SYSTEMS_GOAT_WRITE_HOSTROW_H

#include <stdbool.h>

#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/systems/goat/read/entry.h"

/* A row of a host, checked and written as the package itself would write it (goat.md B2, B3, B7). */

/* ERR_USAGE: a row that is no message (no event of the stream), or one that a Go program would pass over when it
 * loads the session, because a member is not of the type that its structs have. */
MUST_CHECK enum err_code goat_hostrow_check(const struct goat_entry *entry, bool stream,
                                            struct err *e);

/* A message: its id and time in front, then wrapped or flat what is said, in the order of the structs; what else the
 * host wrote follows. uuid and time are JSON values. ERR_NOMEM only, as below. */
MUST_CHECK enum err_code goat_hostrow_message(struct slice row, const struct goat_entry *entry,
                                              bool flat, struct slice time, struct buf *out);
/* An event of the SDK's stream. */
MUST_CHECK enum err_code goat_hostrow_event(struct slice row, const struct goat_entry *entry,
                                            struct slice session_id, struct buf *out);

#endif
