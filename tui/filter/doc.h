#ifndef TUI_FILTER_DOC_H
#define TUI_FILTER_DOC_H

#include <stdbool.h>
#include <stdint.h>

#include "store/api/session.h"
#include "tui/filter/fuzzy.h"
#include "tui/filter/query.h"

/* A session in the form that the filter compares: its texts, folded once when the row arrives, in
 * one piece of memory. */
enum doc_field {
    DOC_TITLE,
    DOC_BRANCH,
    DOC_TAG,
    DOC_SHORT,           /* the fields before this one are short: letters may match with any gaps */
    DOC_DIR = DOC_SHORT, /* the long fields begin here; each ends with a byte that is in no word */
    DOC_FIRST_PROMPT,
    DOC_LAST_PROMPT,
    DOC_FIELDS
};

/* Sets of letters, made by fold_signature(). */
struct doc_sets {
    uint64_t initials; /* the first letters of words of the title */
    uint64_t shorts;   /* in the short fields */
    uint64_t all;      /* in any field */
    uint64_t names; /* in the id and the name of the system, of which only the beginning matches */
};

enum { DOC_NAME_LEAST = 3 }; /* the shortest word that may be the beginning of an id */

struct doc {
    const struct session_row *row; /* borrowed: lives as long as the doc */
    struct doc_sets sets;
    uint32_t at[DOC_FIELDS + 1]; /* field i is text[at[i]] to text[at[i + 1] - 1] */
    const uint8_t *class;
    char text[];
};

/* Makes a doc in the arena, next to the others, because a filter reads all of them. If it fits into
 * the *room bytes at `old` (may be NULL), that memory is used; *room is set to the size of its
 * memory. Returns NULL if out of memory. */
struct doc *doc_new(const struct session_row *row, struct arena *a, struct doc *old, size_t *room);
struct fuzzy_haystack doc_haystack(const struct doc *d, enum doc_field field);
/* The score of a single letter, computed only from the sets, without reading a text. */
int doc_letter_score(struct doc_sets sets, uint64_t letter);

enum doc_effort { DOC_EFFORT_QUICK, DOC_EFFORT_BEST };
/* How well the session matches the whole query, or FUZZY_NO_MATCH. `marked` is for is:marked. */
int doc_score(const struct doc *d, const struct query *q, bool marked, enum doc_effort effort);

/* Sets hit[i] for each title.p[i] that the query matches. hit has title.n elements, all false before. */
void doc_highlight(const struct query *q, struct slice title, bool *hit);

#endif
