#ifndef TUI_RADIX_H
#define TUI_RADIX_H

#include <stddef.h>
#include <stdint.h>

/* Sorting by numbers in a time that grows with their count only: 100,000 in a millisecond or two. */
struct radix_item {
    uint64_t key;
    uint32_t value; /* what the key is of */
};

/* Smallest key first; equal ones stay as they stand. spare: room for n, whatever is in it. */
void radix_sort(struct radix_item *item, struct radix_item *spare, size_t n);

#endif
