#ifndef TESTS_BENCH_PROSE_H
#define TESTS_BENCH_PROSE_H

#include <stddef.h>
#include <stdio.h>

#include "dice.h"

/* What agents and people write, as the inside of a JSON string: words, code, escapes, some Unicode. Made
 * once; texts are cut out of it at places where no escape and no character is split. */
struct prose {
    char *text;
    size_t n;
    size_t *cut; /* places where a text may begin or end, rising */
    size_t cuts;
};

struct prose *prose_new(struct dice *d);
void prose_free(struct prose *p);
const char *prose_word(struct dice *d);
/* Writes about n bytes. */
void prose_write(const struct prose *p, struct dice *d, size_t n, FILE *out);

/* Who speaks in the i-th message of a conversation: a person, then the agent and its tools by turns. */
const char *prose_role(size_t i);
/* As much as one of them says at a time in real sessions: log-normal, and the tools by far the most. A thousand messages
 * come to some 3 MB. */
void prose_speech(const struct prose *p, struct dice *d, const char *role, FILE *out);

#endif
