#ifndef STORE_FS_COPY_H
#define STORE_FS_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"

/* What a file or a directory has besides its name and its bytes. Extended attributes carry ACLs and labels. */
struct attr {
    const char *name;
    struct slice value;
};

struct attrs {
    uint32_t mode; /* permission bits, with the set-id and sticky ones */
    uint32_t uid, gid;
    int64_t mtime_ns;
    struct attr *x;
    size_t n;
};

/* Of an open file or directory; what is answered lies in the arena. */
MUST_CHECK enum err_code fs_attrs_get(int fd, struct arena *a, const char *path, struct attrs *out,
                                      struct err *e);
/* Gives a new one its owner and its extended attributes: all of them, or it fails. An ACL that it inherited goes where
 * the old one had none: it would let in who was not. The mode is set by the caller, afterwards: a change of owner
 * clears set-id bits. */
MUST_CHECK enum err_code fs_attrs_apply(int fd, const struct attrs *x, const char *path,
                                        struct err *e);
/* The same for a copy on another file system. Of what a person set, "user." ones and access lists, again all or it
 * fails; the owner, and labels that a system gives (security., trusted., of NFS), where this one takes them from us. */
MUST_CHECK enum err_code fs_attrs_apply_portable(int fd, const struct attrs *x, const char *path,
                                                 struct err *e);
/* Makes the names and values the arena's. False without memory: for these, or before. */
bool fs_attrs_copy(struct arena *a, struct attrs *x);

/* Copies of files and trees that are the same afterwards, and are known to be. Links are copied as links and
 * never followed. */

/* from: a file, a link or a directory; to must not exist, its directory must. Bytes, modes, owners (where we
 * may), times, links, extended attributes and access lists are kept (of the latter: see fs_attrs_apply_portable); every file is
 * read back, compared and synced. ERR_UNSAFE for a FIFO, a device or a socket. After a failure part of the copy may lie at `to`: copy_remove it. */
MUST_CHECK enum err_code copy_tree(const char *from, const char *to, struct err *e);
/* Removes a tree. Only for an unfinished copy of our own, and for a source that was copied whole. */
MUST_CHECK enum err_code copy_remove(const char *path, struct err *e);
/* ERR_STALE when something in `from` does not lie in `to` with equal bytes. */
MUST_CHECK enum err_code copy_compare(const char *from, const char *to, struct err *e);
/* Removes from `from` what lies with equal bytes in its copy `to`. Stops with ERR_STALE at the first thing that
 * does not: nothing is removed that exists only once. */
MUST_CHECK enum err_code copy_remove_source(const char *from, const char *to, struct err *e);

/* Gives a file or a directory another place. On one file system that is one rename, which never replaces
 * (ERR_STALE when `to` exists). Across file systems it is a copy under a temporary name beside `to`, with
 * modes, times, extended attributes, hard and symbolic links inside a tree kept, compared byte by byte with the source, synced,
 * renamed, and only then is the source removed. So at every moment the thing lies whole in one of the two
 * places. Names are durable only after fs_move_sync. */
MUST_CHECK enum err_code fs_move(const char *from, const char *to, struct err *e);
/* Does `to` exist, and `from` not? Where a crash left both (a copy across file systems that was named before its
 * source was gone) what lies in both places goes from the one that is not whole: the move was done, or was being
 * taken back. Where they differ both stay, and it was not done. */
MUST_CHECK enum err_code fs_move_is_done(const char *from, const char *to, bool *done,
                                         struct err *e);
/* Removes the unfinished copy that a crash left beside `to`. */
MUST_CHECK enum err_code fs_move_repair(const char *from, const char *to, struct err *e);
MUST_CHECK enum err_code fs_move_sync(const char *from, const char *to, struct err *e);

#endif
