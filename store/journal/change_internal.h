#ifndef STORE_JOURNAL_CHANGE_INTERNAL_H
#define STORE_JOURNAL_CHANGE_INTERNAL_H

#include <dirent.h>
#include <limits.h>

#include "lite/base/err.h"
#include "lite/base/id.h"
#include "store/api/env.h"
#include "store/journal/change.h"
#include "store/journal/step.h"

/* The opened operation log. */
struct change_log {
    char dir[PATH_MAX - 128]; /* <state>/changes */
    int lock;
    struct store_env env;   /* what it points to outlives the log */
    char unread[CHANGE_ID]; /* the newest record that cannot be read; "" */
    char made[CHANGE_ID];   /* the newest change that was made through it; "" */
};

#define CHANGE_INTENT_SUFFIX ".intent"

/* The places that steps of a change move something to, so that a change of thousands of sessions takes time in proportion
 * to their number. A zeroed struct has none. */
struct change_moves {
    struct idset to;
    /* The newest step that moves there, by number in `to`; in the arena of the change. */
    size_t *step;
    size_t least, most; /* the lengths of the places */
};

/* Adds the place that step i moves something to, if it does. */
MUST_CHECK enum err_code change_moves_add(struct change_moves *m, struct change *c, size_t i,
                                          struct err *e);
void change_moves_fini(struct change_moves *m);
/* Where the file of step i is before the change: if an earlier step moves it, or a directory that it is in, at the source
 * of that one. The moves of all earlier steps are in m. In the arena of the change; NULL if out of memory. */
const char *change_step_source(const struct change_moves *m, struct change *c, size_t i);
/* Undoes one step that may have been done in part, or all steps, the newest first, up to one that has to wait. */
MUST_CHECK enum err_code change_step_recover(struct change *c, struct step *s, enum rollback *how,
                                             struct err *e);
MUST_CHECK enum err_code change_steps_recover(struct change *c, enum rollback *how, struct err *e);
/* Makes the names that the steps changed durable. */
MUST_CHECK enum err_code change_steps_sync(const struct change *c, struct err *e);
/* Reads the change with this id. */
MUST_CHECK enum err_code change_read(struct change_log *log, const char *id, struct change **out,
                                     struct err *e);
/* ERR_UNSUPPORTED: change_is_agents. */
MUST_CHECK enum err_code change_check_is_ours(const struct change *c, struct err *e);
/* Commits the change: its record becomes one that is done. *committed is true if it was committed although this call
 * failed. */
MUST_CHECK enum err_code change_finish(struct change_log *log, const struct change *c,
                                       const char *intent, bool *committed, struct err *e);
/* Removes the record of a change that was undone, durably. */
MUST_CHECK enum err_code change_remove_record(const char *dir, struct err *e);
/* Finishes or undoes what a crash left under this name: see change_recover.c. */
MUST_CHECK enum err_code change_recover(struct change_log *log, const char *name, struct err *e);
/* Returns true if the disk is read-only or another user's. Such an error does not block other changes. */
bool change_waits_for_person(const struct err *e);

/* A change as a directory: `record` is one JSON document; bytes of a step that are longer than a few KiB are in the
 * files <n>.bytes, <n>.old and <n>.opposite, or parts of the file `contents`. Texts and paths may be any bytes and are percent-encoded, because JSON
 * cannot represent all of them. */

/* Writes everything into an existing directory, durably unless the change is brief; `record` last. */
MUST_CHECK enum err_code change_record_write(const char *dir, const struct change *c,
                                             struct err *e);
/* ERR_NOT_FOUND: no record (it was never finished). ERR_FORMAT: it is damaged, or of a newer version. */
MUST_CHECK enum err_code change_record_read(const char *dir, struct change **out, struct err *e);

#endif
