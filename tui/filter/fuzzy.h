#ifndef TUI_FILTER_FUZZY_H
#define TUI_FILTER_FUZZY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/slice.h"

/* Matches one word against one text, both folded (tui/filter/fold.h). All calls return a score, or FUZZY_NO_MATCH.
 *
 * Bytes are compared, not characters: the second and later bytes of a character match only right after the byte before
 * them, so that a match never contains half a character. */
enum {
    FUZZY_NO_MATCH = -1,
    FUZZY_NEEDLE_MAX = 64,    /* bytes; a longer word is cut */
    FUZZY_HAYSTACK_MAX = 256, /* bytes that are scored; a longer text is cut */
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

/* Folds the word; smart case. Returns false if out of memory. */
bool fuzzy_needle_init(struct fuzzy_needle *needle, struct slice word);

/* Matches the letters in order, with gaps: finds the first match and tightens it once. */
int fuzzy_quick(const struct fuzzy_needle *needle, struct fuzzy_haystack haystack);
/* The best match; at[] (FUZZY_NEEDLE_MAX elements, may be NULL) gets the places of its bytes. */
int fuzzy_best(const struct fuzzy_needle *needle, struct fuzzy_haystack haystack, uint16_t *at);
/* For long texts, in which nearly every word would match with gaps: matches the literal word, or
 * letters from the start of a word with small gaps. If the beginning of a word does not match,
 * neither do longer words. */
int fuzzy_near(const struct fuzzy_needle *needle, struct fuzzy_haystack haystack);

enum anchor { ANCHOR_NONE = 0, ANCHOR_START = 1, ANCHOR_END = 2, ANCHOR_BOTH = 3 };
/* The literal word: anywhere, at the start, at the end, or as the whole text. *at (may be NULL) gets its place. */
int fuzzy_exact(const struct fuzzy_needle *needle, struct fuzzy_haystack haystack,
                enum anchor anchor, uint16_t *at);

#endif
