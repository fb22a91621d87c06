#ifndef STORE_SYSTEMS_ENTIRE_WRITE_TASK_H
#define STORE_SYSTEMS_ENTIRE_WRITE_TASK_H

#include "lite/base/buf.h"
#include "store/systems/entire/write/temporary.h"

/* What the checkpoint of a sub-agent's task contains besides files (docs/formats/entire.md 2.5): the row of the session at
 * which the task ended, and the sub-agent's transcript, both from the agent's own files if they are on this machine. */
struct collected_task {
    struct temporary_task task; /* texts in the arena, or the caller's */
    struct buf transcript;
};

/* ERR_USAGE: not an id of a tool or an agent. Free with task_collected_fini. */
MUST_CHECK enum err_code task_collect(const struct session_ref *ref, struct slice tool_use,
                                      struct slice agent, struct arena *a,
                                      struct collected_task *out, struct err *e);
void task_collected_fini(struct collected_task *t);

#endif
