#ifndef STORE_JOURNAL_FORK_STAGE_H
#define STORE_JOURNAL_FORK_STAGE_H

#include "store/api/env.h"
#include "store/api/session.h"

/* The copies that forks are made of, from the planning of a fork to the change that moves them into their store. */

/* Removes the copy of a fork that was planned and not done. */
void fork_discard(const struct fork_result *fork);
/* Removes the copies that crashes left behind: those that are a day old and that no change names. (A change that was
 * undone names its copy, for it can be redone.) Called before a fork. Takes the lock of the operation log. */
void fork_sweep(const struct store_env *env);

#endif
