#ifndef STORE_REWIND_RECORD_UNDO_TARGET_H
#define STORE_REWIND_RECORD_UNDO_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/base/err.h"
#include "store/api/env.h"
#include "store/journal/change.h"
#include "store/rewind/plan/origin.h"

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

/* 'rename of "Fix the payment": renamed to Retries' */
void undo_target_phrase(const struct undo_target *n, char *out, size_t cap);

#endif
