#ifndef TUI_FILTER_FOLD_H
#define TUI_FILTER_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/buf.h"
#include "lite/base/slice.h"

/* Text as the filter compares it: lower case, without accents, full-width letters as plain ones, white space
 * as one kind of blank, broken bytes as U+FFFD. It is still UTF-8, so an ASCII letter is one byte that memchr()
 * finds.
 *
 * A class for each folded byte keeps what folding loses: whether the letter was a capital (for a
 * query with capitals) and whether a word begins there (for the score). */
enum fold_class {
    FOLD_UPPER = 1 << 0, /* was a capital */
    FOLD_WORD = 1 << 1,  /* first letter of a word: after a blank or a sign, or at the start */
    FOLD_CAMEL = 1 << 2, /* first letter of a part of a word: camelCase, digits after letters */
    FOLD_FIRST = 1 << 3, /* first byte of its character */
};

/* Returns true if the text contains `sought`, without regard to case and accents. An empty text is in none. */
bool fold_has(struct slice text, const char *sought);
/* Appends at most `limit` folded bytes to text and as many classes to classes (may be NULL). */
MUST_CHECK enum err_code fold_text(struct slice in, size_t limit, struct buf *text,
                                   struct buf *classes);

/* For each folded byte, the offset of its character in the input: for highlighting. origin has room for `cap`
 * offsets; returns their number. */
size_t fold_map(struct slice in, uint32_t *origin, size_t cap);

/* The set of characters in a text: one bit for each letter or digit, the other bits are shared. A query matches
 * only texts whose set contains its own. */
uint64_t fold_signature(struct slice folded);

/* Title keys: the beginning of a folded title as numbers that sort as its bytes do, so that sorting
 * a list rarely has to read the titles. A small letter or a blank takes one digit of a number, any
 * other byte takes two. The first number leaves enough bits to tell 100,000 titles apart. */
enum {
    TITLE_KEYS = 3,
    TITLE_DIGITS = 9 + 12 + 12,
    /* titles with the same keys have at least this many bytes in common */
    TITLE_SAME = TITLE_DIGITS / 2,
};
#define TITLE_NONE                                                                                 \
    UINT64_C(129961739795077) /* the first key without a title: greater than all others */

void fold_title_keys(struct slice folded, uint64_t key[TITLE_KEYS]);
/* Returns true if the title is longer than the key, so that titles with the same key may differ. */
bool fold_title_is_cut(uint64_t key);

#endif
