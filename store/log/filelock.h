#ifndef STORE_LOG_FILELOCK_H
#define STORE_LOG_FILELOCK_H

#include <stdbool.h>

#include "lite/base/err.h"

/* The lock that programs writing to the same session hold for each other: flock(2), exclusive, on an empty file beside
 * the log, 0600, which is left in its place (goat.md B5). It dies with its holder. */

/* Waits up to 5 s: then ERR_LOCKED. Makes the file where it is missing; not through a link (ERR_UNSAFE). */
MUST_CHECK enum err_code filelock_acquire(const char *path, int *fd, struct err *e);
void filelock_release(int fd);
/* Does somebody hold it right now? No file: nobody. */
bool filelock_is_held(const char *path);

#endif
