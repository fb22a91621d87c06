#ifndef TUI_FILTER_QUERY_H
#define TUI_FILTER_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/slice.h"
#include "store/grep/grep.h"
#include "tui/filter/fuzzy.h"

/* Parses the query for sessions: words separated by blanks, all of which must match.
 *
 *     word      the letters in order, with gaps     'word    the literal word
 *     ^word     at the start of a text              word$    at its end
 *     !word     is not in it                        a | b    one of the two
 *     "two words", two\ words                       blanks that belong to the word
 *     /regex/                                       a regular expression (PCRE2) in any text
 *     agent:x project:x branch:x tag:x id:x         in that field only; also sys:, system: and dir:
 *     before:2w after:2026-01-31 size:>10M          by age or day, by size
 *     is:running|waiting|archived|fork|damaged|interrupted|empty|marked|kept
 *     1a2b, claude, #tag                            also the beginning of an id or a system's name, and the # of a tag
 *     //words                                       in the conversations themselves: what is before it filters
 *
 * After //, each word must occur in the conversation as it is: quotes make one word of several, and nothing else has a
 * meaning. A word with a capital is case-sensitive. A field without a value, as while typing, matches every session. Two or more
 * letters, a colon and a letter are a field, and a problem if no field has this name; any other word with a colon is
 * text, as is one in quotes: https://x, src:12, 10:30, c:\x, "node:fs". */
enum term_kind {
    /* the first three are searched for in every text; the others are conditions */
    TERM_FUZZY,
    TERM_EXACT, /* with an anchor */
    TERM_REGEX,
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
    IS_WAITING,
    IS_ARCHIVED,
    IS_FORK,
    IS_DAMAGED,
    IS_INTERRUPTED,
    IS_EMPTY,
    IS_MARKED,
    IS_KEPT,
    IS_COUNT
};

struct term {
    enum term_kind kind;
    enum anchor anchor;
    bool negate;
    bool or_before; /* an alternative to the term before */
    struct fuzzy_needle needle;
    int64_t value; /* ms, bytes, enum is_kind */
    /* A TERM_REGEX has a pattern with one expression; both are owned by the query. */
    struct grep_patterns *patterns;
    struct grep_matcher *matcher;
};

enum { QUERY_TERMS = 16, QUERY_PROBLEM = 96, QUERY_CONTENT = 1024 };

struct query {
    struct term term[QUERY_TERMS];
    size_t n;
    bool narrows;              /* adding letters can only lose matches */
    bool content;              /* has a //: searches the conversations of the sessions that match */
    bool incomplete;           /* a word was left out: no value yet, wrong, or one too many */
    char words[QUERY_CONTENT]; /* with content: what to look for, as search_text() takes it */
    size_t words_n;
    char problem[QUERY_PROBLEM]; /* a term that is wrong and left out */
};

/* A time as 2w counts back from now_ms. Returns false if out of memory; the query is then empty. */
bool query_parse(struct query *q, struct slice text, int64_t now_ms);
void query_fini(struct query *q); /* the query is empty again */
/* Returns where the "//" of a query begins, or the length of the text if it has none. */
size_t query_content_at(struct slice text);
/* If the text ends in the value of a field, returns true with the field's kind and the offset of the value, which
 * may be empty and, where it begins with a double quote, is taken to begin after it. */
bool query_value_at_end(struct slice text, enum term_kind *kind, size_t *value);
const char *query_is_name(enum is_kind kind); /* "running" */
/* Returns true if some sessions match better than others: the query has words, not only fields. */
bool query_ranks(const struct query *q);

#endif
