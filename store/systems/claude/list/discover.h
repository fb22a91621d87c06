#ifndef STORE_SYSTEMS_CLAUDE_LIST_DISCOVER_H
#define STORE_SYSTEMS_CLAUDE_LIST_DISCOVER_H

#include <stdbool.h>
#include <stddef.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/api/scope.h"
#include "store/systems/claude/claude.h"

/* Where the sessions of a scope lie (claude.md 1.2, 1.3). */

/* A project's folder below PROJECTS, and the path it was found for: what a session without a cwd of its
 * own is said to belong to. Empty when every project is looked at. */
struct project_folder {
    struct slice name; /* NUL-terminated */
    struct slice project;
};

struct project_folders {
    /* in the arena, in the order in which they are to be looked at */
    struct project_folder *folder;
    size_t n, cap;
};

enum discover_for {
    DISCOVER_LIST, /* folders that a list shows: no links when every project is looked at */
    DISCOVER_ONE,  /* folders in which a session is looked for by its id */
};

/* A folder that is not there or cannot be read is left out; only memory can fail. */
MUST_CHECK enum err_code claude_folders(const struct claude *c, const struct scope *scope,
                                        enum discover_for what, struct arena *a,
                                        struct project_folders *out, struct err *e);

/* The name that the folder of a path has now: the forced one where that counts. .p is NULL without memory. */
struct slice claude_folder_now(const struct claude *c, struct slice path, struct arena *a);

/* The path that claude_folders would give for a folder of the scope; empty when there is none. */
struct slice claude_project_of(const struct claude *c, const struct scope *scope,
                               struct slice folder, struct arena *a);

/* Different paths may share a folder: is a session that says it ran in `cwd` (.p NULL: it does not say) of
 * another directory than the project its folder was found for? */
bool claude_collides(const struct scope *scope, struct slice project, struct slice cwd,
                     struct arena *a);

#endif
