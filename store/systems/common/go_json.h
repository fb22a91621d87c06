#ifndef STORE_SYSTEMS_COMMON_GO_JSON_H
#define STORE_SYSTEMS_COMMON_GO_JSON_H

#include <stdint.h>

#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"

/* JSON as Go's encoding/json writes it (goat.md B7), appended to a buffer. ERR_NOMEM only. */

/* A text with its quotes: <, > and & and the line ends of Unicode escaped, each broken byte as \ufffd. */
MUST_CHECK enum err_code go_json_text(struct buf *out, struct slice text);
/* A time: RFC 3339 in UTC with as many digits as are needed. */
MUST_CHECK enum err_code go_json_time(struct buf *out, int64_t ns);
/* A finite float64: the fewest digits that mean it, plain but for the very small and the very large (1e-7, 1e+21). */
MUST_CHECK enum err_code go_json_float(struct buf *out, double value);

/* A valid value as MarshalIndent would lay it out at this depth, two blanks each; texts and numbers as they stand. */
MUST_CHECK enum err_code go_json_indent(struct buf *out, struct slice value, unsigned depth);
/* A valid value without the blanks between its parts: as one line of a log. Texts say the same in Go's
 * spelling; numbers stay as they stand. */
MUST_CHECK enum err_code go_json_compact(struct buf *out, struct slice value);

#endif
