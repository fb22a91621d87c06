#ifndef STORE_REWIND_PLAN_PLAN_H
#define STORE_REWIND_PLAN_PLAN_H

#include <stdatomic.h>
#include <stdbool.h>

#include "lite/base/slice.h"
#include "store/api/session.h"
#include "store/rewind/plan/rewind.h"

/* The directory that the files of a plan belong to. A directory that is named inside a session cannot be trusted, so a
 * system passes the directory that follows from the session's path on disk. A directory that contains more than a
 * project (/, the home directory, anything above it) is kept as the root, but every file below it counts as outside
 * (plan->wide). */

/* Puts a normalized copy of root into the plan; NULL if it is not known. ERR_NOMEM. */
MUST_CHECK enum err_code rewind_plan_root(const struct store_env *env, struct rewind_plan *plan,
                                          const char *root, struct err *e);
/* Returns true if root is above the directory where the program was started and above the repository there. Used for a
 * root that only the session itself names. */
bool rewind_root_is_above(const struct store_env *env, const char *root);

/* What a rewind restores: the files, the conversation, or both as one operation; or the files of one turn alone,
 * whose work is removed from what came after (rewind_plan_single_turn); or the files as they were at the point
 * itself, if the system's own rule goes back further and that state can only be inferred (store_ops.plan_inferred). */
enum rewind_mode {
    REWIND_CODE,
    REWIND_CONVERSATION,
    REWIND_BOTH,
    REWIND_TURN,
    REWIND_INFERRED,
    REWIND_MODES
};

/* Returns the reason why the session's system does not support the mode, as a static text; NULL if it does. */
const char *rewind_mode_unavailable(const struct session_ref *ref, enum rewind_mode mode);
/* Makes the plan with the session's system. ERR_UNSUPPORTED: the system cannot do that; ERR_NOT_FOUND: no such
 * point. */
MUST_CHECK enum err_code rewind_plan_make(const struct session_ref *ref, struct slice point,
                                          enum rewind_mode mode, struct rewind_plan *out,
                                          struct err *e);
/* The same with the files as they were at the point itself, if the system's own rule goes back further
 * (store_ops.plan_inferred). ERR_UNSUPPORTED: it has no such rule. */
MUST_CHECK enum err_code rewind_plan_infer(const struct session_ref *ref, struct slice point,
                                           enum rewind_mode mode, struct rewind_plan *out,
                                           struct err *e);
/* Adds the session's store and title to the plan, for the record. */
MUST_CHECK enum err_code rewind_plan_origin(const struct session_ref *ref, struct rewind_plan *plan,
                                            struct err *e);

/* Undoes one turn alone: what it did to each file is removed from the present file, and what came after stays. A
 * three-way merge: from what the turn left (the ancestor) to the present content, and to what the turn found.
 *
 *   the turn made the file         it is deleted, if it was not changed since
 *   the turn removed it            it is restored, if there is no file now
 *   both changed the same lines    a conflict: the file is refused, with the reason
 *
 * If points come after their turns, the turn of a point is the one that it ends (store_ops.plan_turn).
 *
 * The plan has only files that the turn changed. It reads the work tree, as the preview does, and remembers what it
 * read: a file that changes before the preview counts as edited. ERR_NOT_FOUND: no such point; ERR_UNSUPPORTED: the
 * system has no points, or the result of the turn is not known. */
MUST_CHECK enum err_code rewind_plan_single_turn(const struct session_ref *ref, struct slice point,
                                                 struct rewind_plan *out, struct err *e);

/* Checks that the plan contains the files that the options choose. ERR_NOT_FOUND: one of them is not in it. */
MUST_CHECK enum err_code rewind_plan_check_files(const struct rewind_plan *plan,
                                                 const struct rewind_options *options,
                                                 struct err *e);

/* Compares what a session found after the point (rewind_target.found_ms) with the commit of that time, if the project
 * is a git repository: the same bytes lift a doubt. A late state is held back unless the commit shows the same, or the
 * session read it before or in the turn. */
MUST_CHECK enum err_code rewind_check_found(const struct session_ref *ref, struct rewind_plan *plan,
                                            struct err *e);
/* The part of it that reads the session and others of its store: is_shown is set where the newest read, listing or edit
 * before the point shows the wanted state; a doubt where it shows a file that should not exist. */
MUST_CHECK enum err_code rewind_check_seen(const struct session_ref *ref, struct rewind_plan *plan,
                                           struct err *e);

/* Refuses the entries of a preview that remove a directory in which something stays, and those whose directory is a file
 * or a link that stays. */
MUST_CHECK enum err_code rewind_check_swaps(struct rewind_preview *p, struct err *e);

/* For the entries of a preview that are held back because they were edited: who did it, as far as the records of the
 * session and of the others that the plan names show (rewind_entry.why, later, by_command). */
MUST_CHECK enum err_code rewind_explain_edited(struct rewind_preview *p, struct err *e);

/* Finds other sessions of the store that worked on files of a plan after its point, and names the newest in each such
 * target (rewind_target.other). Also holds back states found late, if one of them changed the file before. For systems
 * whose plans do not name them (store_ops.finds_other_sessions); searches their checkpoints. Only a few sessions
 * younger than the point are read, newest first; one that cannot be read is skipped. */
MUST_CHECK enum err_code rewind_concurrent_sessions(const struct session_ref *ref,
                                                    struct rewind_plan *plan, struct err *e);

/* The same for sessions of other stores and agents: one that changed a file of the plan after its point, according to
 * its records (store_ops.edits), is named with its system. cancel may be NULL. */
MUST_CHECK enum err_code rewind_other_stores(struct store *const store[], size_t n,
                                             const struct session_ref *ref,
                                             const atomic_bool *cancel, struct rewind_plan *plan,
                                             struct err *e);

/* The id of a plan: 64 hex digits that depend on everything in it. Compared with the id of a later preview, it shows
 * which file changed meanwhile, although only the id is kept. */

/* Computes the id from the entries of a preview and its plan's conversation. */
MUST_CHECK enum err_code planid_make(struct rewind_preview *p, struct err *e);

enum { PLANID_CHANGED_MAX = 2 };
/* Returns how many entries changed between the plan with this id and the preview: 1 or 2, or 0 for more, for none
 * (other options, another conversation), or if it is not an id. */
size_t planid_changed(const struct rewind_preview *p, const char *id,
                      size_t entry[PLANID_CHANGED_MAX]);
/* Returns true if no file changed. */
bool planid_same_files(const struct rewind_preview *p, const char *id);

/* A session records a symbolic link that was removed as a file with the text that the link led to. This text is then still
 * in another file, most likely of the same project.
 *
 * Returns true if another regular file below root has the text, or if that is not known: root is NULL, or has too many
 * files below it. Links are not followed, and .git is left out. */
bool twin_may_exist(const char *root, const char *path, struct slice text);

#endif
