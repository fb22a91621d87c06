#ifndef STORE_REWIND_PLAN_SINGLE_TURN_H
#define STORE_REWIND_PLAN_SINGLE_TURN_H

#include "store/api/session.h"
#include "store/rewind/plan/rewind.h"

/* One turn alone is taken back: what it did to each file is taken out of the file as it is now, and what came after stays.
 * A three-way merge: from what the turn left (the ancestor) to what lies there, and to what the turn found.
 *
 *   the turn made the file         it goes, if it is still as the turn left it
 *   the turn removed it            it comes back, if nothing lies there
 *   both changed the same lines    a conflict: the file is refused and says so
 *
 * Where points lie behind their turns, the turn of a point is the one it ends (store_ops.plan_turn).
 *
 * The plan has only files that the turn changed. It reads the work tree, as the preview does, and knows what it read: a file
 * that changes before the preview counts as edited. ERR_NOT_FOUND: no such point; ERR_UNSUPPORTED: the system keeps none, or
 * what the turn left is not known. */
MUST_CHECK enum err_code rewind_plan_single_turn(const struct session_ref *ref, struct slice point,
                                                 struct rewind_plan *out, struct err *e);

#endif
