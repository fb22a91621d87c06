#ifndef LITE_BASE_ARRAY_H
#define LITE_BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Growable arrays. The array is three members of the struct that owns it: a pointer to the items,
 * how many there are, and for how many there is memory:
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

/* Replaces the slots of a hash table by twice as many (32 at first), all of them UINT32_MAX: the caller puts its items
 * in again. Returns false if out of memory; the slots are then unchanged. */
bool array_double_slots(uint32_t **slot, size_t *slots);

/* Loads memory into the cache that is needed a few steps later. */
static inline void prefetch(const void *at)
{
    __builtin_prefetch(at);
    /* gcc takes a function that does only this for one without effect and drops its calls. */
    __asm__ volatile("" : : "r"(at));
}

#endif
