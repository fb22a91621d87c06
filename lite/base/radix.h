#ifndef LITE_BASE_RADIX_H
#define LITE_BASE_RADIX_H

#include <stddef.h>
#include <stdint.h>

#include "lite/base/slice.h"

/* Sorting things by a number each, in a time that grows with their count only: 100,000 in a millisecond or two.
 *
 * An item is all there is of a thing while it is sorted: what it is sorted by above, which one it is in the low bits.
 * Eight bytes, so that many of them fit into a cache. */

/* How many low bits of an item tell n things apart. */
unsigned radix_value_bits(size_t n);
/* item[i], which is nothing but its value so far, gets key[i] on top: as many of the high bits in which keys differ as
 * there is room for. The low bits of the keys that had none are counted: with 0, items whose upper parts are the same
 * have the same key; otherwise that is to be asked. */
unsigned radix_pack(uint64_t *item, const uint64_t *key, size_t n, unsigned value_bits);
/* Smallest first. spare: room for n, whatever is in it. */
void radix_sort(uint64_t *item, uint64_t *spare, size_t n);

/* The bytes of a text from `depth` on as a number that sorts as they do; a text that has ended goes on with zeros. */
enum { RADIX_CHUNK = sizeof(uint64_t) };
uint64_t radix_text_key(struct slice text, size_t depth);

#endif
