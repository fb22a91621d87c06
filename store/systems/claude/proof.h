#ifndef STORE_SYSTEMS_CLAUDE_PROOF_H
#define STORE_SYSTEMS_CLAUDE_PROOF_H

#include <stdbool.h>

#include "lite/arena.h"
#include "lite/slice.h"

/* The directory a session itself says it belongs to (claude.md 1.2): where it was moved to last, else the
 * first `cwd` of a row that parses. .p is NULL when it does not say. False without memory. */
bool session_own_cwd(struct slice head, struct slice tail, struct arena *a, struct slice *cwd);

/* Does any session in this folder belong to the path? Asked for folders of very long paths, whose names
 * are cut. */
bool folder_belongs_to(const char *folder, struct slice path);

#endif
