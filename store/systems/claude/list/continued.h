#ifndef STORE_SYSTEMS_CLAUDE_LIST_CONTINUED_H
#define STORE_SYSTEMS_CLAUDE_LIST_CONTINUED_H

#include <stdbool.h>

#include "lite/base/arena.h"
#include "lite/base/slice.h"
#include "store/api/session.h"

/* A conversation may go on in another session (claude.md 2.5): the older one is then not listed, provided
 * that the newer one holds a conversation and nobody went on in the older one either. */

/* The id a tail window names as its continuation; .p is NULL when there is none. False without memory. */
bool continued_in(struct slice tail, struct arena *a, struct slice *id);
/* Does the session with this id, in the same folder, hold a conversation? False without memory, too. */
bool continued_target_exists(const struct session_ref *ref, struct slice id, struct arena *a);

#endif
