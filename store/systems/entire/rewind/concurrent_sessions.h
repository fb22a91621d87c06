#ifndef STORE_SYSTEMS_ENTIRE_REWIND_CONCURRENT_SESSIONS_H
#define STORE_SYSTEMS_ENTIRE_REWIND_CONCURRENT_SESSIONS_H

#include "store/systems/entire/rewind/planning.h"

/* Sessions that run beside each other: they share a work tree and a shadow branch (entire.md 2.10). Both go on; that there
 * is another one is said wherever a checkpoint is written or gone back to. */

/* Is the other in a turn, in the same work tree and upon the same commit? */
bool entire_concurrent_is_active(const struct entire_state *mine, const struct entire_state *other);
/* "another session shares this work tree: b1b2c3d4 is at work"; in the arena, of ids alone. NULL: there is none, or no
 * memory. Counted are those in a turn, and those whose checkpoints no commit has taken up. */
const char *entire_concurrent_note(const struct catalog *c, const struct catalog_session *s,
                                   struct arena *a);
/* Each target of the plan that another session changed after the point learns of it (rewind_target.other). */
MUST_CHECK enum err_code entire_concurrent_mark(const struct planning *p, struct rewind_plan *plan,
                                                struct err *e);

#endif
