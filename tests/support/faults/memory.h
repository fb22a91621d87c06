#ifndef TESTS_SUPPORT_FAULTS_MEMORY_H
#define TESTS_SUPPORT_FAULTS_MEMORY_H

#include <stdbool.h>

/* Lets one allocation fail, in a test that is linked with unit_without_memory (CMakeLists.txt). Only allocations of our
 * own code count, not those of libraries. */

/* The k-th allocation from now on fails, counted from 1, and every one after it; 0: none. */
void memory_fail_at(long k);
/* Returns true if one has failed since then. */
bool memory_failed(void);

#endif
