#ifndef STORE_FS_PATH_H
#define STORE_FS_PATH_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"

/* An absolute path by its names alone: below dir unless it is absolute itself, and "..", "." and doubled slashes are
 * taken out without a look at the disk, so that links stay what they are called. NULL without memory. */
const char *path_normalize(const char *dir, const char *path, struct arena *a);
/* The directory that the last part of a path is in: "/" for "/x", "." for "x". Returns false if it is too long. */
bool path_parent(const char *path, char out[PATH_MAX]);

/* Which of very many names are there? Most parts of most sessions are not, and often not even the directory that
 * holds them for all sessions. So of a few directories it is kept in mind what is in them: nothing, where they are not
 * there; and once enough was looked for in vain that reading the directory costs less than going on like that, its
 * names. What is said to be there was looked at; what is not was not there when the directory was read. */

enum { PRESENCE_DIRS = 16 };

struct presence_dir {
    struct slice path; /* borrowed from what was asked for */
    unsigned misses;   /* until it is read */
    unsigned worth;    /* so many misses cost as much as reading it; 0: never reads it */
    bool gone;
    unsigned char *bits; /* owned: a Bloom filter of its names, once it was read */
    size_t bits_n;       /* a power of two */
};

/* A zeroed struct knows nothing yet. */
struct presence {
    struct presence_dir dir[PRESENCE_DIRS];
    size_t n; /* how many were learned: the oldest are forgotten */
};

/* Is there something at the path, and what (lstat)? The path stays where it is until path_presence_fini. */
MUST_CHECK enum err_code path_presence_lookup(struct presence *p, const char *path, bool *there,
                                              struct stat *st, struct err *e);
void path_presence_fini(struct presence *p);

#endif
