#ifndef STORE_REWIND_RECORD_UNDO_TARGET_H
#define STORE_REWIND_RECORD_UNDO_TARGET_H

#include <stdint.h>

#include "lite/base/err.h"
#include "store/api/env.h"
#include "store/journal/change.h"
#include "store/rewind/plan/origin.h"

/* There are two kinds of changes to take back, rewinds of files and changes of sessions, each with a log of its own;
 * their ids never meet. A person who says undo means the newest that stands, of either kind, of what is looked at. */
enum undo_target_kind { UNDO_TARGET_NONE, UNDO_TARGET_CHANGE, UNDO_TARGET_REWIND };

struct undo_target {
    enum undo_target_kind kind;
    char id[64];
    int64_t at_ms;
    char command[32]; /* "rename", "rewind", "undo", ... */
    /* What it did, the title of its session (its id where it has none; of the first of several), and that session's
     * directory: for a person, perhaps cut, not cleaned; "" where it is not known. */
    char text[200], title[160], dir[200];
    size_t sessions;
};

/* What was passed over, the newest of each. */
struct undo_target_others {
    struct undo_target elsewhere; /* it stands, in other stores and directories */
    struct undo_target edited;    /* a rewind of which all that is left changed since */
    struct undo_target stuck;     /* what it changed was changed again, or its session went on */
    struct undo_target gone;      /* its sessions are not there any more; */
    size_t gone_n;                /* so many are newer than the one that was found */
};

/* What undo would take back, of what is shown (NULL: all). The log is open; so nothing of it changes meanwhile. others may
 * be NULL. ERR_STALE: there is a newer record that cannot be read. */
MUST_CHECK enum err_code undo_target_find(const struct store_env *env, struct change_log *log,
                                          const struct shown *shown, struct undo_target *out,
                                          struct undo_target_others *others, struct err *e);
/* What redo would take back: the newest of all that is shown, if that took something back itself. */
MUST_CHECK enum err_code undo_target_find_redo(const struct store_env *env, struct change_log *log,
                                               const struct shown *shown, struct undo_target *out,
                                               struct undo_target_others *others, struct err *e);
/* The change or rewind with this id; kind is UNDO_TARGET_NONE where there is none. */
MUST_CHECK enum err_code undo_target_by_id(const struct store_env *env, struct change_log *log,
                                           const char *id, struct undo_target *out, struct err *e);

/* 'rename of "Fix the payment": renamed to Retries' */
void undo_target_phrase(const struct undo_target *n, char *out, size_t cap);

#endif
