#ifndef TUI_DATA_SEARCH_H
#define TUI_DATA_SEARCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/err.h"
#include "tui/data/conversation.h"

/* Looking for text in a conversation, as it reads when decoded: prompts, answers, thinking, what tools were asked
 * and what they answered. Capitals count only when the needle has one. */

/* A block that holds the needle. A tool's result is shown under its call, and is found there: its own message
 * is `away` messages behind the call's. */
struct search_hit {
    size_t message;
    uint32_t block, count; /* of occurrences in it */
    uint32_t away;
    bool result;
};

/* How far a call and its result may lie apart to be shown as one. */
enum { SEARCH_PARTNER_ROWS = 64 };

struct search_hits {
    struct search_hit *hit; /* owned */
    size_t n, cap;
    bool done; /* nothing comes after this one */
};

struct search_hits *search_hits_new(size_t cap);
void search_hits_free(struct search_hits *list); /* NULL is fine */

/* The first occurrence in the text; false: there is none. An empty needle is nowhere. */
bool search_text(struct slice text, struct slice needle, size_t *at, size_t *n);
size_t search_count(struct slice text, struct slice needle);

#endif
