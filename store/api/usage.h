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
 * this answer alone, in tokens: running totals have to be subtracted from each other. No number is negative. */
struct usage_record {
    int64_t time_ms; /* the time of the answer; TIME_NONE: not recorded */
    struct slice model;
    int64_t input;       /* tokens of the request, neither read from a cache nor written to one */
    int64_t output;      /* tokens of the answer, including its thinking */
    int64_t cache_read;  /* tokens of the request, read from a cache */
    int64_t cache_write; /* tokens of the request, written to a cache */
    double cost;         /* in US dollars; NAN unless the agent recorded it */
    /* The id of the message that the answer is in, as `load` has it, so that its turn can be found. Empty for a
     * sub-agent's answer, which belongs to the turn that was running at its time. */
    struct slice message;
    struct slice agent; /* the sub-agent's id; empty: the conversation itself */
    /* The ids that the vendor's API gave to the answer and to its request. Records in which both ids are the same are
     * one answer, even in different sessions, and are counted once. Empty `answer`: the record is counted as it is. */
    struct slice answer, request;
    /* The answer may also be recorded in another session, whose record then counts: a fork copied it, or the transcript
     * is a copy. */
    bool copied;
    /* The answer belongs to a sub-agent or to a side question. If it is also recorded elsewhere with another request,
     * that record counts. */
    bool aside;
    /* Not an answer but the agent's own running total for `model`: the tokens and cost of what it asked the model since
     * `run` began, which includes answers in records before this one, calls that left no record, and perhaps answers in
     * other sessions of the same run. */
    bool total;
    struct slice run;
};

/* A record of which nothing is known yet. */
static inline struct usage_record usage_record_empty(void)
{
    return (struct usage_record){ .time_ms = TIME_NONE, .cost = (double)NAN };
}

/* A non-zero result ends the walk and is returned. */
typedef enum err_code usage_fn(const struct usage_record *u, void *arg, struct err *e);

#endif
