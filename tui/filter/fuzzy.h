#ifndef TUI_FILTER_FUZZY_H
#define TUI_FILTER_FUZZY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/slice.h"

/* One word against one text, both folded (tui/filter/fold.h). All calls answer a score, or FUZZY_NO.
 *
 * Bytes are compared, not characters: a byte of a character behind its first one only fits right behind the
 * byte before it, so that a match never takes half a character. */
enum {
    FUZZY_NO = -1,
    FUZZY_NEEDLE_MAX = 64,    /* bytes; a longer word is cut */
    FUZZY_HAYSTACK_MAX = 256, /* what the scores look at; a longer text is cut */
};

struct fuzzy_needle {
    char text[FUZZY_NEEDLE_MAX];
    uint8_t class[FUZZY_NEEDLE_MAX];
    size_t n;
    bool keep_case; /* a capital was typed: capitals matter */
    uint64_t signature;
};

struct fuzzy_haystack {
    const char *text;
    const uint8_t *class;
    size_t n;
};

/* Folds the word; smart case. False without memory. */
bool fuzzy_needle_init(struct fuzzy_needle *needle, struct slice word);

/* The letters in order, with gaps: quickly, by the first way that fits, tightened once. */
int fuzzy_quick(const struct fuzzy_needle *needle, struct fuzzy_haystack haystack);
/* The same by the best way there is; at[] (room for FUZZY_NEEDLE_MAX, may be NULL) tells which bytes fit. */
int fuzzy_best(const struct fuzzy_needle *needle, struct fuzzy_haystack haystack, uint16_t *at);
/* For long texts, in which nearly every word would fit with gaps: the word as it stands, or begun where a
 * word begins and with small gaps only. A longer needle never fits where its front does not. */
int fuzzy_near(const struct fuzzy_needle *needle, struct fuzzy_haystack haystack);

enum anchor { ANCHOR_NONE = 0, ANCHOR_START = 1, ANCHOR_END = 2, ANCHOR_BOTH = 3 };
/* The word as it stands: anywhere, at the start, at the end, or as the whole text. *at: where (may be NULL). */
int fuzzy_exact(const struct fuzzy_needle *needle, struct fuzzy_haystack haystack,
                enum anchor anchor, uint16_t *at);

#endif
