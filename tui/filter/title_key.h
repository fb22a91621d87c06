#ifndef TUI_FILTER_TITLE_KEY_H
#define TUI_FILTER_TITLE_KEY_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/base/slice.h"

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
