#ifndef STORE_REWIND_PLAN_MODE_H
#define STORE_REWIND_PLAN_MODE_H

#include "store/api/session.h"
#include "store/rewind/plan/rewind.h"

/* What goes back: the files, the conversation, or both as one operation; or the files of one turn alone, whose work is
 * taken out of what came after (store/rewind/plan/single_turn.h); or the files to what they were at the point itself, where the
 * system's own rule goes back further and that can only be inferred (store_ops.plan_inferred). */
enum rewind_mode {
    REWIND_CODE,
    REWIND_CONVERSATION,
    REWIND_BOTH,
    REWIND_TURN,
    REWIND_INFERRED,
    REWIND_MODES
};

/* Why the session's system cannot do that; NULL: it can. Static text. */
const char *rewind_mode_unavailable(const struct session_ref *ref, enum rewind_mode mode);
/* Asks the session's system for the plan. ERR_UNSUPPORTED: it cannot; ERR_NOT_FOUND: no such point. */
MUST_CHECK enum err_code rewind_plan_make(const struct session_ref *ref, struct slice point,
                                          enum rewind_mode mode, struct rewind_plan *out,
                                          struct err *e);
/* The same with the files as they were at the point itself, where the system's own rule goes back further
 * (store_ops.plan_inferred). ERR_UNSUPPORTED: it has no such rule. */
MUST_CHECK enum err_code rewind_plan_infer(const struct session_ref *ref, struct slice point,
                                           enum rewind_mode mode, struct rewind_plan *out,
                                           struct err *e);
/* Notes in the plan which store the session is of and what it is called, for the record. */
MUST_CHECK enum err_code rewind_plan_origin(const struct session_ref *ref, struct rewind_plan *plan,
                                            struct err *e);

#endif
