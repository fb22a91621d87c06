#ifndef TUI_FILTER_DOC_H
#define TUI_FILTER_DOC_H

#include <stdbool.h>
#include <stdint.h>

#include "store/api/session.h"
#include "tui/filter/fuzzy.h"
#include "tui/filter/query.h"

/* One session as the filter sees it: its texts folded once, when its row arrives, in one piece of memory. */
enum doc_field {
    DOC_TITLE,
    DOC_BRANCH,
    DOC_TAG,
    DOC_SHORT,           /* the fields before this one are short: letters may fit with any gaps */
    DOC_DIR = DOC_SHORT, /* from here on long ones, each ended by a byte that no word has */
    DOC_FIRST_PROMPT,
    DOC_LAST_PROMPT,
    DOC_FIELDS
};

/* Sets of letters (fold_signature). */
struct doc_sets {
    uint64_t initials; /* that words of the title begin with */
    uint64_t shorts;   /* in the short fields */
    uint64_t all;      /* in any field */
    uint64_t names;    /* in the id and the system's name, which are found by their fronts only */
};

enum { DOC_NAME_LEAST = 3 }; /* letters of a word that may be the front of an id */

struct doc {
    const struct session_row *row; /* borrowed: lives as long as the doc */
    struct doc_sets sets;
    uint32_t at[DOC_FIELDS + 1]; /* field i is text[at[i]] up to text[at[i + 1]] */
    const uint8_t *class;
    char text[];
};

/* Makes a doc in the arena, side by side with the others: a filter walks over all of them. With `room` bytes at
 * `old` it is made there when it fits (old may be NULL); *room: what it takes. NULL without memory. */
struct doc *doc_new(const struct session_row *row, struct arena *a, struct doc *old, size_t *room);
struct fuzzy_haystack doc_haystack(const struct doc *d, enum doc_field field);
/* The score of a single letter, from the sets alone: no text is looked at. */
int doc_letter_score(struct doc_sets sets, uint64_t letter);

enum doc_effort { DOC_EFFORT_QUICK, DOC_EFFORT_BEST };
/* How well the session fits the whole query, or FUZZY_NO. marked: for is:marked. */
int doc_score(const struct doc *d, const struct query *q, bool marked, enum doc_effort effort);

/* Which bytes of a title the query fits: hit[i] for title.p[i]. hit has room for title.n, all false. */
void doc_highlight(const struct query *q, struct slice title, bool *hit);

#endif
