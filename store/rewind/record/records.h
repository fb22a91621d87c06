#ifndef STORE_REWIND_RECORD_RECORDS_H
#define STORE_REWIND_RECORD_RECORDS_H

#include <limits.h>
#include <stdint.h>

#include "store/rewind/plan/rewind.h"
#include "store/rewind/record/tx.h"

/* Private to store/rewind/: which parts of a record were taken back. An undo may leave files out, and may be undone
 * itself. Records are handed over newest first: whatever took one back comes before it. A zeroed struct with its arena
 * has met none. */
struct undone {
    struct arena *arena;
    struct taken_back *taken;
    size_t n;
};

/* Sets undone, partly, conversation_undone and left of r, which is the record of tx. False without memory. */
bool rewind_undone_mark(struct undone *u, const struct rewind_tx *tx, struct rewind_record *r);
/* Can the file still be taken back? */
bool rewind_undone_can_undo(const struct rewind_record *r, const char *path);

/* Private to store/rewind/. Makes <state>/rewinds and takes its lock (flock: it dies with the process). ERR_LOCKED
 * names the holder. */
MUST_CHECK enum err_code rewind_records_open(const struct store_env *env, char dir[PATH_MAX],
                                             int *lock, struct err *e);
/* The newest `most` records, newest first, as far as they can be read; *more false ends it. No record is no error. */
typedef enum err_code rewind_records_fn(const struct rewind_tx *tx, void *arg, bool *more,
                                        struct err *e);
MUST_CHECK enum err_code rewind_records_each(const struct store_env *env, size_t most,
                                             rewind_records_fn *fn, void *arg, struct err *e);
/* Calls fn for each path of the set that an unfinished record has in hand: `path` is its number in the set, `id` the
 * record's. Takes time for the records and the paths, not for their product. */
typedef enum err_code rewind_records_held_fn(uint32_t path, const char *id, void *arg,
                                             struct err *e);
MUST_CHECK enum err_code rewind_records_each_held(const struct store_env *env,
                                                  const struct slice_set *paths,
                                                  rewind_records_held_fn *fn, void *arg,
                                                  struct err *e);
/* Finishes or drops what crashes left; the lock is held. Records that have to wait are no error. */
MUST_CHECK enum err_code rewind_records_recover(const struct store_env *env, const char *dir,
                                                struct rewind_recovery *out, struct err *e);
/* Removes the record's own temporary files. Afterwards nobody would look for them. */
MUST_CHECK enum err_code rewind_records_sweep(const char *dir, struct err *e);
/* Was none cut short? Then nothing needs to be written: no lock is taken, also where none could be. */
MUST_CHECK enum err_code rewind_records_are_done(const char *dir, bool *all, struct err *e);

/* What reprise itself left in the files of a plan: the newest of its records that speaks of a file says what that file
 * held afterwards. A file that still is so was not edited by hand since, whatever the session's own snapshots say;
 * unless it was a person's work that an undo put back there, or that a merge kept. So only what a rewind took from a
 * saved copy, at some time, counts. Records that cannot be read are passed over. Only want of memory is an error. */
MUST_CHECK enum err_code rewind_plan_known_state(const struct store_env *env,
                                                 struct rewind_plan *plan, struct err *e);

#endif
