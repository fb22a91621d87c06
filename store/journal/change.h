#ifndef STORE_JOURNAL_CHANGE_H
#define STORE_JOURNAL_CHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/api/env.h"
#include "store/journal/step.h"

/* The operation log: every change reprise makes to a session is written down before it is done, with what is
 * needed to take it back, and can be taken back later: after a restart, after other changes, and again.
 *
 *   <state>/changes/lock            flock: one change at a time on this machine, dies with the process
 *   <state>/changes/<id>.intent/    a change under way: durable before its first step; after a crash the
 *                                   steps that were done are taken back
 *   <state>/changes/<id>/           a change that is done: the renaming of its directory is the one moment
 *                                   in which it becomes so
 *   .../record                      what it was (store/journal/change_internal.h)
 *
 * A change that takes another back names it (`undoes`); nothing is written into the record of the other.
 * So a change is wholly there or not at all, whatever happens between two system calls; change_log_open
 * finishes what a crash left. Ids sort by time. Nothing expires by itself. */

struct change_log; /* opened, locked, recovered */

/* Where a session was and what it was called when it was changed: by then it may be deleted, or its store gone. NULL: not
 * recorded, as in records of older versions. */
struct change_origin {
    const char *store; /* the store's path */
    const char *dir;   /* the directory that the session is about */
    const char *title;
};

struct change {
    struct arena arena; /* owns everything below */
    char id[40];        /* given by change_run */
    const char *kind;   /* "rename", "delete", ...: the name of the command */
    const char *text; /* what it did, for a person: "renamed to …"; data inside is not cleaned */
    const char *undoes;           /* the id of the change that this one took back, or NULL */
    const char **sessions;        /* "claude:5e55…" */
    struct change_origin *origin; /* of each of them */
    size_t sessions_n;
    struct step *step;
    size_t n;
    int64_t at_ms; /* when it was asked for; 0 until it is run: when the program began */
    bool learned;  /* its steps know more than they did when the record was written */
};

struct change *change_new(const char *kind);
void change_free(struct change *c); /* NULL is fine */
/* Texts and bytes of the step are copied. */
MUST_CHECK enum err_code change_add(struct change *c, const struct step *s, struct err *e);
MUST_CHECK enum err_code change_add_session(struct change *c, const char *system, struct slice id,
                                            struct err *e);

/* The same for a name that is complete: "claude:5e55…". */
MUST_CHECK enum err_code change_add_session_name(struct change *c, const char *session,
                                                 struct err *e);
/* Of the session that was named last. Texts are copied. */
MUST_CHECK enum err_code change_set_origin(struct change *c, const struct change_origin *origin,
                                           struct err *e);

/* Waits up to 5 s for the lock (ERR_LOCKED), makes the directories, recovers. */
MUST_CHECK enum err_code change_log_open(const struct store_env *env, struct change_log **out,
                                         struct err *e);
void change_log_close(struct change_log *log); /* NULL is fine */

/* How many changes were interrupted, by a crash or a kill, and wait for change_log_open to end them. Writes nothing, and
 * counts nothing while another process holds the lock: its change is under way. */
size_t change_count_interrupted(const struct store_env *env);

/* Writes the intent, does the steps, writes done. On a failure the steps that were done are taken back and
 * the record goes; the error is that of the step. */
MUST_CHECK enum err_code change_run(struct change_log *log, struct change *c, struct err *e);
/* Opens the log, runs one change, closes it. */
MUST_CHECK enum err_code change_do(const struct store_env *env, struct change *c, struct err *e);
/* Takes a change back: a change of its own ("undo"), so that it can be taken back too. id NULL: the newest that
 * stands. *out (may be NULL) is the change that was made; the caller frees it. ERR_NOT_FOUND: nothing to take
 * back; ERR_STALE, ERR_LOCKED: what it changed was changed again since, or is in use; nothing was done. */
MUST_CHECK enum err_code change_undo(struct change_log *log, const char *id, struct change **out,
                                     struct err *e);
/* Would a change be refused, since what it is about was changed again, or the session went on? */
bool change_is_stale(const struct change *c);
/* The same of what takes a change back. */
bool change_undo_is_stale(const struct change *c);
/* Does again what the newest change took back ("redo"). ERR_NOT_FOUND when the newest change is no undo. */
MUST_CHECK enum err_code change_redo(struct change_log *log, struct change **out, struct err *e);

/* The newest record that change_list passed over; "". */
const char *change_log_unread(const struct change_log *log);
/* Newest first; the change is valid during the call, undone says whether it was taken back since. Return false
 * to stop. A record that cannot be read is passed over (and stays). */
typedef bool change_fn(const struct change *c, bool undone, void *arg);
MUST_CHECK enum err_code change_list(struct change_log *log, change_fn *fn, void *arg,
                                     struct err *e);

/* A change that is a part of a larger operation, which decides when it stands and keeps its record (a rewind with the
 * conversation's part in it). It has no entry in the operation log; the caller holds that log's lock all the same.
 *
 *   <dir>/record    durable before the first step; written again when the steps are done, since appends know only then
 *                   where their bytes went */

/* Does the steps. On failure nothing of them remains, and no record: or the text says "unfinished" and the record lies
 * there for change_part_roll_back. The directory is made. */
MUST_CHECK enum err_code change_part_do(struct change_log *log, const char *dir, struct change *c,
                                        struct err *e);
/* Takes back whatever of it was done, and removes the directory where nothing remains. Nothing to take back is fine.
 * ERR_FORMAT: the record is damaged, and nothing was done. */
MUST_CHECK enum err_code change_part_roll_back(const char *dir, enum rollback *how, struct err *e);
/* What was done. ERR_NOT_FOUND: nothing. The caller frees it. */
MUST_CHECK enum err_code change_part_read(const char *dir, struct change **out, struct err *e);

/* A change of the same steps, and one that takes them back. NULL without memory. */
struct change *change_copy(const struct change *c);
struct change *change_inverse(const struct change *c, const char *kind);

#endif
