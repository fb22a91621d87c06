#ifndef LITE_BASE_ID128_H
#define LITE_BASE_ID128_H

#include <stdbool.h>
#include <stdint.h>

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

#endif
