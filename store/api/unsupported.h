#ifndef STORE_API_UNSUPPORTED_H
#define STORE_API_UNSUPPORTED_H

#include "lite/base/err.h"
#include "store/api/session.h"

/* What a system has no member for (store_ops), told in its own words: on the screen and by a command alike. */

struct store_ops;

/* By the ability, of which one bit is asked. A literal; NULL: the system adds nothing to the fact. */
const char *unsupported_reason(const struct store_ops *ops, unsigned ability);

/* ERR_UNSUPPORTED of the session: what was wanted ("rename"), and why it cannot be. */
MUST_CHECK enum err_code unsupported_error(const struct session_ref *ref, unsigned ability,
                                           const char *what, struct err *e);

#endif
