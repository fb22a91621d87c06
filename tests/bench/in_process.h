#ifndef TESTS_BENCH_IN_PROCESS_H
#define TESTS_BENCH_IN_PROCESS_H

#include <stddef.h>

#include "store/api/store.h"

/* Our side of the comparisons made in this process. */

size_t in_process_list(struct store *st); /* lists all sessions; returns the number of rows */
/* Compares loading a session with reading its bytes and prints the times. Returns the number of messages. */
size_t in_process_load(struct store *st, struct slice id, int rounds);

#endif
