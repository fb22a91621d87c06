#ifndef LITE_BASE_ID_H
#define LITE_BASE_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/err.h"
#include "lite/base/slice.h"

/* An id in 16 bytes. A lower-case UUID is stored as its bytes, and so is a text of up to 15, with its length; any other
 * string (the nil UUID too) by the first 16 bytes of its SHA-256, so that an index holds fixed-size entries and ids
 * still compare as opaque strings. All zero: none. It is never written anywhere. */
struct id128 {
    uint64_t hi, lo;
};

struct id128 id128_of(struct slice text); /* decoded text, no quotes */
/* Of 36 bytes; false (and *id as it was) when they are no lower-case UUID that stands for itself. */
bool id128_uuid(const char *p, struct id128 *id);
bool id128_none(struct id128 id);
bool id128_eq(struct id128 a, struct id128 b);

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
