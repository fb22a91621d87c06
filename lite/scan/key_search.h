#ifndef LITE_SCAN_KEY_SEARCH_H
#define LITE_SCAN_KEY_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/slice.h"

/* Looks for several keys of JSON rows at once ("tag":  "type":"tag"  {"parentUuid":), from the end of the
 * bytes to the front: a window is searched for all its metadata in one pass.
 *
 * All that is asked of most bytes is whether a quote and a colon stand side by side, 64 places at a
 * time where the machine has AVX2 or AVX-512; the four bytes that end there, and two of the value, then leave few
 * pairs that may be in a needle. So a needle has to hold such a pair, with three bytes or more in front of it. No
 * needle may be the front of another, and those with the same pair must begin at the same distance from
 * it. */
enum { KEY_SEARCH_MAX = 24, KEY_SEARCH_MIN_BYTES = 8, KEY_SEARCH_TABLE = 256 };
enum { KEY_SEARCH_BATCH_BYTES = 2048, KEY_SEARCH_SPARE = 4 };

struct key_search_set {
    struct slice needle[KEY_SEARCH_MAX]; /* borrowed */
    uint64_t back[KEY_SEARCH_MAX];       /* their last eight bytes */
    uint8_t quote[KEY_SEARCH_MAX]; /* where in a needle the quote before its first colon stands */
    uint8_t next[KEY_SEARCH_MAX];  /* another one with the same hash */
    size_t n;
    uint8_t first[KEY_SEARCH_TABLE]; /* by hash of the four bytes that end with the quote */
    /* by the same: a bit for each hash of the value's bytes there may be */
    uint64_t may[KEY_SEARCH_TABLE];
};

struct key_search;
typedef bool key_search_find_fn(struct key_search *w);
/* The searches for pairs: all find the same. The two that look at 64 places at a time are for machines where
 * key_search_find_best answers them, or the one behind them. */
key_search_find_fn key_search_find_portable, key_search_find_avx2, key_search_find_avx512;
key_search_find_fn *key_search_find_best(void);

/* A search under way. */
struct key_search {
    const struct key_search_set *set;
    key_search_find_fn *find; /* of pairs; as fast as the machine can */
    struct slice text;
    size_t base;                    /* pairs from here on have been looked for */
    uint32_t off;                   /* bit i: needle i is not looked for any more */
    uint64_t may[KEY_SEARCH_TABLE]; /* that of the set, without those that are off */
    unsigned n; /* pairs behind base that were not tried yet, the nearest first */
    uint16_t pair[KEY_SEARCH_BATCH_BYTES / 2 + KEY_SEARCH_SPARE];
};

void key_search_set_init(struct key_search_set *set, const struct slice needles[], size_t n);
/* Both have to stay while the walk goes on. */
void key_search_begin(struct key_search *w, const struct key_search_set *set, struct slice text);
/* The last needle before those that were found so far: its place and its number. */
bool key_search_next(struct key_search *w, size_t *at, size_t *which);
/* Enough of this one. */
void key_search_ignore(struct key_search *w, size_t which);

#endif
