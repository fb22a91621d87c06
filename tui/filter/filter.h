#ifndef TUI_FILTER_FILTER_H
#define TUI_FILTER_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/filter/doc.h"
#include "tui/filter/fold.h"
#include "tui/filter/query.h"

/* Which sessions fit the query, best first, within one keystroke.
 *
 * What makes it fast (100,000 sessions, 16 ms):
 *   1. sets of letters lie side by side in one array: most sessions are turned down without being touched;
 *   2. a query that got longer is asked of its survivors only;
 *   3. everybody gets a quick score; the best few hundred get the thorough one;
 *   4. scores are small numbers: they are sorted by counting, which keeps equal ones in the list's order;
 *   5. what is still too much is done in steps: the best of the first are shown while the others are asked. */
struct filter_slot {
    struct doc_sets sets;
    struct doc *doc;  /* in docs; NULL: not described yet, fits only the empty query */
    struct doc *kept; /* room of a doc, to be used again */
    size_t room;
    bool archived; /* fits no empty query */
};

struct filter {
    struct arena docs;
    struct filter_slot *slot; /* owned, by entry */
    /* The same: keys of titles. All first ones lie side by side, then all second ones: sorting jumps about in one
     * kind at a time, which a cache has room for. Without a doc the first one is TITLE_NONE. */
    uint64_t *front[TITLE_KEYS];
    size_t slots, cap;
    struct query query;
    char *text; /* owned: the query as typed */
    size_t text_n;
    uint32_t *hit; /* owned: entries that fit, best first */
    size_t hits;
    uint32_t *fits; /* owned: the same in the list's order, while `fresh` */
    int *score;     /* owned: of fits[i] */
    size_t fit_count;
    uint32_t *left; /* owned: entries that were not asked yet, from left_at to left_end */
    size_t left_at, left_end;
    size_t room;   /* of hit, fits, score and left */
    bool by_score; /* hit is sorted by it, else by the list's order */
    bool busy;     /* the frame has sorted the list too: the next step is a short one */
    bool quiet;    /* hit stays as it is until all were asked */
    bool shown;    /* the best of the first step are in hit; the rest comes at the end */
    bool fresh; /* fits and left hold all that can fit the present query over the present entries */
};

/* Makes room for entries 0 .. n - 1. False without memory. */
bool filter_reserve(struct filter *f, size_t n);
/* The row of an entry has arrived or changed: folds it. row NULL: it has none any more. False without memory:
 * the entry then fits only the empty query. */
bool filter_set(struct filter *f, uint32_t entry, const struct session_row *row);
/* The order or the marks changed: the next run asks everybody again. */
void filter_invalidate(struct filter *f);
void filter_fini(struct filter *f);

/* Begins to ask the query of the entries in `order` (n of them, in the order in which ties stay). by_score: best
 * first; without it `order` is kept. False without memory.
 *
 * With `quiet` set before, hit stays as it is until all were asked: for a list that nobody typed at. */
bool filter_start(struct filter *f, struct slice text, const uint32_t *order, size_t n,
                  int64_t now_ms, bool by_score);
/* Asks as many of them as one frame has time for; marked: by entry, may be NULL. True: hit and hits are new, with
 * the best of the first step, or of all. */
bool filter_step(struct filter *f, const bool *marked);
/* Whether some were not asked yet. */
bool filter_pending(const struct filter *f);
/* All of it at once. */
bool filter_run(struct filter *f, struct slice text, const uint32_t *order, size_t n,
                const bool *marked, int64_t now_ms, bool by_score);

#endif
