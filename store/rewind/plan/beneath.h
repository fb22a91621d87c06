#ifndef STORE_REWIND_PLAN_BENEATH_H
#define STORE_REWIND_PLAN_BENEATH_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/fs/copy.h"

struct buf;
struct cJSON;

/* ---- rules (pathrule.c) ---- */

/* Which paths a rewind may touch, judged by their names alone (beneath.c checks the files themselves). The names come
 * from a store that anyone may have written, a cloned repository included. */
enum pathrule {
    PATHRULE_ALLOWED,
    PATHRULE_INVALID, /* not a clean absolute path */
    PATHRULE_GIT,     /* .git or below it, in any spelling that a file system accepts for it */
    PATHRULE_SENSITIVE, /* what programs run or trust: agent settings and hooks, shell start-up files, keys */
};

/* Judges an absolute path. *why (may be NULL) becomes a static text for a person; it is unchanged if the path is
 * fine. any_name: names that begin with "-" and names with control characters are allowed, because the path is known to
 * have existed. */
enum pathrule pathrule_check(struct slice path, bool any_name, const char **why);
/* Returns true if the path is PATHRULE_INVALID or PATHRULE_GIT, which cannot be allowed. */
bool pathrule_forbids(struct slice path, bool any_name);

/* ---- the files themselves (beneath.c) ---- */

/* Directories that are removed because they became empty, or created again, and their attributes, so that a private
 * directory does not come back readable by everyone. */
struct dir_like {
    const char *path; /* absolute */
    struct attrs attrs;
    bool made; /* by this process, just now */
};

struct dirs {
    struct dir_like *dir;
    size_t n;
};

/* Returns NULL if nothing is known about it. */
struct dir_like *beneath_dirs_find(const struct dirs *list, struct slice path);
/* Copies path and attributes. A directory that is in the list already is not changed. Returns false if out of
 * memory. */
bool beneath_dirs_add(struct dirs *list, struct arena *a, struct slice path, const struct attrs *x);
bool beneath_dirs_add_all(struct dirs *list, struct arena *a, const struct dirs *from);

/* The member "dirs" of a record; see record.h. */
bool beneath_dirs_write(struct cJSON *root, const struct dirs *list, struct buf *scratch);
bool beneath_dirs_read(const struct cJSON *root, struct arena *a, struct dirs *out);

/* Opens files below a root and nothing else, even while another program replaces directories with links. (Checks of the
 * text, of realpath and of lstat all let a race through; openat2 let none of 438,100 through.) Every access of the
 * rewind engine begins here. */

/* Opens the root. It may itself be reached through links, because the person named it. *fd is -1 on failure. */
MUST_CHECK enum err_code beneath_root(const char *root, int *fd, struct err *e);
/* The same; *link_ms is the time since which the root's name leads there through links, INT64_MIN if it is a directory.
 * It describes the directory that was opened, even while the two are being exchanged; ERR_UNSAFE if that never stops. */
MUST_CHECK enum err_code beneath_root_link(const char *root, int *fd, int64_t *link_ms,
                                           struct err *e);

/* The identity of the root directory, because another directory may get its name, or it may be a mount point that is
 * not mounted. Device numbers change from boot to boot, so another device with the same file system id is accepted. */
struct root_id {
    uint64_t dev, ino; /* ino 0: not known */
    uint64_t fs;       /* the id that statvfs returns; 0 if the file system has none */
    int64_t born_ns;   /* 0 if the file system does not record it */
};

MUST_CHECK enum err_code beneath_root_id(int fd, const char *root, struct root_id *out,
                                         struct err *e);
/* Opens the root if it is still the same directory; ERR_STALE if not. With id NULL any directory is accepted. */
MUST_CHECK enum err_code beneath_same_root(const char *root, const struct root_id *id, int *fd,
                                           struct err *e);

/* The mount and file system of a directory: names can only be moved within both. */
struct beneath_at {
    uint64_t mount, dev; /* mount 0: not known */
};

/* path "": the directory itself. All 0 if nothing is known about it. */
struct beneath_at beneath_at(int dir, const char *path);
bool beneath_same_at(struct beneath_at a, struct beneath_at b);

/* Opens the directory of `path` (absolute, clean, under `root`) for use with the *at calls; *name points to path's
 * last part. ERR_UNSAFE: a link or something that is not a directory is on the way. ERR_NOT_FOUND: a directory on the
 * way does not exist. */
MUST_CHECK enum err_code beneath_parent(int root_fd, const char *root, const char *path, int *fd,
                                        const char **name, struct err *e);
/* The same, but creates missing directories durably: those in `like` (may be NULL) get the attributes recorded there
 * and are marked; others get mode 0755 less the umask. */
MUST_CHECK enum err_code beneath_make_parent(int root_fd, const char *root, const char *path,
                                             struct dirs *like, int *fd, const char **name,
                                             struct err *e);

#endif
