#ifndef STORE_REWIND_PLAN_PATHRULE_H
#define STORE_REWIND_PLAN_PATHRULE_H

#include <stdbool.h>

#include "lite/base/slice.h"

/* Which paths a rewind may touch at all, judged by their names alone (what lies there is beneath.h's business).
 * The names come out of a store that anybody may have written, a cloned repository included. */
enum pathrule {
    PATHRULE_FINE,
    PATHRULE_BAD, /* not a clean absolute path */
    PATHRULE_GIT, /* .git or below it, in any spelling that a file system takes for it */
    PATHRULE_SENSITIVE, /* what programs run or trust: agent settings and hooks, shell start-up files, keys */
};

/* why (may be NULL): a static text for a person; untouched when the path is fine. */
enum pathrule pathrule_check(struct slice path, const char **why);
/* Is it one of the two that nobody can allow? */
bool pathrule_forbids(struct slice path);
/* Is path root itself or below it? Both clean; compared part by part, so /a/bc is not below /a/b. */
bool pathrule_under(struct slice path, struct slice root);

#endif
