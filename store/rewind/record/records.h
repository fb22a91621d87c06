#ifndef STORE_REWIND_RECORD_RECORDS_H
#define STORE_REWIND_RECORD_RECORDS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/err.h"
#include "store/api/env.h"
#include "store/journal/change.h"
#include "store/rewind/plan/origin.h"
#include "store/rewind/plan/rewind.h"
#include "store/rewind/record/record.h"

/* Private to store/rewind/: which parts of a record were undone. An undo may leave files out, and may be undone
 * itself. Records are added newest first, so an undo comes before the record that it undid. A struct with only its
 * arena set is empty. */
struct undone {
    struct arena *arena;
    struct undo_effect *effect;
    size_t n;
};

/* Sets undone, partly, conversation_undone and left of r, which is the record of tx. Returns false if out of memory. */
bool rewind_undone_mark(struct undone *u, const struct rewind_tx *tx, struct rewind_record *r);
/* Returns true if the file can still be undone. */
bool rewind_undone_can_undo(const struct rewind_record *r, const char *path);

/* Creates <state>/rewinds and takes its lock (flock, so it ends with the process). ERR_LOCKED names the holder. */
MUST_CHECK enum err_code rewind_records_open(const struct store_env *env, char dir[PATH_MAX],
                                             int *lock, struct err *e);
/* Reads the newest `most` records, newest first, as far as they can be read. Setting *more to false ends the walk. It
 * is not an error if there are no records. */
typedef enum err_code rewind_records_fn(const struct rewind_tx *tx, void *arg, bool *more,
                                        struct err *e);
MUST_CHECK enum err_code rewind_records_each(const struct store_env *env, size_t most,
                                             rewind_records_fn *fn, void *arg, struct err *e);
/* Calls fn for each path of the set that an unfinished record is using: `path` is its number in the set, `id` the
 * record's. The time depends on the number of records plus the number of paths, not on their product. */
typedef enum err_code rewind_records_held_fn(uint32_t path, const char *id, void *arg,
                                             struct err *e);
MUST_CHECK enum err_code rewind_records_each_held(const struct store_env *env,
                                                  const struct slice_set *paths,
                                                  rewind_records_held_fn *fn, void *arg,
                                                  struct err *e);
/* What a list needs of a finished record and its size on disk, as a text for the index of the records: without the state
 * of its files. The other function reads it into a tx of phase TX_DONE, whose entries have a path, an action and an
 * outcome alone, and returns false if the text is malformed or if out of memory. */
MUST_CHECK enum err_code rewind_tx_brief_write(const struct rewind_tx *tx, int64_t bytes,
                                               struct buf *out);
bool rewind_tx_brief_read(struct slice text, const char *dir, const char *id, struct rewind_tx *out,
                          int64_t *bytes);
/* Completes or discards what crashes left; the caller holds the lock. Records that have to wait are not an error. out
 * may be NULL. */
MUST_CHECK enum err_code rewind_records_recover(const struct store_env *env, const char *dir,
                                                struct rewind_recovery *out, struct err *e);
/* Removes what is left of pruned records (prune.c); the caller holds the lock. */
MUST_CHECK enum err_code rewind_records_sweep_pruned(const char *dir, struct err *e);
/* rewind_records_read without sizes, which take longer to find out than the rest, and without older ones than are
 * wanted: the newest `most`, up to the one with this id (NULL: up to the last). What was undone depends only on newer
 * records. */
MUST_CHECK enum err_code rewind_records_read_newest(const struct store_env *env, size_t most,
                                                    const char *until, struct rewind_records *out,
                                                    struct err *e);
/* Sets *all to whether no record was interrupted. Nothing then needs to be written and no lock is effect, which works
 * even where locking is impossible. */
MUST_CHECK enum err_code rewind_records_are_done(const char *dir, bool *all, struct err *e);

/* Finds the states in which reprise itself left the files of a plan: the newest of its records that names a file
 * describes what it contained afterwards. A file that still has that content was not edited by hand since, even if the
 * session's snapshots differ, unless an undo restored a person's work there or a merge kept it. So only files that a
 * rewind restored from a saved copy count. Records that cannot be read are skipped. The only error is ERR_NOMEM. */
MUST_CHECK enum err_code rewind_plan_known_state(const struct store_env *env,
                                                 struct rewind_plan *plan, struct err *e);

/* ---- changes and rewinds together ---- */

/* What reprise changed, newest first: renames, tags, deletions, ... from the operation log, and rewinds, which have
 * records of their own. */
struct history_entry {
    const char *id, *kind, *text;
    const char *undoes;  /* may be NULL */
    const char *command; /* as in struct change */
    const char *title;   /* the title of the first session; NULL if not recorded */
    const char *dir;     /* its directory; NULL if not recorded */
    int64_t at_ms;
    const char *const *session; /* "claude:5e55…" */
    size_t sessions_n;
    bool undone;
    bool by_agent; /* only the session's agent can undo it */
    bool rewind;
    bool elsewhere; /* not one of what is shown */
    bool spans;     /* its sessions are of several directories (origin_spans_directories) */
};

