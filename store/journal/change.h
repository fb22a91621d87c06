#ifndef STORE_JOURNAL_CHANGE_H
#define STORE_JOURNAL_CHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/cleanup.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/api/env.h"
#include "store/api/session.h"
#include "store/journal/step.h"

/* The operation log: every change that reprise makes to a session is recorded before it is done, with what is needed
 * to undo it. It can be undone later: after a restart, after other changes, and again after a redo.
 *
 *   <state>/changes/lock           flock: one change at a time on this machine
 *   <state>/changes/<id>.intent/    a change under way, durable before its first step; after a crash the steps that were
 *                                   done are undone
 *   <state>/changes/<id>/           a change that is done: the rename of the directory commits it
 *   .../record                      the change (docs/formats/own.md)
 *   .../contents                    the contents of its documents, if they are long
 *
 * A change that undoes another names it (`undoes`); nothing is written into the other's record. So a change exists as a
 * whole or not at all, whatever happens between two system calls; change_log_open finishes what a crash left. Ids sort
 * by time. Nothing expires. */

struct disk_new;
struct change_log; /* opened, locked, recovered */

/* Where a session was and what it was called when it was changed, because it may be deleted later or its store may be
 * gone. NULL if not recorded, as in records of older versions. */
struct change_origin {
    const char *store; /* the store's path */
    const char *dir;   /* the directory that the session is about */
    const char *title;
};

enum { CHANGE_ID = 40 }; /* room for an id */

struct change {
    struct arena arena; /* owns everything below */
    char id[CHANGE_ID]; /* given by change_run */
    const char *kind;   /* "rename", "delete", ...: the name of the command */
    const char *text;   /* what it did, for a person: "renamed to …"; data in it is not cleaned */
    const char *undoes; /* the id of the change that this one undid, or NULL */
    /* The line for a shell with which the session's agent made it, or the change that this one undid; NULL: reprise
     * made it. Its steps are what can be undone of it, perhaps nothing. */
    const char *command;
    const char **sessions;        /* "claude:5e55…" */
    struct change_origin *origin; /* one for each of them */
    size_t sessions_n;
    struct step *step;
    size_t n;
    /* The contents of steps (contents.h), without a name until they are recorded; NULL: none. */
    struct disk_new *contents;
    int64_t contents_n;   /* its bytes */
    int64_t at_ms;        /* when it was requested; 0 until it runs */
    bool record_outdated; /* its steps know more than when the record was written */
    /* It failed, and its record remains: a later change_log_open still needs the files that it moves. */
    bool unfinished;
    /* its record has to survive this process, but not a power cut, so it is not synced */
    bool no_sync;
};

struct change *change_new(const char *kind);
void change_free(struct change *c); /* NULL is fine */
DEFINE_CLEANUP(struct change, change_free);
/* The texts and bytes of the step are copied. */
MUST_CHECK enum err_code change_add(struct change *c, const struct step *s, struct err *e);
MUST_CHECK enum err_code change_add_session(struct change *c, const char *system, struct slice id,
                                            struct err *e);

/* Sets the origin of the session that was added last. Texts are copied. */
MUST_CHECK enum err_code change_set_origin(struct change *c, const struct change_origin *origin,
                                           struct err *e);

/* Waits up to 5 s for the lock (ERR_LOCKED), makes the directories, and recovers. */
MUST_CHECK enum err_code change_log_open(const struct store_env *env, struct change_log **out,
                                         struct err *e);
/* Opens the log to list it. If nothing was ever changed, *out is NULL and nothing is made; if the disk is read-only,
 * the log is neither locked nor recovered. */
MUST_CHECK enum err_code change_log_read(const struct store_env *env, struct change_log **out,
                                         struct err *e);
void change_log_close(struct change_log *log); /* NULL is fine */
DEFINE_CLEANUP(struct change_log, change_log_close);

/* Returns how many changes were interrupted by a crash or a kill and wait for change_log_open. Writes nothing. Returns
 * 0 while another process holds the lock, because its change is under way. */
size_t change_count_interrupted(const struct store_env *env);

/* Writes the intent, does the steps and marks the change as done. On a failure the steps that were done are undone
 * and the record is removed; the error is that of the step. If the text contains "unfinished", they cannot be undone
 * yet (change_log_open tries again), or the change is done, but perhaps not durably. ERR_UNSUPPORTED: it is too large for
 * one record. */
