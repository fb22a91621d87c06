#ifndef STORE_FS_FREE_SPACE_H
#define STORE_FS_FREE_SPACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/statvfs.h>

#include "lite/base/err.h"

/* Is there room for what is going to be written? Asked before the first byte of it is: a disk that turns out to be full
 * is met while staging, and everything is taken back. */

/* The free bytes of a file system, for us; more than an int64_t holds: INT64_MAX. False where it does not tell: ramfs
 * and some network file systems have no blocks at all, which is not the same as none free. */
bool free_space_bytes(const struct statvfs *fs, int64_t *bytes);
/* Room for `need` bytes and a twentieth, where `dir` lies? ERR_IO says what, in the words of `what`, needs how much.
 * ERR_OK also where it cannot be known. */
MUST_CHECK enum err_code free_space_check(const char *dir, int64_t need, const char *what,
                                          struct err *e);

#endif
