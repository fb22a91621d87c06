#ifndef TESTS_BENCH_OURS_H
#define TESTS_BENCH_OURS_H

#include <stddef.h>

#include "store/api/store.h"

/* Our side of the comparisons that are made in this process. */

size_t ours_list(struct store *st); /* of all sessions; how many rows */
/* Loading a session against reading its bytes, and prints the times. Answers how many messages it has. */
size_t race_load(struct store *st, struct slice id, int rounds);

#endif
