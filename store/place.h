#ifndef STORE_PLACE_H
#define STORE_PLACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "lite/err.h"
#include "lite/slice.h"

/* Bytes at a place in a file: looked at and written by offset, never through a link. */

#define MTIME_NOW INT64_MIN /* leave the time to the kernel */

MUST_CHECK enum err_code place_open(const char *path, int *fd, struct stat *st, struct err *e);
/* Do these bytes lie at the offset? */
bool place_holds(int fd, struct slice bytes, int64_t offset);
MUST_CHECK enum err_code place_write(int fd, struct slice bytes, int64_t offset, const char *path,
                                     struct err *e);
int64_t place_mtime(const struct stat *st); /* ns since the epoch */
/* A time that cannot be put back is no reason to fail: the bytes are what counts. */
void place_mtime_put(int fd, int64_t ns);

#endif
