#ifndef TUI_FILTER_FILTER_H
#define TUI_FILTER_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/filter/doc.h"
#include "tui/filter/query.h"

/* Which sessions fit the query, best first, within one keystroke.
 *
 * What makes it fast (100,000 sessions, 16 ms):
 *   1. sets of letters lie side by side in one array: most sessions are turned down without being touched;
 *   2. a query that got longer is asked of its survivors only;
 *   3. everybody gets a quick score; the best few hundred get the thorough one;
 *   4. scores are small numbers: they are sorted by counting, which keeps equal ones in the list's order. */
struct filter_slot {
    struct doc_sets sets;
    struct doc *doc;  /* in docs; NULL: not described yet, fits only the empty query */
    struct doc *kept; /* room of a doc, to be used again */
    size_t room;
};

struct filter {
    struct arena docs;
    struct filter_slot *slot; /* owned, by entry */
    size_t slots, cap;
    struct query query;
    char *text; /* owned: the query as typed */
    size_t text_n;
    uint32_t *hit; /* owned: entries that fit, best first */
    size_t hits;
    uint32_t *fits; /* owned: the same in the list's order, while `fresh` */
    int *score;     /* owned: of fits[i] */
    size_t fit_count;
    size_t room; /* of hit, fits and score */
    bool fresh;  /* fits holds the survivors of the present query over the present entries */
};

/* Makes room for entries 0 .. n - 1. False without memory. */
bool filter_reserve(struct filter *f, size_t n);
/* The row of an entry has arrived or changed: folds it. row NULL: it has none any more. False without memory:
 * the entry then fits only the empty query. */
bool filter_set(struct filter *f, uint32_t entry, const struct session_row *row);
/* The order or the marks changed: the next run asks everybody again. */
void filter_stale(struct filter *f);
void filter_fini(struct filter *f);

/* Asks the query of the entries in `order` (n of them, in the order in which ties stay); marked: by entry.
 * Fills hit and hits. by_score: best first; without it `order` is kept. False without memory. */
bool filter_run(struct filter *f, struct slice text, const uint32_t *order, size_t n,
                const bool *marked, int64_t now_ms, bool by_score);

#endif
