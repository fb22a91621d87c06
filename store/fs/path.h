#ifndef STORE_FS_PATH_H
#define STORE_FS_PATH_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"

/* Makes a path absolute by its text alone: it is relative to dir unless it is absolute, and "..", "." and doubled
 * slashes are removed without looking at the disk, so that links keep their names. Returns NULL if out of memory. */
const char *path_normalize(const char *dir, const char *path, struct arena *a);
/* The path of the file that a path leads to through links, as far as its parts exist; itself if it is too long. Returns
 * NULL if out of memory. */
const char *path_real(const char *path, struct arena *a);
/* The same for a clean path below root, which keeps its name: the path stays as it is if a link on it leads out of
 * root, or if a link below root is newer than the time, because it may not have existed then. TIME_NONE: all links are
 * followed. */
const char *path_real_below(const char *root, const char *path, int64_t time_ms, struct arena *a);
/* The directory that the last part of a path is in: "/" for "/x", "." for "x". Returns false if it is too long. */
bool path_parent(const char *path, char out[PATH_MAX]);
/* The directory and the path of a file that is to be written, as the kernel resolves them: ".." behind a link is the
 * directory above its target. The name itself may be a link. ERR_USAGE: it is no name of a file. */
MUST_CHECK enum err_code path_new_file(const char *cwd, const char *path, struct arena *a,
                                       const char **dir, const char **full, struct err *e);
/* Returns true if path is root or below it. Both must be clean. They are compared part by part, so /a/bc is not below
 * /a/b. */
bool path_under(struct slice path, struct slice root);

/* Returns ERR_UNSAFE, with the file or directory in question, if others than the user and the administrator can change
 * what the path leads to: the file, every directory above it and every link on the way belongs to one of the two, and
 * only they can write to it. In a sticky directory (/tmp) the entry must be theirs. A relative path is relative to
 * cwd. */
MUST_CHECK enum err_code path_trusted(const char *cwd, const char *path, struct err *e);

/* Finds out which of very many names exist. Most parts of most sessions do not, and often the directory that would hold
 * them for all sessions does not either. So a few directories are remembered: one that does not exist contains nothing,
 * and after so many failed look-ups that reading the directory is cheaper, its names are read. A name that is reported
 * as present has just been looked up; any other was absent when its directory was read. */

enum { PRESENCE_DIRS = 16 };

struct presence_dir {
    struct slice path; /* borrowed from the path of a look-up */
    unsigned misses;   /* failed look-ups before it is read */
    /* the number of misses that cost as much as reading it; 0 if it is never read */
    unsigned scan_after_misses;
    bool gone;
    unsigned char *bits; /* owned: a Bloom filter of its names, once it was read */
    size_t bits_n;       /* a power of two */
};

/* A zeroed struct knows nothing yet. */
struct presence {
    struct presence_dir dir[PRESENCE_DIRS];
    size_t n; /* how many were added; the oldest are dropped */
};

/* Sets *there to whether the path exists, and *st to its lstat. The path must stay valid until path_presence_fini. */
MUST_CHECK enum err_code path_presence_lookup(struct presence *p, const char *path, bool *there,
                                              struct stat *st, struct err *e);
void path_presence_fini(struct presence *p);

/* Passes each regular file below a directory on, as far as this many directories below it. Links are not followed, and
 * names that begin with a dot and directories that cannot be read are left out. */
typedef enum err_code path_file_fn(const char *path, void *arg, struct err *e);
MUST_CHECK enum err_code path_each_file(const char *dir, int depth, path_file_fn *fn, void *arg,
                                        struct err *e);

/* Returns true if it is a directory, or a link to one. */
bool path_is_dir(const char *path);
/* Returns true if it is a directory and not a link. */
bool path_is_real_dir(const char *path);

#endif
