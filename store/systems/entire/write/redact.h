#ifndef STORE_SYSTEMS_ENTIRE_WRITE_REDACT_H
#define STORE_SYSTEMS_ENTIRE_WRITE_REDACT_H

#include "lite/base/buf.h"
#include "lite/base/slice.h"

/* Committed checkpoints are pushed: what looks like a secret does not go into them (entire.md 2.7). Runs of letters that
 * are too random for words, and what secrets.h knows by its looks, become REDACTED. Of JSON rows only values are looked at, as
 * the text that they stand for, and not where ids, signatures and images stand; what holds no secret keeps its bytes. */
MUST_CHECK enum err_code redact_text(struct slice text, struct buf *out);
/* Line by line; a line that is no JSON is taken as text. A private key that a text spreads over lines is found in the
 * text of a row, and by its parts elsewhere. */
MUST_CHECK enum err_code redact_json_rows(struct slice rows, struct buf *out);

#endif
