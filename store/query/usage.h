#ifndef STORE_QUERY_USAGE_H
#define STORE_QUERY_USAGE_H

#include <stdatomic.h>

#include "lite/base/arena.h"
#include "lite/base/id.h"
#include "store/api/store.h"
#include "store/api/usage.h"
#include "store/query/listing.h"

/* Token usage: records of many sessions, each answer counted once, and their sums. */

enum usage_kind {
    USAGE_INPUT,
    USAGE_OUTPUT,
    USAGE_CACHE_WRITE,
    USAGE_CACHE_READ,
    USAGE_KINDS,
};

/* One answer of a model, as it counts. */
struct usage_answer {
    int64_t time_ms; /* TIME_NONE: not recorded */
    int64_t tokens[USAGE_KINDS];
    double cost;          /* in US dollars; NAN: not recorded */
    struct id128 message; /* the message of the conversation; none: see struct usage_record */
    uint32_t session;     /* the number that the caller gave it */
    uint32_t model;       /* its number in usage_set.models */
    uint32_t other; /* the next one with the same id but another request; UINT32_MAX: no other */
    bool copied, aside;
    /* Not an answer, but what the agent's own total counts beside the answers of all sessions of the run. */
    bool unrecorded;
    uint32_t total; /* its number in usage_set.total; UINT32_MAX: no total includes it */
};

/* A zeroed struct is an empty set. */
struct usage_set {
    struct usage_answer *answer; /* owned */
    size_t n, cap;
    struct slice_set models; /* "" is a model that was not recorded */
    struct slice_set exact;  /* answer and request */
    uint32_t *first_exact;   /* owned; the answer of each */
    size_t exact_cap;
    struct slice_set ids;  /* answer alone */
    uint32_t *first_of_id; /* owned; the first answer of each */
    size_t ids_cap;
    struct slice_set runs; /* run and model */
    /* Owned; the agent's own total of each, the largest of all sessions. */
    struct usage_answer *total;
    size_t total_cap;
    struct arena arena;
};

/* Counts a record, unless the same answer is counted already; of two, the more informative one is kept: one of the
 * conversation before a copy in a side question, then the one with more tokens, then one that is not copied, then the
 * first. Texts are copied. ERR_NOMEM. */
MUST_CHECK enum err_code usage_set_add(struct usage_set *set, uint32_t session,
                                       const struct usage_record *u);
/* Adds, once all records are counted, what the agents' own totals count beside the answers: for each run and model, one
 * more element with `unrecorded`. ERR_NOMEM. */
MUST_CHECK enum err_code usage_set_finish(struct usage_set *set);
void usage_set_fini(struct usage_set *set);

/* A sum. Numbers from a damaged file cannot overflow: sums stop at the largest number. */
struct usage_sum {
    int64_t tokens[USAGE_KINDS];
    double cost;               /* the cost of those answers whose cost is known */
    int64_t answers;           /* with tokens */
    int64_t unpriced;          /* answers with tokens whose cost is not known */
    bool has_cost;             /* at least one cost is known */
    int64_t first_ms, last_ms; /* TIME_NONE: no time is known */
};

/* cost: the answer's, or one that the caller computed; NAN: not known. */
void usage_sum_add(struct usage_sum *sum, const struct usage_answer *a, double cost);
int64_t usage_sum_total(const struct usage_sum *sum); /* all kinds */
bool usage_sum_is_empty(const struct usage_sum *sum); /* neither tokens nor costs */

/* What a session recorded. Texts and records are in the arena. If the agent records totals of its own, the answers
 * that one includes have their share of its cost and its `run`, and the last total of each run and model follows. */
struct usage_list {
    struct arena arena;
    struct usage_record *record;
    size_t n;
};

/* Shares out the costs of the agent's own totals in a list of records in the order of the transcript. ERR_NOMEM. */
MUST_CHECK enum err_code usage_list_share_totals(struct usage_list *list);

/* ERR_UNSUPPORTED: the system's transcripts record no tokens. usage_list_fini frees *out. */
MUST_CHECK enum err_code usage_list_read(const struct session_ref *ref, const atomic_bool *cancel,
                                         struct usage_list *out, struct err *e);
void usage_list_fini(struct usage_list *list);

/* Called for each session of a system that records tokens, newest first, on the calling thread; valid during the call.
 * A non-zero result ends the walk and is returned. */
typedef enum err_code usage_session_fn(const struct session_row *row, const struct usage_list *list,
                                       void *arg, struct err *e);

/* Reads the sessions of some stores on several threads. The times, limits and sort of q are ignored. Sessions that a
 * list leaves out because they are continued elsewhere, or have no prompt, are read, because they cost tokens too. One
 * that cannot be read is skipped and passed to trouble. */
MUST_CHECK enum err_code usage_each(struct store *const stores[], size_t n,
                                    const struct listing_query *q, usage_session_fn *fn,
                                    unreadable_fn *trouble, void *arg, struct err *e);

#endif
