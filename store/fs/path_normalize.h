#ifndef STORE_FS_PATH_NORMALIZE_H
#define STORE_FS_PATH_NORMALIZE_H

#include "lite/base/arena.h"

/* An absolute path by its names alone: below dir unless it is absolute itself, and "..", "." and doubled slashes are
 * taken out without a look at the disk, so that links stay what they are called. NULL without memory. */
const char *path_normalize(const char *dir, const char *path, struct arena *a);

#endif
