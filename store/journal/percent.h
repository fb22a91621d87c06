#ifndef STORE_JOURNAL_PERCENT_H
#define STORE_JOURNAL_PERCENT_H

#include <stdbool.h>

#include "lite/base/arena.h"
#include "lite/base/buf.h"
#include "lite/base/slice.h"

/* Any bytes as printable ASCII: %XX for controls, for all above '~' and for '%' itself. Our own records keep
 * paths, ids and titles in it, because JSON text cannot hold every name that a file may have. */

/* Replaces what was in out. */
MUST_CHECK enum err_code percent_encode(struct slice bytes, struct buf *out);
/* A NUL follows the bytes. False for a malformed text, or without memory. */
bool percent_decode(const char *text, struct arena *a, struct slice *out);

#endif
