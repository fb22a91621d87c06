#ifndef STORE_REWIND_PLAN_ROOT_H
#define STORE_REWIND_PLAN_ROOT_H

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

#endif
