#ifndef STORE_GIT_INDEX_FILE_H
#define STORE_GIT_INDEX_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "lite/base/arena.h"
#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"

/* git's list of the files that it tracks (gitformat-index(5)), for a reader who asks about tens of thousands of paths in
 * the order of a walk. libgit2 makes an object and a hash for each entry first, which takes longer than the walk.
 *
 * Versions 2 to 4 are read. One with an extension that must be understood (a split or a sparse index) is not, nor one
 * with a wrong checksum; with index.skipHash, git writes zeros instead of one. */

struct index_name {
    const char *path;    /* ends with a NUL */
    const uint8_t *data; /* its fixed part in the file */
};

struct index_file {
    struct buf bytes;
    struct arena arena;      /* owns the names of version 4, and the list */
    struct index_name *name; /* those of stage 0 in the order of their bytes */
    uint32_t n;
    /* The directory that was asked about last, with a slash, and where its names are. */
    struct buf dir;
    uint32_t from, to;
};

/* What an entry says; the numbers are those that git keeps, of 32 bits. */
struct index_entry {
    uint32_t ctime_s, ctime_ns, mtime_s, mtime_ns, ino, mode, size;
    const uint8_t *oid; /* 20 bytes */
};

/* ERR_NOT_FOUND: no such file. ERR_FORMAT, ERR_UNSUPPORTED: it is damaged, or as above. ERR_NOMEM. */
MUST_CHECK enum err_code index_file_read(const char *path, struct index_file *out, struct err *e);
/* Sets *out if git tracks the file at a path, and it is in no conflict. */
bool index_file_find(struct index_file *x, const char *path, struct index_entry *out);
/* Returns true if git tracks a file below the directory. */
bool index_file_has_below(struct index_file *x, const char *dir);
void index_file_fini(struct index_file *x);

#endif
