#ifndef STORE_SYSTEMS_CLAUDE_LIST_FIND_H
#define STORE_SYSTEMS_CLAUDE_LIST_FIND_H

#include "store/systems/claude/claude.h"

/* Has the folder a session of this id? One with nothing in it does not count. *ref is what it is then, in the arena.
 * *ok false: no memory to say. */
bool claude_folder_has(const struct claude *c, struct slice folder, struct slice id,
                       struct arena *a, struct session_ref *ref, bool *ok);

#endif
