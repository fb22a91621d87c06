#ifndef STORE_FS_ATTRS_H
#define STORE_FS_ATTRS_H

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
MUST_CHECK enum err_code attrs_get(int fd, struct arena *a, const char *path, struct attrs *out,
                                   struct err *e);
/* Gives a new one its owner and its extended attributes: all of them, or it fails. An ACL that it inherited goes where
 * the old one had none: it would let in who was not. The mode is set by the caller, afterwards: a change of owner
 * clears set-id bits. */
MUST_CHECK enum err_code attrs_apply(int fd, const struct attrs *x, const char *path,
                                     struct err *e);
/* The same for a copy on another file system. Of what a person set, "user." ones and access lists, again all or it
 * fails; the owner, and labels that a system gives (security., trusted., of NFS), where this one takes them from us. */
MUST_CHECK enum err_code attrs_apply_portable(int fd, const struct attrs *x, const char *path,
                                              struct err *e);
/* Makes the names and values the arena's. False without memory: for these, or before. */
bool attrs_copy(struct arena *a, struct attrs *x);

#endif
