#ifndef STORE_FS_COPY_H
#define STORE_FS_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"

/* The attributes of a file or directory besides its name and its bytes. Extended attributes contain
 * ACLs and labels. */
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

/* Reads them from an open file or directory; the result is in the arena. */
MUST_CHECK enum err_code fs_attrs_get(int fd, struct arena *a, const char *path, struct attrs *out,
                                      struct err *e);
/* Gives a new file its owner and all its extended attributes, or fails. An inherited ACL is removed if the old file
 * had none, because it would let others in. The caller sets the mode afterwards, since a change of owner clears
 * set-id bits. */
MUST_CHECK enum err_code fs_attrs_apply(int fd, const struct attrs *x, const char *path,
                                        struct err *e);
/* The same for a copy on another file system. It fails unless it can set everything that a person sets ("user."
 * attributes and access lists). The owner, and labels that a system gives (security., trusted., those of NFS), are
 * set if this file system accepts them from us. */
MUST_CHECK enum err_code fs_attrs_apply_portable(int fd, const struct attrs *x, const char *path,
                                                 struct err *e);
/* Copies the names and values into the arena. Returns false if the arena ran out of memory, now or before. */
bool fs_attrs_copy(struct arena *a, struct attrs *x);

/* Copies of files and trees, which are verified. Links are copied as links and never followed. */

/* Copies a file, a link or a directory. `to` must not exist; its directory must. Bytes, modes, owners (if allowed),
 * times, links, extended attributes and access lists are kept (see fs_attrs_apply_portable). Every file is read back,
 * compared and synced. ERR_UNSAFE for a FIFO, a device or a socket. After a failure a part of the copy may be at
 * `to`: use copy_remove. */
MUST_CHECK enum err_code copy_tree(const char *from, const char *to, struct err *e);
/* Removes a tree. It is used only for an unfinished copy of our own and for a source that was copied completely. */
MUST_CHECK enum err_code copy_remove(const char *path, struct err *e);
/* ERR_STALE if something in `from` is not in `to` with equal bytes. */
MUST_CHECK enum err_code copy_compare(const char *from, const char *to, struct err *e);
/* Removes from `from` what is in its copy `to` with equal bytes. Stops with ERR_STALE at the first file that is not, so
 * that nothing is removed that exists only once. */
MUST_CHECK enum err_code copy_remove_source(const char *from, const char *to, struct err *e);

/* Moves a file or directory. Within one file system this is one rename, which never replaces (ERR_STALE if `to`
 * exists). Across file systems it is a copy under a temporary name beside `to` (modes, times, extended attributes, hard
 * and symbolic links within the tree are kept), which is compared byte by byte, synced and renamed; only then is the
 * source removed. So at every moment one of the two places is complete. If another program writes to the source before
 * all of it is removed, what was removed comes back. Names are durable only after fs_move_sync. */
MUST_CHECK enum err_code fs_move(const char *from, const char *to, struct err *e);
/* Sets *done to whether `to` exists and `from` does not. A crash may have left both (a copy across file systems that
 * was named before its source was gone): then the files that are in both places are removed from the incomplete one, so
 * that the move is done, or undone. If they differ, both stay, and the move was not done. */
MUST_CHECK enum err_code fs_move_is_done(const char *from, const char *to, bool *done,
                                         struct err *e);
/* Removes the unfinished copy that a crash left beside `to`. */
MUST_CHECK enum err_code fs_move_repair(const char *from, const char *to, struct err *e);
MUST_CHECK enum err_code fs_move_sync(const char *from, const char *to, struct err *e);

#endif
