#ifndef LITE_BASE_ARRAY_H
#define LITE_BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Growable arrays. The array is three members of the struct that owns it: a pointer to the items, their number, and the
 * capacity:
 *
 *     struct log { struct row *row; size_t n, cap; };
 *
 *     if (!array_reserve(log->row, log->cap, log->n + 1))
 *         return err_nomem(e);
 *     log->row[log->n++] = row;
 *
 * All three start as zero; the owner frees the pointer with free(). New items are not initialised. */

/* Makes room for at least `need` items; the capacity doubles, so that appending takes constant time
 * per item. Returns false if out of memory or if the size overflows; the array is then unchanged. */
#define array_reserve(items, cap, need) array_grow(&(items), sizeof *(items), &(cap), (need))

/* Called by array_reserve; `items` points to the pointer. */
bool array_grow(void *items, size_t size, size_t *cap, size_t need);

/* Doubles the slots of a hash table (32 at first). All slots are then UINT32_MAX, and the caller has to insert its
 * items again. Returns false if out of memory; the slots are then unchanged. */
bool array_double_slots(uint32_t **slot, size_t *slots);

/* Loads memory that is needed a few steps later into the cache. */
static inline void prefetch(const void *at)
{
    __builtin_prefetch(at);
    /* gcc assumes that a function that only does this has no effect, and drops its calls. */
    __asm__ volatile("" : : "r"(at));
}

#endif
