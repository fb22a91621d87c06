#ifndef STORE_SYSTEMS_ENTIRE_REDACT_H
#define STORE_SYSTEMS_ENTIRE_REDACT_H

#include "lite/buf.h"
#include "lite/slice.h"

/* Committed checkpoints are pushed: what looks like a secret does not go into them (entire.md 2.7). Runs of letters that
 * are too random for words become REDACTED; of JSON rows only in values, and not where ids and signatures stand.
 * Entire asks the rules of gitleaks besides, which are not part of this program: tokens with a known beginning are
 * looked for instead. */
MUST_CHECK enum err_code redact_text(struct slice text, struct buf *out);
/* Line by line; a line that is no JSON is taken as text. */
MUST_CHECK enum err_code redact_rows(struct slice rows, struct buf *out);

#endif
