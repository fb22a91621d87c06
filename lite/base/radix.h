#ifndef LITE_BASE_RADIX_H
#define LITE_BASE_RADIX_H

#include <stddef.h>
#include <stdint.h>

#include "lite/base/slice.h"

/* A radix sort: sorts items by one number each in linear time, 100,000 of them in a millisecond or two.
 *
 * An item is eight bytes, so that many fit into a cache. Its upper bits are compared; its low bits identify the thing
 * that is sorted. */

/* Returns how many low bits of an item are needed to tell n things apart. */
unsigned radix_value_bits(size_t n);
/* On entry item[i] is only a value (the low bits). key[i] is put above it, with as many of the high bits in which the
 * keys differ as fit. Returns how many low bits of the keys did not fit. If it is 0, items with equal upper parts have
 * equal keys; otherwise the caller must compare such items itself. */
unsigned radix_pack(uint64_t *item, const uint64_t *key, size_t n, unsigned value_bits);
/* Sorts the items, smallest first. `spare` is room for n more items. */
void radix_sort(uint64_t *item, uint64_t *spare, size_t n);

/* Returns the next RADIX_CHUNK bytes of a text from `depth` on as a number that sorts as they do. A shorter text is
 * padded with zeros. */
enum { RADIX_CHUNK = sizeof(uint64_t) };
uint64_t radix_text_key(struct slice text, size_t depth);

#endif
