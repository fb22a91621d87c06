#ifndef STORE_GREP_GREP_PATTERN_H
#define STORE_GREP_GREP_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/grep/grep.h"

/* The patterns of a search, compiled once and shared by its threads, and what one thread needs to
 * use them.
 *
 * Most rows are never decoded. If every match of a pattern must contain a certain text, a row
 * without that text is skipped. The text is taken from the pattern: its longest run of plain
 * characters, which a writer of JSON either writes as they are or, if it is an unusual one, as
 * \u00XX. So rows with such an escape are decoded too. A pattern without such a run (an alternative
 * at the top, for example) decodes every row. */

struct grep_patterns;
struct grep_matcher;

MUST_CHECK enum err_code grep_patterns_new(const struct grep_query *q, struct grep_patterns **out,
                                           struct err *e);
void grep_patterns_free(struct grep_patterns *p); /* NULL is fine */
size_t grep_patterns_count(const struct grep_patterns *p);

enum { GREP_STEPS = 10 * 1000 * 1000 }; /* PCRE2's own default */

/* For one thread. The search of a text is given up after `steps` steps (GREP_MATCH_TOO_LONG). NULL if out of memory. */
struct grep_matcher *grep_matcher_new(const struct grep_patterns *p, unsigned steps);
void grep_matcher_free(struct grep_matcher *m); /* NULL is fine */

/* Goes through the rows of `bytes`, which are whole lines, and returns the next one that has to be
 * decoded. Begin with grep_rows. */
void grep_rows(struct grep_matcher *m, struct slice bytes);
bool grep_next_row(struct grep_matcher *m, struct slice *row);

/* Returns true if the search is for one plain text, so that matching lines can be counted in the
 * undecoded texts between the quotes of a row. */
bool grep_is_plain(const struct grep_matcher *m);
/* Returns true if that is possible in the row that grep_next_row has just returned: each character
 * of a match is written there without an escape. */
bool grep_is_plain_row(const struct grep_matcher *m, struct slice row);
/* Returns that text. *folded: it is in lower case, and matches ignore case. */
struct slice grep_plain_text(const struct grep_matcher *m, bool *folded);

enum grep_match { GREP_MATCH_NONE, GREP_MATCH, GREP_MATCH_TOO_LONG };

/* Finds the first match of the i-th pattern at or after `from` that is not empty.
 * GREP_MATCH_TOO_LONG: the search was given up, because it took too many steps. */
enum grep_match grep_match_next(struct grep_matcher *m, size_t i, struct slice text, size_t from,
                                struct grep_range *out);

#endif
