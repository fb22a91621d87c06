#ifndef TUI_DATA_SEARCH_H
#define TUI_DATA_SEARCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/err.h"
#include "tui/data/conversation.h"

/* Searching for text, and the hits of a search through a conversation (jobs/jobs_search.c). Case matters only if the
 * needle has a capital letter. */

/* A block that contains the needle. A tool's result is shown below its call and found there: its own message is
 * `away` messages after that of the call. */
struct search_hit {
    size_t message;
    uint32_t block, count; /* of occurrences in it */
    uint32_t away;
    bool result;
};

/* The largest distance, in rows, at which a call and its result are shown as one. */
enum { SEARCH_PARTNER_ROWS = 64 };

struct search_hits {
    struct search_hit *hit; /* owned */
    size_t n, cap;
    bool done; /* nothing comes after this one */
};

struct search_hits *search_hits_new(size_t cap);
void search_hits_free(struct search_hits *list); /* NULL is fine */

/* Finds the first occurrence in the text; returns false if the needle does not occur. An empty
 * needle never occurs. */
bool search_text(struct slice text, struct slice needle, size_t *at, size_t *n);
size_t search_count(struct slice text, struct slice needle);

#endif
