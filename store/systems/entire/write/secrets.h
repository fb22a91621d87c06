#ifndef STORE_SYSTEMS_ENTIRE_WRITE_SECRETS_H
#define STORE_SYSTEMS_ENTIRE_WRITE_SECRETS_H

#include <stdbool.h>
#include <stddef.h>

#include "lite/base/err.h"
#include "lite/base/slice.h"

/* Secrets by what they look like: tokens of well-known services by their public beginnings and lengths, private keys,
 * credentials in addresses and headers, and what is given to a name that says so (password = ...). Entire asks the rules of
 * gitleaks, of which there are more than two hundred; these are matchers of our own for the best-known kinds. Not known: what
 * services hand out as plain hex or UUIDs without a name beside it, and keys that only a checksum or an inquiry would
 * prove; random runs among those are found by their entropy (redact.h). */
struct secret {
    const char *kind; /* "github token"; static */
    size_t at, n;     /* of the text */
};

struct secret_list {
    struct secret *secret; /* by where they begin; malloc'ed */
    size_t n, cap;
};

/* Adds what is found in the text. */
MUST_CHECK enum err_code secrets_find(struct slice text, struct secret_list *list);
MUST_CHECK enum err_code secrets_add(struct secret_list *list, const char *kind, size_t at,
                                     size_t n);
void secrets_fini(struct secret_list *list);
/* Is this the value of a secret, given to such a name? */
bool secrets_is_given(struct slice name, struct slice value);
/* Bits a letter. */
double secrets_entropy(struct slice run);

#endif
