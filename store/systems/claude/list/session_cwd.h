#ifndef STORE_SYSTEMS_CLAUDE_LIST_SESSION_CWD_H
#define STORE_SYSTEMS_CLAUDE_LIST_SESSION_CWD_H

#include <stdbool.h>

#include "lite/base/arena.h"
#include "lite/base/slice.h"

/* The directory a session itself says it belongs to (claude.md 1.2) is where it was moved to last, else this:
 * the first top-level `cwd` of a row that parses; *cwd stays when there is none. False without memory. */
bool session_cwd_first(struct slice head, struct arena *a, struct slice *cwd);

/* Does any session in this folder belong to the path? Asked for folders of very long paths, whose names
 * are cut. */
bool session_cwd_folder_matches(const char *folder, struct slice path);

#endif
