#ifndef STORE_FS_MOVE_H
#define STORE_FS_MOVE_H

#include <stdbool.h>

#include "lite/base/err.h"

/* Gives a file or a directory another place. On one file system that is one rename, which never replaces
 * (ERR_STALE when `to` exists). Across file systems it is a copy under a temporary name beside `to`, with
 * modes, times, extended attributes, hard and symbolic links inside a tree kept, compared byte by byte with the source, synced,
 * renamed, and only then is the source removed. So at every moment the thing lies whole in one of the two
 * places. Names are durable only after move_sync. */
MUST_CHECK enum err_code move_path(const char *from, const char *to, struct err *e);
/* Does `to` exist, and `from` not? Where a crash left both (a copy across file systems that was named before its
 * source was gone) what lies in both places goes from the one that is not whole: the move was done, or was being
 * taken back. Where they differ both stay, and it was not done. */
MUST_CHECK enum err_code move_is_done(const char *from, const char *to, bool *done, struct err *e);
/* Removes the unfinished copy that a crash left beside `to`. */
MUST_CHECK enum err_code move_repair(const char *from, const char *to, struct err *e);
MUST_CHECK enum err_code move_sync(const char *from, const char *to, struct err *e);

#endif
