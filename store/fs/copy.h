#ifndef STORE_FS_COPY_H
#define STORE_FS_COPY_H

#include "lite/base/err.h"

/* Copies of files and trees that are the same afterwards, and are known to be. Links are copied as links and
 * never followed. */

/* from: a file, a link or a directory; to must not exist, its directory must. Bytes, modes, owners (where we
 * may), times, links, extended attributes and access lists are kept (of the latter: see attrs_apply_portable); every file is
 * read back, compared and synced. ERR_UNSAFE for a FIFO, a device or a socket. After a failure part of the copy may lie at `to`: copy_remove it. */
MUST_CHECK enum err_code copy_tree(const char *from, const char *to, struct err *e);
/* Removes a tree. Only for an unfinished copy of our own, and for a source that was copied whole. */
MUST_CHECK enum err_code copy_remove(const char *path, struct err *e);
/* ERR_STALE when something in `from` does not lie in `to` with equal bytes. */
MUST_CHECK enum err_code copy_compare(const char *from, const char *to, struct err *e);
/* Removes from `from` what lies with equal bytes in its copy `to`. Stops with ERR_STALE at the first thing that
 * does not: nothing is removed that exists only once. */
MUST_CHECK enum err_code copy_remove_source(const char *from, const char *to, struct err *e);

#endif
