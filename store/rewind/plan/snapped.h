#ifndef STORE_REWIND_PLAN_SNAPPED_H
#define STORE_REWIND_PLAN_SNAPPED_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/buf.h"
#include "lite/base/cleanup.h"
#include "lite/base/err.h"
#include "store/api/checkpoint.h"
#include "store/api/session.h"
#include "store/git/libgit2.h"
#include "store/snapshots/snapshot.h"

/* The snapshots of a session: which belong to which turn, and what changed between them. by_snapshots.c makes plans of
 * that. */

/* A turn of the session with its snapshots, or NULL. */
struct snapped_turn {
    const struct snapshot *before, *after;
    bool unseen; /* for what changed between two of them: there was a turn without a snapshot */
    bool interrupted; /* its end has no snapshot, so `after` is that before the next prompt */
};

/* A file that differs between two snapshots. */
struct snapped_file {
    struct slice path; /* below the root */
    bool by_session;
    bool is_entry;      /* it did not only come and go with what is in it */
    size_t first, last; /* the turns that changed it */
    bool uncertain;     /* a person may have done it: after a turn was interrupted */
    bool unseen;        /* or the session did, in a turn without a snapshot */
    size_t by_hand;     /* the turn after which it was changed by others; SIZE_MAX: never */
    const struct snapshot *other; /* by another session, which was at work then; NULL */
    bool was_empty;               /* a directory without entries, at one time */
    unsigned left_mode;           /* what the session left, as in a tree; 0: nothing */
    git_oid left;                 /* its blob */
};

/* A store of snapshots of the project: where it is, and where it was before it moved. */
struct snapped_store {
    const char *dir;
    const char *moved_from; /* where the project was; NULL: where it is */
    const char *objects;    /* the directory */
    git_odb *odb;
    struct snapshot_log log; /* owns what was merged into that of all stores */
};

struct snapped {
    const struct session_ref *ref;
    struct arena arena;
    struct snapshot_log log; /* The snapshots of all stores, by time. */
    struct snapped_store *store;
    size_t stores;
    struct checkpoint_list points;
    struct snapped_turn *turn;   /* one for each point */
    git_repository *repo;        /* has the trees and notes of all stores */
    const char *project_objects; /* a directory, in the arena; may be NULL */
    git_odb *project;
    struct slice_set paths;
    struct snapped_file *file; /* by the number of the path */
    size_t files;
};

/* The points of a session: those of its agent, or its prompts if it has none, each with a reason
 * (prompt_points.c). */
MUST_CHECK enum err_code snapped_points(const struct session_ref *ref, struct checkpoint_list *out,
                                        struct err *e);
/* Reads the log and the points. Without snapshots of the session, log.n is 0 and nothing else was opened. */
MUST_CHECK enum err_code snapped_open(const struct session_ref *ref, struct snapped *s,
                                      struct err *e);
void snapped_fini(struct snapped *s);
/* Finds a project with snapshots of the session that are not used, because `reprise move` took the session away and its
 * directory is there again. *root: the project, in the arena; NULL without one. */
MUST_CHECK enum err_code snapped_unused(const struct snapped *s, struct arena *a, const char **root,
                                        struct err *e);
/* The store that has an object, or NULL. */
const struct snapped_store *snapped_store_of(const struct snapped *s, const git_oid *id);
MUST_CHECK enum err_code snapped_tree(const struct snapped *s, const struct snapshot *x,
                                      git_tree **out, struct err *e);

/* A note on a path, for what is not in the tree of a snapshot. f, d, m: the permissions of a file, of an empty directory, and
 * of another directory, unless they are the usual ones of a tree (0644, 0755); i: git ignored it; s: it was left out. */
struct snapped_note {
    char kind; /* 0: there is no note */
    unsigned number;
};

struct snapped_notes {
    struct arena arena;
    struct buf text;
    struct slice_set paths;
    struct snapped_note *note; /* by the number of the path */
    /* The directories above empty ones, and those above what was left out. */
    struct slice_set above_empty, above_left_out;
    size_t left_out; /* how many are of the kinds i and s */
    bool has_dirs;   /* one of the notes that were read is about a directory */
    bool has_dir_modes;
};

/* `out` is zeroed. */
MUST_CHECK enum err_code snapped_notes_read(const struct snapped *s, const struct snapshot *x,
                                            struct snapped_notes *out, struct err *e);
void snapped_notes_fini(struct snapped_notes *n);
/* Never NULL. */
const struct snapped_note *snapped_notes_find(const struct snapped_notes *n, struct slice path);
/* The mode of a path in a tree; 0: it is not in it. */
unsigned snapped_mode_at(const git_tree *tree, const char *path);
/* Returns true if the path was a directory, empty ones included, and sets its permissions. */
bool snapped_is_dir(const git_tree *tree, const struct snapped_notes *n, const char *path,
                    unsigned *mode);

enum delta_kind {
    DELTA_ENTRY,        /* the path itself was changed: its content, its kind or its permissions */
    DELTA_WITH_ENTRIES, /* a directory came or went with what is in it */
    DELTA_FILLED,       /* a directory got its first entry or lost its last one, and is in both */
};

/* A path that differs between two snapshots, if only in its permissions. */
struct snapped_delta {
    const char *path;
    enum delta_kind kind;
    bool empty; /* a directory that has no entries in the second one */
    bool removed;
    /* its mode in the second tree, and S_IFDIR for an empty directory, too; 0: it is not there */
    unsigned left;
    git_oid id; /* its blob */
    /* the same in the first tree, if the path itself was changed */
    unsigned was;
    git_oid was_id;
};
typedef enum err_code delta_fn(struct snapped *s, const struct snapped_delta *d, size_t turn,
                               const struct snapped_turn *t, struct err *e);
MUST_CHECK enum err_code snapped_each_delta(struct snapped *s, const struct snapshot *from,
                                            const struct snapshot *to, size_t turn,
                                            const struct snapped_turn *t, delta_fn *fn,
                                            struct err *e);
/* Collects what changed in the turns from `first` to before `end`, and between them. */
MUST_CHECK enum err_code snapped_collect(struct snapped *s, size_t first, size_t end,
                                         struct err *e);

#endif
