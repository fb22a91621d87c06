#ifndef TESTS_SUPPORT_FAULTS_MEMORY_H
#define TESTS_SUPPORT_FAULTS_MEMORY_H

#include <stdbool.h>

/* Lets one allocation fail, in a test that is linked with unit_without_memory (CMakeLists.txt). Only what
 * our own code asks for counts, not what a library asks for. */

/* The k-th allocation from now on fails, counted from 1, and every one after it; 0: none. */
void memory_fail_at(long k);
/* Did one fail since then? */
bool memory_failed(void);

#endif
