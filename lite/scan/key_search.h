#ifndef LITE_SCAN_KEY_SEARCH_H
#define LITE_SCAN_KEY_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/slice.h"

/* Looks for several keys of JSON rows at once ("tag": "type":"tag" {"parentUuid":), backwards from the end of the
 * bytes, so that a window is searched for all its metadata in one pass.
 *
 * For most bytes the only test is whether a quote is followed by a colon, at 64 positions at a time on machines with
 * AVX2 or AVX-512. The four bytes that end with the quote, and two bytes of the value, then rule out most of these
 * pairs. So a needle must contain such a pair with at least three bytes before it. No needle may be a prefix of
 * another, and needles with the same pair must begin at the same distance from it. */
enum { KEY_SEARCH_MAX = 24, KEY_SEARCH_MIN_BYTES = 8, KEY_SEARCH_TABLE = 256 };
enum { KEY_SEARCH_BATCH_BYTES = 2048, KEY_SEARCH_SPARE = 4 };

struct key_search_set {
    struct slice needle[KEY_SEARCH_MAX]; /* borrowed */
    uint64_t back[KEY_SEARCH_MAX];       /* their last eight bytes */
    uint8_t quote[KEY_SEARCH_MAX];       /* where the quote before the first colon of a needle is */
    uint8_t next[KEY_SEARCH_MAX];        /* another needle with the same hash */
    size_t n;
    uint8_t first[KEY_SEARCH_TABLE]; /* by hash of the four bytes that end with the quote */
    /* by the same hash: a bit for each hash of the value's bytes that can follow */
    uint64_t may[KEY_SEARCH_TABLE];
};

struct key_search;
typedef bool key_search_find_fn(struct key_search *w);
/* The engines that search for pairs; all find the same. The AVX engines may only be used if key_search_find_best
 * returns that engine or a wider one. */
key_search_find_fn key_search_find_portable, key_search_find_avx2, key_search_find_avx512;
key_search_find_fn *key_search_find_best(void);

/* A search under way. */
struct key_search {
    const struct key_search_set *set;
    key_search_find_fn *find; /* finds pairs; the fastest engine of the machine */
    struct slice text;
    size_t base;                    /* pairs from here on were already searched */
    uint32_t off;                   /* bit i: needle i is ignored */
    uint64_t may[KEY_SEARCH_TABLE]; /* `may` of the set, without ignored needles */
    unsigned n; /* pairs after base that were not tried yet; the last is the next */
    uint16_t pair[KEY_SEARCH_BATCH_BYTES / 2 + KEY_SEARCH_SPARE];
};

void key_search_set_init(struct key_search_set *set, const struct slice needles[], size_t n);
/* Both must outlive the search. */
void key_search_begin(struct key_search *w, const struct key_search_set *set, struct slice text);
/* Finds the last needle before those found so far: its place and its number. */
bool key_search_next(struct key_search *w, size_t *at, size_t *which);
/* Ignores this needle from here on. */
void key_search_ignore(struct key_search *w, size_t which);

#endif
