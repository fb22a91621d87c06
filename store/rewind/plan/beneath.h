#ifndef STORE_REWIND_PLAN_BENEATH_H
#define STORE_REWIND_PLAN_BENEATH_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/base/err.h"
#include "store/fs/copy.h"

struct buf;
struct cJSON;

/* Directories that go because nothing is left in them, or come back, and what they are like: so that a private one
 * does not come back open to all. */
struct dir_like {
    const char *path; /* absolute */
    struct attrs attrs;
    bool made; /* by this process, just now */
};

struct dirs {
    struct dir_like *dir;
    size_t n;
};

/* NULL: nothing is known of it. */
struct dir_like *beneath_dirs_find(const struct dirs *list, struct slice path);
/* Path and attributes are copied. One that is known already stays as it is. False without memory. */
bool beneath_dirs_add(struct dirs *list, struct arena *a, struct slice path, const struct attrs *x);
bool beneath_dirs_add_all(struct dirs *list, struct arena *a, const struct dirs *from);

/* "dirs" of a record; see record_json.h. */
bool beneath_dirs_write(struct cJSON *root, const struct dirs *list, struct buf *scratch);
bool beneath_dirs_read(const struct cJSON *root, struct arena *a, struct dirs *out);

/* Reaching files below a root, and nothing else, while somebody may be swapping directories for links (SAFETY.md
 * 1.3: string, realpath and lstat checks all let a race through; openat2 let none of 438,100). Every access of the rewind engine begins here. */

/* The root directory itself may be reached through links: it is what the person named. -1 with the error. */
MUST_CHECK enum err_code beneath_root(const char *root, int *fd, struct err *e);
/* The same, and since when a link has its name: INT64_MIN if it is a directory. The answer is about the directory that was
 * opened, also while both change places; ERR_UNSAFE if they never stop. */
MUST_CHECK enum err_code beneath_root_link(const char *root, int *fd, int64_t *link_ms,
                                           struct err *e);

/* Which directory the root was: its name may be given to another one, or be a mount point whose disk is away. Device
 * numbers change from boot to boot, so another device with the same file system id will do. */
struct root_id {
    uint64_t dev, ino; /* ino 0: not known */
    uint64_t fs;       /* statfs; 0: this file system has none */
    int64_t born_ns;   /* 0: this file system does not know */
};

MUST_CHECK enum err_code beneath_root_id(int fd, const char *root, struct root_id *out,
                                         struct err *e);
/* Opens the root if it is still that directory; ERR_STALE if not. id NULL: any directory will do. */
MUST_CHECK enum err_code beneath_same_root(const char *root, const struct root_id *id, int *fd,
                                           struct err *e);

/* Is the open file a mount point in its directory? Neither renamed nor removed then (EBUSY). */
bool beneath_is_mount(int fd, int dir);

/* Where names can be moved to from a directory: within the same mount of the same file system. */
struct beneath_at {
    uint64_t mount, dev; /* mount 0: not known */
};

struct beneath_at beneath_at(int dir);
bool beneath_same_at(struct beneath_at a, struct beneath_at b);

/* Opens the directory that holds `path` (absolute, clean, under `root`) for use with the *at calls; *name points to
 * path's last part. ERR_UNSAFE: a link or something that is no directory lies on the way. ERR_NOT_FOUND: a
 * directory on the way does not exist. */
MUST_CHECK enum err_code beneath_parent(int root_fd, const char *root, const char *path, int *fd,
                                        const char **name, struct err *e);
/* The same, making missing directories: as `like` (may be NULL) says, and marked there; others 0755 less the umask.
 * Each that was made is durable. */
MUST_CHECK enum err_code beneath_make_parent(int root_fd, const char *root, const char *path,
                                             struct dirs *like, int *fd, const char **name,
                                             struct err *e);

#endif
