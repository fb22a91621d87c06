#ifndef STORE_SYSTEMS_ENTIRE_WRITE_REDACT_H
#define STORE_SYSTEMS_ENTIRE_WRITE_REDACT_H

#include <stddef.h>

#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"

/* Committed checkpoints are pushed, so what looks like a secret is replaced by REDACTED (docs/formats/entire.md 2.7).
 *
 * Secrets are recognised by their form: tokens of well-known services by their public prefixes and lengths, private keys,
 * credentials in URLs and headers, values assigned to a telling name (password = ...), and runs of letters that are too
 * random to be words. Entire uses the more than two hundred rules of gitleaks; these are our own matchers for the most
 * common kinds. Not recognised are plain hex and UUIDs without a name next to them, and keys that only a checksum or a
 * request to the service could confirm. */
MUST_CHECK enum err_code redact_text(struct slice text, struct buf *out);
/* Redacts JSON rows line by line; a line that is not JSON is treated as text. Only values are examined, unescaped, except
 * ids, signatures and images. A value without a secret keeps its bytes. */
MUST_CHECK enum err_code redact_json_rows(struct slice rows, struct buf *out);

struct secret {
    const char *kind; /* "github token"; static */
    size_t at, n;     /* the range in the text */
};

struct secret_list {
    struct secret *secret; /* by offset; malloc'ed */
    size_t n, cap;
};

/* Adds the secrets that are found by their form, without those that are merely random. */
MUST_CHECK enum err_code redact_find(struct slice text, struct secret_list *list);
void redact_list_fini(struct secret_list *list);

#endif
