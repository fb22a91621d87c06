#ifndef STORE_REWIND_PLAN_CONCURRENT_SESSIONS_H
#define STORE_REWIND_PLAN_CONCURRENT_SESSIONS_H

#include "store/api/session.h"
#include "store/rewind/plan/rewind.h"

/* Other sessions of the store that worked on files of a plan after its point: each such target learns of the newest
 * (rewind_target.other). For systems whose plans do not say it themselves (store_ops.names_others): asked of their
 * checkpoints. Only sessions younger than the point are looked at, the newest first and no more than a few; one that
 * cannot be read changed nothing that we know of. */
MUST_CHECK enum err_code rewind_concurrent_sessions(const struct session_ref *ref,
                                                    struct rewind_plan *plan, struct err *e);

#endif
