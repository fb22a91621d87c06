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

#endif
