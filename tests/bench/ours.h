#ifndef TESTS_BENCH_OURS_H
#define TESTS_BENCH_OURS_H

#include <stddef.h>

#include "store/store.h"

/* What both sides of a comparison do in this process: a listing of all rows, and reading a file with one buffer, which is
 * the least that any reader of its bytes does. */

size_t ours_list(struct store *st); /* how many rows */
void bare_read(const char *path);

#endif
