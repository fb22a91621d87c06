#ifndef STORE_REWIND_PLAN_PLAN_H
#define STORE_REWIND_PLAN_PLAN_H

#include "store/api/session.h"
#include "store/rewind/plan/rewind.h"

/* The directory that the files of a plan belong to. What a session says of it was written by whoever wrote the session,
 * so a system passes what the session's place on disk vouches for. A directory that holds more than a project (/, the
 * home directory, whatever is above that) is kept as the root, and yet every file below it is outside (plan->wide). */

/* Puts a clean copy of root on the plan; NULL: not known. ERR_NOMEM. */
MUST_CHECK enum err_code rewind_plan_root(const struct store_env *env, struct rewind_plan *plan,
                                          const char *root, struct err *e);
/* Is it above the directory where the program was started, and above the repository there? Asked of a root that only
 * the session itself names. */
bool rewind_root_is_above(const struct store_env *env, const char *root);

/* What goes back: the files, the conversation, or both as one operation; or the files of one turn alone, whose work is
 * taken out of what came after (store/rewind/plan/plan.h); or the files to what they were at the point itself, where the
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

/* Other sessions of the store that worked on files of a plan after its point: each such target learns of the newest
 * (rewind_target.other). For systems whose plans do not say it themselves (store_ops.names_others): asked of their
 * checkpoints. Only sessions younger than the point are looked at, the newest first and no more than a few; one that
 * cannot be read changed nothing that we know of. */
MUST_CHECK enum err_code rewind_concurrent_sessions(const struct session_ref *ref,
                                                    struct rewind_plan *plan, struct err *e);

/* The id of a plan: 64 hex digits that change with anything in it, and that tell, held against those of a later look,
 * which file it was that changed meanwhile: nothing but the id is kept of what was shown. */

/* Over the entries of a preview and its plan's conversation. */
MUST_CHECK enum err_code planid_make(struct rewind_preview *p, struct err *e);

enum { PLANID_TOLD = 2 };
/* Which entries changed between the plan of this id and the preview: how many, 1 or 2. 0: more, or none of them
 * (other options, another conversation), or it is no id. */
size_t planid_changed(const struct rewind_preview *p, const char *id, size_t entry[PLANID_TOLD]);
/* Is what changed no file? */
bool planid_same_files(const struct rewind_preview *p, const char *id);

#endif
