#ifndef STORE_FS_DISK_USAGE_H
#define STORE_FS_DISK_USAGE_H

#include <stdint.h>
#include <sys/stat.h>

#include "lite/base/err.h"

/* What a file or a directory weighs: the bytes of all files in it, as their lengths say. Links are not followed and
 * weigh what their text does. */
struct disk_usage {
    int64_t files, bytes;
    int64_t newest_ms; /* the newest mtime of what was looked at, directories too; 0: nothing was */
};

/* Adds what is no directory, as lstat told it. */
void disk_usage_add_file(const struct stat *st, struct disk_usage *w);
/* Adds to w. A path that is not there weighs nothing. */
MUST_CHECK enum err_code disk_usage_add(const char *path, struct disk_usage *w, struct err *e);

#endif
