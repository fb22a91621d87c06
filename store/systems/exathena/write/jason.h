#ifndef STORE_SYSTEMS_EXATHENA_WRITE_JASON_H
#define STORE_SYSTEMS_EXATHENA_WRITE_JASON_H

#include "lite/base/arena.h"
#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"

/* A valid JSON value as the library's encoder writes it (exathena.md A2): no blanks between its parts, texts raw but for
 * what must be escaped; numbers stay as they stand. Half a surrogate pair, which the library cannot read, becomes
 * U+FFFD. ERR_NOMEM only. */
MUST_CHECK enum err_code jason_compact(struct buf *out, struct slice value, struct arena *a);

#endif
