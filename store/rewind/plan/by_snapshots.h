#ifndef STORE_REWIND_PLAN_BY_SNAPSHOTS_H
#define STORE_REWIND_PLAN_BY_SNAPSHOTS_H

#include <stdatomic.h>
#include <stdbool.h>

#include "store/api/checkpoint.h"
#include "store/api/session.h"
#include "store/rewind/plan/rewind.h"

/* Plans from the snapshots that hooks took (store/snapshots/snapshot.h). The snapshot before a prompt has all files of the
 * project at that moment. The session changed what differs between it and the end of the turn: these files are restored.
 * Others changed what differs between an end and the next prompt: a rewind that would lose that is held back. A file that
 * is not as the last turn left it was edited since, as in every plan.
 *
 * Files that snapshots do not cover (ignored, too large, outside of the project) keep what the agent's own copies say. */

/* The session's points, each completed with what snapshots know: a covered point can be restored, and its commands are
 * no gap. Where the agent keeps no copies, these are the prompts. ERR_UNSUPPORTED: the system has no points, and there are
 * no snapshots of the session. */
MUST_CHECK enum err_code rewind_checkpoints(const struct session_ref *ref,
                                            struct checkpoint_list *out, struct err *e);
/* Completes these points with the number of lines that each turn added and removed: by snapshots where they show it, and as
 * the agent's own copies tell (store_ops.count_lines). This is slow. ERR_CANCELLED. */
MUST_CHECK enum err_code rewind_count_lines(const struct session_ref *ref,
                                            const atomic_bool *cancel, struct checkpoint_list *list,
                                            struct err *e);
/* The files at a point: those of the agent's own copies (store_ops.plan), corrected by snapshots. */
MUST_CHECK enum err_code rewind_plan_files(const struct session_ref *ref, struct slice point,
                                           struct rewind_plan *out, struct err *e);
/* What one turn changed: before it (`want`) and after it (`last`). *covered is false, and the plan empty, if there are not
 * snapshots of both. */
MUST_CHECK enum err_code rewind_plan_turn_files(const struct session_ref *ref, struct slice point,
                                                struct rewind_plan *out, bool *covered,
                                                struct err *e);

#endif
