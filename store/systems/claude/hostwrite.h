#ifndef STORE_SYSTEMS_CLAUDE_HOSTWRITE_H
#define STORE_SYSTEMS_CLAUDE_HOSTWRITE_H

#include "store/store.h"

/* What the calls of a host that write to a transcript share. */

/* Appends whole lines, done at once. Metadata rows that they would push out of the window in which listings look
 * come again behind them, unless the lines say the same thing anew. */
MUST_CHECK enum err_code claude_write_rows(const struct store_env *env,
                                           const struct session_ref *ref, struct slice lines,
                                           struct err *e);

#endif
