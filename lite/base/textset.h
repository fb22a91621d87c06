#ifndef LITE_BASE_TEXTSET_H
#define LITE_BASE_TEXTSET_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/base/err.h"
#include "lite/base/slice.h"

/* A set of texts, numbered in the order in which they came: what belongs to a text lies in an array of the caller's.
 * The texts are borrowed. An empty set is all zero. */
struct textset {
    struct slice *text; /* owned, as is slot */
    uint32_t *slot;
    size_t n, cap, slots;
};

#define TEXTSET_NONE UINT32_MAX

/* *number: the text's, old or new. ERR_NOMEM. */
MUST_CHECK enum err_code textset_add(struct textset *set, struct slice text, uint32_t *number);
uint32_t textset_find(const struct textset *set,
                      struct slice text); /* TEXTSET_NONE: it is not in it */
void textset_fini(struct textset *set);

#endif
