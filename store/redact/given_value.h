#ifndef STORE_REDACT_GIVEN_VALUE_H
#define STORE_REDACT_GIVEN_VALUE_H

#include "store/redact/redact.h"
#include "store/redact/secret_name.h"

/* Values that a name beside them makes secret: assignments and members in any language, flags, headers, elements. */

struct given {
    size_t at, n;
    bool quoted;
};

/* The value at a place in quotes, which may be escaped to any depth (\"), or up to where a word ends. `literal`: marks
 * that end an expression belong to the word. */
struct given given_read(struct slice text, size_t at, bool literal);
/* How many backslashes escape what is at a place. */
size_t given_depth(struct slice text, size_t at);
/* Returns true if it stands for a value or is the label of a field: "${TOKEN}", "<password>", "***", "Password". */
bool given_is_placeholder(struct slice value);
/* Returns true if a quoted value of such a name is a secret. */
bool given_is_secret(enum name_kind kind, struct slice value);
/* Adds the secret whose name ends at an operator or a blank. Returns where to go on looking: `at`, or its end. */
MUST_CHECK enum err_code given_find(struct slice text, size_t at, struct secret_list *list);

#endif
