#ifndef STORE_DEMO_FILES_H
#define STORE_DEMO_FILES_H

#include <stdint.h>

#include "lite/base/err.h"
#include "lite/base/slice.h"

/* Making new things in a directory of our own, without syncing them: a demo that is lost in a power cut
 * is no loss. Nothing that exists is ever opened for writing. */

/* The directory and every missing one above it, 0700. */
MUST_CHECK enum err_code demo_make_dirs(const char *path, struct err *e);
/* A new file (0600) with these bytes and this mtime, and the directories above it. */
MUST_CHECK enum err_code demo_put(const char *path, struct slice bytes, int64_t mtime_ms,
                                  struct err *e);

#endif
