#ifndef STORE_SYSTEMS_ENTIRE_WRITE_MIGRATE_SHADOW_H
#define STORE_SYSTEMS_ENTIRE_WRITE_MIGRATE_SHADOW_H

#include "store/systems/entire/read/view.h"

/* HEAD moved under a session (stash, pull, apply): its shadow branch is renamed for the new commit and goes on as it is;
 * no commit is written again (entire.md 2.5). Nothing happens where HEAD is where the session's base is; other sessions
 * follow when they write next, as Entire's do. *base (in the view's arena) is the session's base afterwards. */
MUST_CHECK enum err_code migrate_shadow(struct view *v, struct slice *base, struct err *e);

#endif
