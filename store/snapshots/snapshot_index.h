#ifndef STORE_SNAPSHOTS_SNAPSHOT_INDEX_H
#define STORE_SNAPSHOTS_SNAPSHOT_INDEX_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"

/* What the newest snapshot of a project found, so that a file that did not change since costs one lstat. The entries of
 * a directory follow it, in the order in which the directory was read; that order rarely changes. */

enum { SNAPSHOT_OID = 20 };

enum snapshot_entry_kind {
    SNAPSHOT_FILE,
    SNAPSHOT_LINK,
    SNAPSHOT_DIR,
    SNAPSHOT_IGNORED, /* git ignores it; a file, or a directory that was not entered */
    SNAPSHOT_SKIPPED, /* it is not covered, for the reason in `why` */
};

enum snapshot_skip {
    SNAPSHOT_TOO_LARGE,
    SNAPSHOT_UNREADABLE,
    SNAPSHOT_SPECIAL,     /* a pipe, a socket, a device */
    SNAPSHOT_FILE_SYSTEM, /* the root of another file system */
    SNAPSHOT_TOO_MANY,    /* more files or bytes than a snapshot takes */
    SNAPSHOT_SKIPS
};

struct snapshot_entry {
    /* From lstat. A directory has the state of its .gitignore instead of times and size. */
    int64_t size, mtime_ns, ctime_ns;
    uint64_t ino;
    uint32_t mode;
    uint32_t below;   /* SNAPSHOT_DIR: how many of the entries after it are in it, at all levels */
    uint32_t name_at; /* in `names` */
    uint16_t name_n;
    uint8_t kind;
    uint8_t why;
    /* The id of a file, a link, or the tree of a directory; all zero for an empty directory. */
    uint8_t oid[SNAPSHOT_OID];
    uint8_t borrowed; /* the blob is in the project's own repository, and not yet in ours */
    uint8_t racy;     /* it may have changed after it was read without another time or size */
    uint8_t stale;    /* SNAPSHOT_DIR: its tree has to be made again; never written */
    uint8_t spare;
};

struct snapshot_index {
    struct snapshot_entry *entry; /* entry[0] is the root */
    uint32_t n, cap;
    struct buf names;
    /* The file that it was read from: entries and names are in it, and none can be added. */
    struct buf file;
    bool complete; /* a whole snapshot was made; else only a part was read before it was given up */
    int64_t git_index_ns; /* the state of the repository's index, which says what is tracked */
    int64_t rules_ns;     /* that of the rules outside of the tree */
    uint8_t notes[SNAPSHOT_OID]; /* the blob of notes; all zero without notes */
    size_t files;
};

/* Reads it, and checks it. A missing or damaged one is empty: everything is then read again. ERR_NOMEM. */
MUST_CHECK enum err_code snapshot_index_read(const char *path, struct snapshot_index *out,
                                             struct err *e);
/* Replaces the file, durably. Names that no entry has are left out first. */
MUST_CHECK enum err_code snapshot_index_write(struct snapshot_index *x, const char *dir,
                                              const char *name, struct err *e);
/* Forgets the content of a file, or of all files of a directory, so that the next snapshot reads it again. The list is no
 * longer complete. */
void snapshot_index_forget(struct snapshot_index *x, struct slice path);
void snapshot_index_fini(struct snapshot_index *x);

/* Adds an entry with a copy of its name. ERR_NOMEM. */
MUST_CHECK enum err_code snapshot_index_add(struct snapshot_index *x,
                                            const struct snapshot_entry *entry, struct slice name);
/* The same of an entry of the index that this one was made from by snapshot_index_copy, and so has its name. */
MUST_CHECK enum err_code snapshot_index_add_again(struct snapshot_index *x,
                                                  const struct snapshot_entry *entry);
/* Makes an empty index a copy of the first n entries of another one, with all names. ERR_NOMEM. */
MUST_CHECK enum err_code snapshot_index_copy(struct snapshot_index *x,
                                             const struct snapshot_index *from, uint32_t n);
struct slice snapshot_entry_name(const struct snapshot_index *x,
                                 const struct snapshot_entry *entry);

#endif
