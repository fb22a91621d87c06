#ifndef STORE_GIT_GITLIB_H
#define STORE_GIT_GITLIB_H

#include <stdbool.h>

#include "lite/base/err.h"

/* Has libgit2 been started? Starts it where not; false: out of memory. To be asked before its first call by everybody
 * who calls it; any thread. Starting reads every certificate of the system (10 ms), so once it runs it stays until the
 * process ends. A program that starts and ends libgit2 itself is not disturbed. */
MUST_CHECK bool gitlib_ready(void);

#endif
