#ifndef STORE_API_USAGE_H
#define STORE_API_USAGE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "lite/base/time.h"

/* What an agent recorded about the tokens of one answer of a model: one request to the vendor's API. */

/* Texts are WTF-8, valid during the call, and empty if they are not recorded. Numbers are what the agent recorded for
 * this answer alone, in tokens: an agent that records running totals has to be subtracted. No number is negative. */
struct usage_record {
    int64_t time_ms; /* of the answer; TIME_NONE: not recorded */
    struct slice model;
    int64_t input;       /* of the request, neither read from a cache nor written to one */
    int64_t output;      /* of the answer, with those of its thinking */
    int64_t cache_read;  /* of the request, from a cache ... */
    int64_t cache_write; /* ... and put into one */
    double cost;         /* in US dollars; NAN unless the agent recorded it */
    /* The id of the message that the answer is in, as `load` has it, so that its turn can be found. Empty for the answer of
     * a sub-agent: that belongs to the turn that was running at its time. */
    struct slice message;
    struct slice agent; /* the sub-agent's id; empty: the conversation itself */
    /* The ids that the vendor's API gave to the answer and to its request. Records with both ids the same are one answer,
     * in whatever session they are: it is counted once. Empty `answer`: the record counts by itself. */
    struct slice answer, request;
    /* The answer may be recorded in another session, too, which then counts: a fork copied it, or the transcript is a copy. */
    bool copied;
    /* A sub-agent's, or a side question's. If the same answer is recorded with another request outside, that one counts. */
    bool aside;
};

/* Nothing is known of it yet. */
static inline struct usage_record usage_record_empty(void)
{
    return (struct usage_record){ .time_ms = TIME_NONE, .cost = (double)NAN };
}

/* A non-zero result ends the walk and is returned. */
typedef enum err_code usage_fn(const struct usage_record *u, void *arg, struct err *e);

#endif