/* The entry is valid during the call. A non-zero result ends the walk and is returned. */
typedef enum err_code history_fn(const struct history_entry *x, void *arg, struct err *e);

/* Walks through both. Locks the operation log during the walk, and first recovers what a crash left in it. NULL:
 * everything is shown. */
MUST_CHECK enum err_code history_each(const struct store_env *env, const struct shown *shown,
                                      history_fn *fn, void *arg, struct err *e);

/* ---- what undo reverts (undo_target.c) ---- */

/* There are two kinds of changes to undo, rewinds of files and changes of sessions, each with a log of its own; their
 * ids never collide. "Undo" means the newest of either kind that is shown and not undone. */
enum undo_target_kind { UNDO_TARGET_NONE, UNDO_TARGET_CHANGE, UNDO_TARGET_REWIND };

struct undo_target {
    enum undo_target_kind kind;
    char id[64];
    int64_t at_ms;
    char command[32]; /* "rename", "rewind", "undo", ... */
    /* What it did, the title of its session (or its id; the first of several sessions), and that session's directory:
     * for a person, perhaps cut, not cleaned; "" if not known. */
    char text[200], title[160], dir[200];
    size_t sessions;
    bool by_agent; /* only the session's agent can undo it (change_is_agents) */
    bool spans;    /* its sessions are of several directories (origin_spans_directories) */
};

/* The newest of each kind of target that was skipped. */
struct undo_target_others {
    struct undo_target elsewhere; /* in other stores and directories */
    struct undo_target edited;    /* a rewind whose remaining files all changed since */
    /* what it changed was changed again, its session continued, or its agent made it */
    struct undo_target stuck;
    struct undo_target gone; /* its sessions no longer exist */
    size_t gone_newer;       /* the number of these that are newer than the one that was found */
};

/* Finds what undo would undo, among what is shown (NULL: everything). The caller has the log open, so nothing changes
 * meanwhile. others may be NULL. ERR_STALE: there is a newer record that cannot be read. */
MUST_CHECK enum err_code undo_target_find(const struct store_env *env, struct change_log *log,
                                          const struct shown *shown, struct undo_target *out,
                                          struct undo_target_others *others, struct err *e);
/* Finds what redo would undo: the newest shown change or rewind, if it is an undo. */
MUST_CHECK enum err_code undo_target_find_redo(const struct store_env *env, struct change_log *log,
                                               const struct shown *shown, struct undo_target *out,
                                               struct undo_target_others *others, struct err *e);
/* Finds the change or rewind with this id; kind is UNDO_TARGET_NONE if it does not exist. */
MUST_CHECK enum err_code undo_target_by_id(const struct store_env *env, struct change_log *log,
                                           const char *id, struct undo_target *out, struct err *e);

/* 'rename of "Fix the payment": renamed to Retries'; the undo of that is 'undo of "Retries": renamed to Retries'. */
void undo_target_phrase(const struct undo_target *n, char *out, size_t cap);
struct undo_target undo_target_of_change(const struct change *c);
struct undo_target undo_target_of_rewind(const struct rewind_record *r);

/* ---- back to the state before a change (back_to.c) ---- */

/* What has to be undone for it: every later entry of what is shown that is in effect, and that entry itself. An undo
 * cancels out what it undid, unless what it undid is older, or another change to the session came between the two: then
 * the undo is undone too, so that each is undone in the state in which it was made. */
struct back_to {
    struct arena arena;        /* owns everything below */
    struct undo_target *entry; /* newest first */
    bool *held; /* undone now, but not when its turn comes: its undo is among the newer ones */
    size_t n;
    size_t elsewhere; /* later entries of other stores and directories, which stay */
    /* Why it would be refused as a whole, and the entry because of which; ERR_OK: it would not */
    struct err why;
    size_t at;
};

/* Finds and checks this. Changes nothing. ERR_NOT_FOUND: there is no such entry, it is not one of what is shown, or
 * nothing since then is in effect. */
MUST_CHECK enum err_code back_to_plan(const struct store_env *env, const struct shown *shown,
                                      const char *id, struct back_to *out, struct err *e);
/* Undoes the entries, the newest first; each has a record of its own, since what a crash leaves of one can be completed
 * by itself. If one of them fails, those that were done are redone and nothing has changed, except that both are in the
 * log. After a crash between two records the log shows how far it came, and the same call does the rest. made: the ids
 * of what was recorded, newest first, in the arena of the plan. */
MUST_CHECK enum err_code back_to_apply(const struct store_env *env, struct back_to *b,
                                       const char ***made, size_t *made_n, struct err *e);
void back_to_fini(struct back_to *b);

#endif
