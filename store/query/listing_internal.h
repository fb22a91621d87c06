#ifndef STORE_QUERY_LISTING_INTERNAL_H
#define STORE_QUERY_LISTING_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "lite/base/id.h"
#include "store/query/listing.h"

/* What the two files of a listing share: listing.c collects and sorts sessions, listing_recent.c delivers them by their
 * last messages. */

enum {
    LISTING_NO_GROUP = 0,
    /* so few sessions are all described before the first is delivered, so that their order is right even if a clock was
     * wrong */
    LISTING_FEW = 500,
};

/* A session found by the enumeration. */
struct listing_found {
    /* first, so that a pointer to it is one to the item; texts in the arena */
    struct session_ref ref;
    uint32_t place; /* in the order of enumeration */
    /* copies of one id share a number; LISTING_NO_GROUP if it is in one folder only */
    uint32_t group;
    const struct session_ref *other; /* with ref.also: the session there */
};

struct listing {
    struct listing_query q;
    struct arena arena;
    struct listing_found *item;
    size_t n, cap;
    const struct session_ref **order; /* newest first */
    uint32_t groups;                  /* the highest number given */
    bool *listed;                     /* by group: a copy was delivered in this walk */
    bool ok;                          /* false: out of memory */
    struct listing_server *server;    /* those that were asked */
    size_t servers;
    atomic_bool cancelled; /* by the end of the listing */
    pthread_mutex_t lock;  /* guards whether a server has answered */
    pthread_cond_t answer;
};

static inline const struct listing_found *listing_found(const struct session_ref *ref)
{
    return (const struct listing_found *)(const void *)ref;
}

/* ---- listing.c ---- */

session_ref_fn listing_collect_ref;
/* Sorts what was collected; false: out of memory. */
bool listing_put_in_order(struct listing *l);

/* ---- listing_servers.c ---- */

/* Begins to ask those stores that are on servers. */
MUST_CHECK enum err_code listing_ask_servers(struct listing *l, struct store *const stores[],
                                             size_t n, struct err *e);
/* Collects their answers, without the ids of `shown`. most_ms: the others are left to listing_late; negative: waits for
 * all. */
MUST_CHECK enum err_code listing_await(struct listing *l, int64_t most_ms,
                                       const struct idset *shown, struct err *e);
void listing_servers_free(struct listing *l);

/* ---- rows ---- */

/* Rows that are delivered in order. */
struct listing_walk {
    struct listing *l;
    const struct session_ref *const *order;
    session_row_fn *fn;
    void *arg;
    int64_t passed; /* wanted rows so far */
    bool full;      /* later rows cannot be on the page */
};

/* Counts a row that is wanted. Returns true if it is on the page. */
bool listing_on_page(struct listing_walk *w);
/* The number of rows that may be made ahead, so that a short page is not exceeded by much. */
size_t listing_ahead(const struct listing_query *q);
/* No message of the session can be newer: the last change of its file, whatever its times were set to since. */
int64_t listing_newest_possible_ms(const struct session_ref *ref);
void listing_report_damaged(const struct listing_query *q, const struct session_row *row);
/* Returns true if the row is delivered; a session is delivered once. */
bool listing_is_listed(struct listing *l, const struct session_ref *ref,
                       const struct session_row *row);

/* Delivers the page, newest last message first; sorts `order` for it. */
MUST_CHECK enum err_code listing_page_by_message(struct listing *l,
                                                 const struct session_ref **order, size_t n,
                                                 session_row_fn *fn, void *arg, struct err *e);

#endif