MUST_CHECK enum err_code change_run(struct change_log *log, struct change *c, struct err *e);
/* Opens the log, runs one change, closes it. */
MUST_CHECK enum err_code change_do(const struct store_env *env, struct change *c, struct err *e);
/* Records a change that is done already: its agent made it. */
MUST_CHECK enum err_code change_note(struct change_log *log, struct change *c, struct err *e);
/* Returns true if only the session's agent can undo the change, or do again what was undone of it. */
bool change_is_agents(const struct change *c);
/* Undoes a change with another change ("undo"), which can be undone too. id NULL is the newest change that is not
 * undone. *out (may be NULL) is the change that was made; the caller frees it. ERR_NOT_FOUND: nothing to undo.
 * ERR_STALE, ERR_LOCKED: what it changed was changed again since, or is in use; nothing was done. ERR_UNSUPPORTED:
 * change_is_agents. */
MUST_CHECK enum err_code change_undo(struct change_log *log, const char *id, struct change **out,
                                     struct err *e);
/* Checks whether a change could be undone after those whose undos are in `undone`, and adds its own undo to them: so many
 * are checked one by one, the newest first, beginning with an empty change, which is never run. Changes nothing.
 * ERR_STALE, ERR_NOT_FOUND, ERR_UNSUPPORTED: why it would be refused, as far as that can be known. */
MUST_CHECK enum err_code change_undo_check(struct change_log *log, const char *id,
                                           struct change *undone, struct err *e);
/* The same for the steps of an undo that is not one of a change in the log. */
MUST_CHECK enum err_code change_undo_check_steps(const struct change *undo, struct change *undone,
                                                 struct err *e);
/* Returns true if a change would be refused, because its files were changed again or the session continued. */
bool change_is_stale(const struct change *c);
/* The same for the undo of a change. */
bool change_undo_is_stale(const struct change *c);
/* Redoes what the newest change undid ("redo"). ERR_NOT_FOUND if the newest change is not an undo. */
MUST_CHECK enum err_code change_redo(struct change_log *log, struct change **out, struct err *e);

/* The id of the change that was made last since the log was opened, or "". */
const char *change_log_made(const struct change_log *log);
/* The newest record that change_list could not read, or "". log may be NULL. */
const char *change_log_unread(const struct change_log *log);
/* Called for each change, the newest first; the change is valid during the call, and `undone` is true if it was undone
 * since. Return false to stop. A record that cannot be read is skipped and kept. log NULL: nothing was ever changed. */
typedef bool change_fn(const struct change *c, bool undone, void *arg);
MUST_CHECK enum err_code change_list(struct change_log *log, change_fn *fn, void *arg,
                                     struct err *e);

/* A change that is a part of a larger operation, which decides whether it counts and keeps its record (a rewind that
 * includes the conversation). It has no entry in the operation log, but the caller holds that log's lock.
 *
 *   <dir>/record    durable before the first step; written again when the steps are done, because the
 *                   offsets of appends are only known then */

/* Makes the directory and does the steps. On failure nothing of them and no record remains; or the text contains
 * "unfinished", and the record exists for change_part_roll_back. */
MUST_CHECK enum err_code change_part_do(struct change_log *log, const char *dir, struct change *c,
                                        struct err *e);
/* Undoes whatever was done and removes the directory if nothing remains. A missing record is fine. ERR_FORMAT: the
 * record is damaged, and nothing was done. */
MUST_CHECK enum err_code change_part_roll_back(const char *dir, enum rollback *how, struct err *e);
/* Reads what was done. ERR_NOT_FOUND if nothing was done. The caller frees it. */
MUST_CHECK enum err_code change_part_read(const char *dir, struct change **out, struct err *e);

/* A change with the same steps, and one that undoes them. NULL if out of memory. */
struct change *change_copy(const struct change *c);
struct change *change_inverse(const struct change *c, const char *kind);

/* The copies that forks are made of, from the planning of a fork to the change that moves them into their store. */

/* Removes the copy of a fork that was planned but not made. */
void change_discard_fork(const struct fork_result *fork);
/* Removes the copies that crashes left behind: those that are a day old and that no change names. (A change that was
 * undone names its copy, because it can be redone.) Called before a fork. Takes the lock of the operation log. */
void change_sweep_forks(const struct store_env *env);

#endif
