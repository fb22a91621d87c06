#ifndef TUI_DATA_SEARCH_HITS_H
#define TUI_DATA_SEARCH_HITS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "tui/data/conversation.h"

/* Searching for text, and the hits of a search through a conversation (jobs/jobs_search.c). Case matters
 * only if the needle has a capital letter. */

/* A block that contains the needle. A tool's result is shown and found below its call: the message
 * of the result is `distance` messages after the message of the call. */
struct search_hit {
    size_t message;
    uint32_t block, count; /* the block, and how many occurrences it has */
    uint32_t distance;
    bool result;
};

/* The largest distance in rows at which a call and its result are shown together. */
enum { SEARCH_RESULT_DISTANCE = 64 };

struct search_hits {
    struct search_hit *hit; /* owned */
    size_t n, cap;
    bool done; /* nothing comes after this one */
};

struct search_hits *search_hits_new(size_t cap);
void search_hits_free(struct search_hits *list); /* NULL is fine */

/* The sessions of the list in whose conversations a text occurs (EFFECT_GREP). */
enum { CONTENT_SNIPPET = 240, CONTENT_RANGES = 8 };

struct content_hit {
    uint32_t entry;
    uint32_t lines;       /* in which it occurs */
    struct slice snippet; /* the best of them, or the part around the occurrence; not cleaned */
    struct content_range {
        uint16_t from, to; /* where each occurrence in the snippet begins and ends */
    } range[CONTENT_RANGES];
    uint8_t ranges;
    bool cut_before, cut_after; /* the line has more before the snippet, and after it */
    /* the sub-agent with the first hit, if there is no hit outside of sub-agents */
    struct slice agent;
};

struct content_hits {
    struct arena arena; /* owns the snippets */
    struct content_hit *hit;
    size_t n, cap;
    uint64_t bytes, sessions; /* read so far, by the whole search */
    bool done;                /* nothing comes after this one */
};

struct content_hits *content_hits_new(void);       /* NULL if out of memory */
void content_hits_free(struct content_hits *list); /* NULL is fine */

/* A needle may have several words, each after a zero byte: any of them is an occurrence. Cuts the first word off
 * *needle; returns false if it is empty. */
bool search_next_word(struct slice *needle, struct slice *word);
/* Finds the first occurrence in the text; returns false if the needle does not occur. An empty
 * needle never occurs. */
bool search_text(struct slice text, struct slice needle, size_t *at, size_t *n);
size_t search_count(struct slice text, struct slice needle);

#endif
