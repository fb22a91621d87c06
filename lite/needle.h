#ifndef LITE_NEEDLE_H
#define LITE_NEEDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/slice.h"

/* Looks for several keys of JSON rows at once ("tag":  "type":"tag"  {"parentUuid":), from the end of the
 * bytes to the front: a window is searched for all its metadata in one pass.
 *
 * All that is asked of most bytes is whether a quote and a colon stand side by side, 64 places at a
 * time where the machine has AVX2 or AVX-512; the four bytes that end there, and two of the value, then leave few
 * pairs that may be in a needle. So a needle has to hold such a pair, with three bytes or more in front of it. No
 * needle may be the front of another, and those with the same pair must begin at the same distance from
 * it. */
enum { NEEDLE_MAX = 24, NEEDLE_SHORTEST = 8, NEEDLE_TABLE = 256 };
enum { NEEDLE_STRETCH = 2048, NEEDLE_SPARE = 4 };

struct needle_set {
    struct slice needle[NEEDLE_MAX]; /* borrowed */
    uint64_t back[NEEDLE_MAX];       /* their last eight bytes */
    uint8_t quote[NEEDLE_MAX];       /* where in a needle the quote before its first colon stands */
    uint8_t next[NEEDLE_MAX];        /* another one with the same hash */
    size_t n;
    uint8_t first[NEEDLE_TABLE]; /* by hash of the four bytes that end with the quote */
    /* by the same: a bit for each hash of the value's bytes there may be */
    uint64_t may[NEEDLE_TABLE];
};

struct needle_walk;
typedef bool needle_find_fn(struct needle_walk *w);
/* The searches for pairs: all find the same. The two that look at 64 places at a time are for machines where
 * needle_find_best answers them, or the one behind them. */
needle_find_fn needle_find_plain, needle_find_avx2, needle_find_avx512;
needle_find_fn *needle_find_best(void);

/* A search under way. */
struct needle_walk {
    const struct needle_set *set;
    needle_find_fn *find; /* of pairs; as fast as the machine can */
    struct slice text;
    size_t base;                /* pairs from here on have been looked for */
    uint32_t off;               /* bit i: needle i is not looked for any more */
    uint64_t may[NEEDLE_TABLE]; /* that of the set, without those that are off */
    unsigned n;                 /* pairs behind base that were not tried yet, the nearest first */
    uint16_t pair[NEEDLE_STRETCH / 2 + NEEDLE_SPARE];
};

void needle_set_init(struct needle_set *set, const struct slice needles[], size_t n);
/* Both have to stay while the walk goes on. */
void needle_walk_init(struct needle_walk *w, const struct needle_set *set, struct slice text);
/* The last needle before those that were found so far: its place and its number. */
bool needle_walk_next(struct needle_walk *w, size_t *at, size_t *which);
/* Enough of this one. */
void needle_walk_drop(struct needle_walk *w, size_t which);

#endif
