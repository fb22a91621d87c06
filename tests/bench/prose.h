#ifndef TESTS_BENCH_PROSE_H
#define TESTS_BENCH_PROSE_H

#include <stddef.h>
#include <stdio.h>

#include "rng.h"

/* Text as agents and people write it, as the inside of a JSON string: words, code, escapes, some Unicode. It is made
 * once; texts are cut out of it where no escape and no character is split. */
struct prose {
    char *text;
    size_t n;
    size_t *cut; /* offsets where a text may begin or end, ascending */
    size_t cuts;
};

struct prose *prose_new(struct rng *d);
void prose_free(struct prose *p);
const char *prose_word(struct rng *d);
/* Writes about n bytes. */
void prose_write(const struct prose *p, struct rng *d, size_t n, FILE *out);

/* The speaker of the i-th message of a conversation: a person, then the agent and its tools in turn. */
const char *prose_role(size_t i);
/* A message length as in real sessions: log-normal, with tool results by far the largest. A thousand messages come to
 * about 3 MB. */
void prose_message(const struct prose *p, struct rng *d, const char *role, FILE *out);

#endif
