#ifndef STORE_API_SUBAGENT_H
#define STORE_API_SUBAGENT_H

#include <stddef.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/slice.h"
#include "lite/base/time.h"

/* A sub-agent of a session as a list shows it, read from both ends of its transcript and never from its middle. */
enum subagent_end {
    SUBAGENT_OPEN,   /* its transcript does not end with an answer: running, or cut off */
    SUBAGENT_DONE,   /* it ends with what the sub-agent reported */
    SUBAGENT_FAILED, /* it ends with an error */
};

struct subagent {
    struct slice id;
    struct slice type;    /* "Explore"; may be empty */
    struct slice task;    /* what it was asked to do, in short; may be empty */
    struct slice outcome; /* what it said last; may be empty */
    enum subagent_end end;
    int64_t bytes;   /* of its transcript */
    int64_t time_ms; /* when its transcript was last written */
};

struct subagent_list {
    struct arena arena; /* owns everything */
    struct subagent *agent;
    size_t n;
};

/* As lists show it: "done". */
static inline const char *subagent_end_word(enum subagent_end end)
{
    return end == SUBAGENT_DONE ? "done" : end == SUBAGENT_FAILED ? "failed" : "unfinished";
}

static inline void subagent_list_fini(struct subagent_list *list)
{
    arena_fini(&list->arena);
    *list = (struct subagent_list){ .n = 0 };
}

#endif
