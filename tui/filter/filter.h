#ifndef TUI_FILTER_FILTER_H
#define TUI_FILTER_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/api/session.h"
#include "tui/filter/fold.h"
#include "tui/filter/fuzzy.h"
#include "tui/filter/query.h"

/* ---- one session (doc.c) ---- */

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

/* ---- all sessions (filter.c) ---- */

/* Finds the sessions that match the query after each key, best first. It is fast (100,000 sessions
 * in 16 ms) because:
 *   1. the sets of letters are in one array: most sessions are rejected without reading their texts;
 *   2. a query that became longer is tried on the previous matches only;
 *   3. every session gets a quick score, and the best few hundred a thorough one;
 *   4. scores are small numbers and are sorted by counting, which keeps equal ones in the order of the list;
 *   5. the rest is done in steps: the best of the first step are shown while the others are scored. */
struct filter_slot {
    struct doc_sets sets;
    struct doc *doc;  /* in docs; NULL: not described yet, matches the empty query only */
    struct doc *kept; /* memory of a doc, for reuse */
    size_t room;
    bool archived; /* does not match the empty query */
};

struct filter {
    struct arena docs;
    struct filter_slot *slot; /* owned, by entry */
    /* The keys of titles, by entry, one array for each place: sorting reads one place at a time, which fits into a
     * cache. Without a doc the first key is TITLE_NONE. */
    uint64_t *front[TITLE_KEYS];
    size_t slots, cap;
    struct query query;
    char *text; /* owned: the query as typed */
    size_t text_n;
    uint32_t *hit; /* owned: entries that match, best first */
    size_t hits;
    uint32_t *fits; /* owned: the same in the order of the list, while `fresh` */
    int *score;     /* owned: of fits[i] */
    size_t fit_count;
    uint32_t *left; /* owned: entries not scored yet, from left_at to left_end */
    size_t left_at, left_end;
    size_t room;   /* the capacity of hit, fits, score and left */
    bool by_score; /* hit is sorted by score, not in the order of the list */
    bool busy;     /* the list was also sorted in this frame, so the next step is short */
    bool quiet;    /* hit does not change until all are scored */
    bool shown;    /* the best of the first step are in hit; the rest follows at the end */
    bool fresh;    /* fits and left contain all that can match the present query */
};

/* Makes room for entries 0 .. n - 1. Returns false if out of memory. */
bool filter_reserve(struct filter *f, size_t n);
/* Folds the row of an entry that has arrived or changed; NULL if the entry has no row any more. Returns false if out of
 * memory: the entry then matches the empty query only. */
bool filter_set(struct filter *f, uint32_t entry, const struct session_row *row);
/* Notes that the order or the marks changed: the next run scores every entry again. */
void filter_invalidate(struct filter *f);
void filter_fini(struct filter *f);

/* Begins to score the n entries of `order`, the order that equal scores keep. by_score: best first; otherwise `order` is
 * kept. Returns false if out of memory.
 *
 * If `quiet` was set before, hit does not change until all are scored: for a list that is refreshed without typing. */
bool filter_start(struct filter *f, struct slice text, const uint32_t *order, size_t n,
                  int64_t now_ms, bool by_score);
/* Scores as many entries as one frame has time for; `marked` is indexed by entry and may be NULL. Returns true if hit
 * and hits are new: the best of the first step, or of all. */
bool filter_step(struct filter *f, const bool *marked);
/* Returns true if some entries are not scored yet. */
bool filter_pending(const struct filter *f);
/* filter_start() and all steps. */
bool filter_run(struct filter *f, struct slice text, const uint32_t *order, size_t n,
                const bool *marked, int64_t now_ms, bool by_score);

#endif
