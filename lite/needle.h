#ifndef LITE_NEEDLE_H
#define LITE_NEEDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/slice.h"

/* Looks for several short texts at once, from the end of the bytes to the front: a window is searched
 * for all its metadata keys in one pass. No needle may be the front of another.
 *
 * Four bytes are looked at where a needle might begin. If they stand nowhere in the needles' fronts, no
 * needle begins in the last `stride` places, and all of these are skipped; so the longer the shortest
 * needle, the faster (9 bytes a step with needles of 12: about 6 GB/s). The step does not depend on
 * what was loaded, which lets the processor run ahead; a table of shifts (Horspool) cannot. */
enum { NEEDLE_MAX = 24, NEEDLE_SHORTEST = 8, NEEDLE_TABLE = 4096 };

struct needle_set {
    struct slice needle[NEEDLE_MAX]; /* borrowed */
    uint64_t front[NEEDLE_MAX];      /* their first eight bytes */
    size_t n;
    size_t shortest;
    uint8_t place[NEEDLE_TABLE]; /* by hash of four bytes: where in a needle they first stand */
};

void needle_set_init(struct needle_set *set, const struct slice needles[], size_t n);
/* The last needle that begins before *at (start with text.n): its place in *at, its number in *which. */
bool needle_last(const struct needle_set *set, struct slice text, size_t *at, size_t *which);

#endif
