#ifndef STORE_LOG_IDSET_H
#define STORE_LOG_IDSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/err.h"
#include "lite/scan/index.h"

/* Ids, numbered from 0 in the order in which they came. Whoever keeps something for each id keeps an array
 * by these numbers. Cost: 16 bytes an id and up to 16 for the look-up. A zeroed struct is an empty set. */
#define IDSET_NONE UINT32_MAX

struct idset {
    struct id128 *id; /* owned; by number */
    size_t n, cap;
    uint32_t *slot; /* open addressing, a power of two */
    size_t slots;
};

/* The number of an id, new or not. ERR_NOMEM, with nothing changed. */
MUST_CHECK enum err_code idset_add(struct idset *set, struct id128 id, uint32_t *number);
/* The number, or IDSET_NONE. */
uint32_t idset_find(const struct idset *set, struct id128 id);
bool idset_has(const struct idset *set, struct id128 id);
void idset_fini(struct idset *set);

#endif
