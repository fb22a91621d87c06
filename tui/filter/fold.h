#ifndef TUI_FILTER_FOLD_H
#define TUI_FILTER_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/buf.h"
#include "lite/base/slice.h"

/* Text as the filter compares it: lower case, without accents, full-width letters as plain ones, white space
 * as one kind of blank, broken bytes as U+FFFD. Still UTF-8, so that an ASCII letter is one byte and a plain
 * memchr finds it.
 *
 * What folding forgets is kept beside it, one byte for each folded byte (fold_class): whether the letter was
 * a capital, for a query that cares; whether a word begins there, for the score. */
enum fold_class {
    FOLD_UPPER = 1 << 0, /* was a capital */
    FOLD_WORD = 1 << 1,  /* first letter of a word: behind a blank, a sign, or at the start */
    FOLD_CAMEL = 1 << 2, /* first of a part of a word: camelCase, digits behind letters */
    FOLD_FIRST = 1 << 3, /* first byte of its character */
};

/* Appends at most `limit` folded bytes to text and as many classes to classes (may be NULL). */
MUST_CHECK enum err_code fold_text(struct slice in, size_t limit, struct buf *text,
                                   struct buf *classes);

/* For each folded byte, where in the input its character begins: to paint what matched. The caller gives
 * room for `cap` numbers; answers how many there are. */
size_t fold_map(struct slice in, uint32_t *origin, size_t cap);

/* The set of characters a text has, one bit for a letter or digit, the rest shared by the others: a query
 * whose set is not contained can not match. */
uint64_t fold_signature(struct slice folded);

/* How a folded title begins, in numbers that sort as its bytes do: a list is sorted by them, and few titles have to
 * be looked at. A small letter or a blank, which is what titles are made of, takes one digit of such a number, any
 * other byte two. The first number, by which all are sorted, leaves bits for telling 100,000 titles apart. */
enum {
    TITLE_KEYS = 3,
    TITLE_DIGITS = 9 + 12 + 12,
    /* bytes in which titles with the same keys are the same, at least */
    TITLE_SAME = TITLE_DIGITS / 2,
};
#define TITLE_NONE UINT64_C(129961739795077) /* a first one without a title: above all others */

void fold_title_keys(struct slice folded, uint64_t key[TITLE_KEYS]);
/* More of the title follows this key: those with the same one may still differ. */
bool fold_title_is_cut(uint64_t key);

#endif
