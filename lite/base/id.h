#ifndef LITE_BASE_ID_H
#define LITE_BASE_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/err.h"
#include "lite/base/slice.h"

/* An id in 16 bytes. A lower-case UUID is stored as its bytes, a text of up to 15 bytes with its length, and any other
 * string (the nil UUID too) as the first 16 bytes of its SHA-256. Index entries thus have a fixed size, and ids still
 * compare as opaque strings. All zero means no id. An id128 is never written anywhere. */
struct id128 {
    uint64_t hi, lo;
};

struct id128 id128_of(struct slice text); /* the decoded text, without quotes */
/* Reads 36 bytes. Returns false and leaves *id unchanged if they are not a lower-case UUID that is stored as its
 * bytes. */
bool id128_uuid(const char *p, struct id128 *id);
bool id128_none(struct id128 id);
bool id128_eq(struct id128 a, struct id128 b);

/* A set of ids, numbered from 0 in the order in which they were added. The caller keeps data that belongs to an id in
 * an array indexed by these numbers. Each id takes 16 bytes, and up to 16 more for the look-up. A zeroed struct is an
 * empty set. */
#define IDSET_NONE UINT32_MAX

struct idset {
    struct id128 *id; /* owned; by number */
    size_t n, cap;
    uint32_t *slot; /* open addressing, a power of two */
    size_t slots;
};

/* Sets *number to the number of the id, which is added if it is new. On ERR_NOMEM nothing is changed. */
MUST_CHECK enum err_code idset_add(struct idset *set, struct id128 id, uint32_t *number);
/* Returns the number, or IDSET_NONE. */
uint32_t idset_find(const struct idset *set, struct id128 id);
bool idset_has(const struct idset *set, struct id128 id);
void idset_fini(struct idset *set);

#endif
