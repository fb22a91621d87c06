#ifndef STORE_SNAPSHOTS_SNAPSHOT_WALK_H
#define STORE_SNAPSHOTS_SNAPSHOT_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "store/git/index_file.h"
#include "store/git/libgit2.h"
#include "store/git/tree_ignore.h"
#include "store/snapshots/snapshot_index.h"
#include "store/snapshots/snapshot_objects.h"

/* ---- the store (snapshot.c) ---- */

#define SNAPSHOT_COPIES "copies"
/* Is in the store of a project while a snapshot waits for its lock, so that a pruning gives up. One that a crash left does
 * not count for long. */
#define SNAPSHOT_WANTED "wanted"

struct snapshot_log;
struct store_env;

/* Takes the lock of a store; the caller closes it. ERR_CANCELLED: another process had it until the deadline (of
 * time_coarse_ms). wanted: the path of SNAPSHOT_WANTED, which is there while it waits; NULL: a pruning need not know. */
MUST_CHECK enum err_code snapshot_lock(const char *path, const char *wanted, int64_t deadline_ms,
                                       int *fd, struct err *e);
/* The store of the project that cwd belongs to, in the arena; it need not exist. */
MUST_CHECK enum err_code snapshot_dir_of(const struct store_env *env, const char *cwd,
                                         struct arena *a, const char **dir, struct err *e);

/* ---- the project's own repository (snapshot_borrow.c) ---- */

/* What git knows about the work tree: which files it tracks, and the blobs of those that did not change since the last
 * `git add`. The repository is opened when the first blob is asked for, its index with the first path. */
struct snapshot_borrow {
    const char *root;
    const struct store_env *env;
    bool asked;       /* the repository was opened, or cannot be */
    bool asked_index; /* the same of its index */
    bool has_index;
    bool by_size;     /* git may convert line ends: a blob is the file only if it has its size */
    bool by_hash;     /* a filter may change anything: every file is read */
    bool has_outside; /* `outside` was read */
    git_repository *repo;
    git_odb *odb; /* NULL: nothing can be borrowed */
    struct index_file index;
    /* When the index was written: a file that is not older may have changed since. */
    int64_t index_s;
    struct tree_ignore outside;
};

/* Returns true if the project has a repository whose index can be read. */
bool snapshot_borrow_has_index(struct snapshot_borrow *b);
/* Sets *out to what git's index says about a file. False: git does not track it. */
bool snapshot_borrow_entry(struct snapshot_borrow *b, const char *path, struct index_entry *out);
/* Returns true if git tracks a file below the directory. */
bool snapshot_borrow_tracks_below(struct snapshot_borrow *b, const char *dir);
/* Sets the id of the blob that has the file's bytes, if the index shows that without reading it. */
bool snapshot_borrow_file(struct snapshot_borrow *b, const char *path, const struct stat *st,
                          uint8_t oid[SNAPSHOT_OID]);
/* Returns true if the repository has the blob. */
bool snapshot_borrow_has(struct snapshot_borrow *b, const uint8_t oid[SNAPSHOT_OID]);
/* Copies a blob into the pack; one that is gone is left out. */
MUST_CHECK enum err_code snapshot_borrow_copy(struct snapshot_borrow *b,
                                              const uint8_t oid[SNAPSHOT_OID],
                                              struct snapshot_pack *pack, struct err *e);
void snapshot_borrow_fini(struct snapshot_borrow *b);

/* ---- the walk (snapshot_walk.c) ---- */

struct snapshot_limits {
    int64_t file_bytes; /* larger files are skipped */
    int64_t bytes;      /* most that one snapshot copies */
    uint32_t files;
};

struct snapshot_walk {
    const char *root;
    struct snapshot_limits limits;
    int64_t deadline_ms; /* a deadline by time_coarse_ms */
    const struct snapshot_index *old;
    /* If `old` is only the beginning of a snapshot that was given up: what the last complete one found; else empty. */
    const struct snapshot_index *last;
    struct snapshot_index now; /* made by the walk */
    struct snapshot_pack pack; /* the caller finishes it */
    struct snapshot_borrow borrow;
    bool only_new;        /* what `old` has is not looked at again */
    bool fresh;           /* the rules outside of the tree changed */
    bool tracked_changed; /* the index of the repository changed */
    bool no_repository;   /* it was removed: what was borrowed from it has to be read */
    bool dirty;           /* `now` differs from `old` in any way */
    bool stale;           /* the tree differs */
    size_t skipped;
    /* internal */
    bool same; /* so far all entries are those of `old`: only now.n is set, until materialise() */
    int64_t began_ns;
    uint64_t dev;
    uint8_t *kept; /* for each old entry, an enum walk_kept */
    struct buf path, bytes;
};

enum walk_kept {
    WALK_UNSEEN,
    WALK_KEPT,    /* it is in `now`, too */
    WALK_REPLACED /* its name has a new entry, or is gone */
};

/* ERR_CANCELLED: the deadline has passed, or will have when the objects so far are durable. */
MUST_CHECK enum err_code snapshot_walk_check_time(const struct snapshot_walk *w, struct err *e);
/* Finds out what the project contains and adds the blobs that are new. ERR_CANCELLED: the deadline passed; `now` has what
 * was read until then, and the old entries of what was not reached. */
MUST_CHECK enum err_code snapshot_walk_run(struct snapshot_walk *w, struct err *e);
/* Makes the trees that changed, and the notes on what trees cannot say: unusual permissions, empty directories, what git
 * ignores, and what is not covered (snapped.h reads them). ERR_CANCELLED: the deadline passed. */
MUST_CHECK enum err_code snapshot_walk_trees(struct snapshot_walk *w, struct err *e);
void snapshot_walk_fini(struct snapshot_walk *w);

#endif
