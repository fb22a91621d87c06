#ifndef TUI_FILTER_QUERY_H
#define TUI_FILTER_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/slice.h"
#include "tui/filter/fuzzy.h"

/* What a person types to find a session, taken apart. Words between blanks, all of which must fit:
 *
 *     word      the letters in order, with gaps     'word    as it stands
 *     ^word     at the start of a text              word$    at its end
 *     !word     does not stand in it                a | b    one of the two
 *     "two words", two\ words                       blanks that belong to the word
 *     tag:x branch:x sys:x dir:x id:x               in that field only
 *     before:2w after:2026-01-31 size:>10M          by age or day, by size
 *     is:running|archived|fork|damaged|interrupted|empty|marked
 *     1a2b, claude, #tag                            also the front of an id or a system's name, and a tag's sign
 *     //text                                        in the conversations themselves
 *
 * A capital makes its word care about capitals. A field without a value yet, as while typing, fits all. */
enum term_kind {
    TERM_FUZZY,
    TERM_EXACT, /* with an anchor */
    TERM_TAG,
    TERM_BRANCH,
    TERM_SYSTEM,
    TERM_DIR,
    TERM_ID,
    TERM_BEFORE,
    TERM_AFTER,
    TERM_LARGER,
    TERM_SMALLER,
    TERM_IS,
};

enum is_kind {
    IS_RUNNING,
    IS_ARCHIVED,
    IS_FORK,
    IS_DAMAGED,
    IS_INTERRUPTED,
    IS_EMPTY,
    IS_MARKED,
    IS_COUNT
};

struct term {
    enum term_kind kind;
    enum anchor anchor;
    bool negate;
    bool or_before; /* an alternative to the term before */
    struct fuzzy_needle needle;
    int64_t value; /* ms, bytes, enum is_kind */
};

enum { QUERY_TERMS = 16, QUERY_PROBLEM = 80 };

struct query {
    struct term term[QUERY_TERMS];
    size_t n;
    bool narrows;                /* more typed behind it can only lose sessions */
    bool content;                /* begins with //: about the conversations, not the rows */
    struct slice text;           /* with content: what to look for; borrowed */
    char problem[QUERY_PROBLEM]; /* what could not be understood; that term is left out */
};

/* now_ms: what "2w" counts from. False without memory. */
bool query_parse(struct query *q, struct slice text, int64_t now_ms);
/* Whether some sessions fit it better than others: it has words, not only fields. */
bool query_ranks(const struct query *q);

#endif
