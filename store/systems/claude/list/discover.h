#ifndef STORE_SYSTEMS_CLAUDE_LIST_DISCOVER_H
#define STORE_SYSTEMS_CLAUDE_LIST_DISCOVER_H

#include <stdbool.h>
#include <stddef.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/api/session.h"
#include "store/systems/claude/claude.h"

/* The folders that contain the sessions of a scope (claude.md 1.2, 1.3). */

/* A project's folder below PROJECTS, and the path that it was found for, which is the project of sessions that record
 * no cwd. The path is empty if the scope is every project. */
struct project_folder {
    struct slice name; /* NUL-terminated */
    struct slice project;
};

struct project_folders {
    struct project_folder *folder; /* in the arena, in the order in which they are searched */
    size_t n;
};

enum discover_for {
    DISCOVER_LIST, /* folders for a listing: no links if the scope is every project */
    DISCOVER_ONE,  /* folders in which one session is searched by its id */
};

/* A folder that is missing or cannot be read is left out; the only error is ERR_NOMEM. */
MUST_CHECK enum err_code claude_folders(const struct claude *c, const struct scope *scope,
                                        enum discover_for what, struct arena *a,
                                        struct project_folders *out, struct err *e);

/* The folder that the client would use for the path now, which is the forced one if it is set. .p is NULL if out of
 * memory. */
struct slice claude_present_folder(const struct claude *c, struct slice path, struct arena *a);

/* The path that claude_folders would return for a folder of the scope; empty: no path. */
struct slice claude_project_of(const struct claude *c, const struct scope *scope,
                               struct slice folder, struct arena *a);

/* Different paths may share a folder. Returns true if a session whose rows name `cwd` (.p NULL: none) belongs
 * to another directory than the project for which its folder was found. */
bool claude_folder_collides(const struct scope *scope, struct slice project, struct slice cwd,
                            struct arena *a);

/* The first top-level `cwd` of a row that parses; *cwd is unchanged if no row has one. A session
 * belongs to the directory it was last moved to, else to this one (claude.md 1.2). Returns false if
 * out of memory. */
bool claude_first_cwd(struct slice head, struct arena *a, struct slice *cwd);

#endif
