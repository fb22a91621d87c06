#ifndef STORE_REWIND_RECORD_KNOWN_STATE_H
#define STORE_REWIND_RECORD_KNOWN_STATE_H

#include "store/rewind/plan/rewind.h"

/* What reprise itself left in the files of a plan: the newest of its records that speaks of a file says what that file
 * held afterwards. A file that still is so was not edited by hand since, whatever the session's own snapshots say;
 * unless it was a person's work that an undo put back there, or that a merge kept. So only what a rewind took from a
 * saved copy, at some time, counts. Records that cannot be read are passed over. Only want of memory is an error. */
MUST_CHECK enum err_code rewind_plan_known_state(const struct store_env *env,
                                                 struct rewind_plan *plan, struct err *e);

#endif
