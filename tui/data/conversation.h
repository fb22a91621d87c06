#ifndef TUI_DATA_CONVERSATION_H
#define TUI_DATA_CONVERSATION_H

#include <stdatomic.h>
#include <stddef.h>

#include "lite/base/buf.h"
#include "store/api/transcript.h"
#include "store/query/usage.h"

/* A conversation and its rows, as workers pass them to the model. The receiver of a message is the
 * only owner of its contents, except for the conversation itself, which never changes, is shared,
 * and is freed by its last holder. */

/* A shared transcript: the view shows it while a worker reads rows of it. */
struct conversation {
    atomic_uint holders;
    const struct store *store;
    struct transcript *transcript; /* owned */
};

/* Takes the transcript over; the caller is the only holder. Returns NULL if out of memory, and
 * frees the transcript. */
struct conversation *conversation_new(const struct store *store, struct transcript *transcript);
struct conversation *conversation_retain(struct conversation *c);
void conversation_free(struct conversation *c); /* NULL is fine */

/* Rows of a conversation, read and split into blocks: first, first + 1, ... */
struct passage {
    size_t message;           /* place in transcript.message */
    struct buf bytes;         /* the raw row; blocks borrow from it */
    struct block_list blocks; /* empty when the row could not be read */
    struct err error;
};

struct passage_list {
    struct passage *passage; /* owned */
    size_t n, cap;
};

/* The tokens that a session records, and those of each turn of its conversation. */
struct turn_usage {
    int64_t end; /* the offset of the turn's last message */
    struct usage_sum sum;
};

/* How a turn begins. */
struct turn_head {
    size_t message; /* place in transcript.message */
    struct slice prompt;
};

struct conversation_usage {
    struct usage_sum sum;    /* with branches that were left and sub-agents */
    struct turn_usage *turn; /* owned; sorted by their ends; turns without tokens are left out */
    size_t n;
    struct turn_head *head; /* owned; every turn, in the order of the conversation */
    size_t heads, heads_cap;
    struct arena prompts;
};

void conversation_usage_free(struct conversation_usage *u); /* NULL is fine */
/* The turn that ends with the message at this offset; NULL if no turn with tokens ends there. u may
 * be NULL. */
const struct usage_sum *conversation_usage_of(const struct conversation_usage *u, int64_t offset);

struct passage_list *conversation_passages_new(size_t cap);
void conversation_passage_fini(struct passage *p);
void conversation_passages_free(struct passage_list *list); /* NULL is fine */

#endif
