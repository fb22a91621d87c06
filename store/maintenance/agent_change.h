#ifndef STORE_MAINTENANCE_AGENT_CHANGE_H
#define STORE_MAINTENANCE_AGENT_CHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/api/env.h"
#include "store/api/store.h"

/* A change of one session by a command of its own agent (store_ops.change_command), for agents whose index only they
 * write. Before the agent deletes a session that consists of files, copies of these are put into the trash. The change
 * is recorded in the operation log with the command; a deletion of which a copy is kept can be undone, nothing else. */
struct agent_change {
    enum store_command what;
    const struct session_ref *ref;
    struct slice title; /* RENAME: the new one */
    const char *const *argv;
    const char *dir;              /* where the command runs */
    const char *variable, *value; /* of its environment, as in struct spawn */
    const char *line;             /* the same as a line for a shell */
    bool permanently;             /* DELETE: no copy is kept */
    bool unsure; /* DELETE: even if it is not known whether an agent is writing to the session */
};

struct agent_changed {
    char id[40];       /* of the change in the operation log */
    char trash_id[64]; /* of the copy; "": no copy is kept */
    int64_t bytes;     /* of the copy */
};

/* "rename", "archive", "unarchive", "delete" */
const char *agent_change_name(enum store_command what);
/* CAN_RENAME, CAN_ARCHIVE or CAN_DELETE */
unsigned agent_change_ability(enum store_command what);
/* What a person should know before it: a sentence; a literal. */
const char *agent_change_consequence(const struct agent_change *a);
/* Runs the command and checks its result in the store. ERR_LOCKED: an agent has the session open, or may have, and
 * nothing was run. ERR_IO: the command failed, or the session is not changed; the text has the last line of what the
 * command printed. If the agent removed a part of the session nevertheless, the copies stay in the trash,
 * which the text mentions. */
MUST_CHECK enum err_code agent_change_run(const struct store_env *env, const struct agent_change *a,
                                          struct agent_changed *out, struct err *e);

#endif
