#ifndef STORE_REWIND_PLAN_PATHRULE_H
#define STORE_REWIND_PLAN_PATHRULE_H

#include <stdbool.h>

#include "lite/base/slice.h"

/* Which paths a rewind may touch, judged by their names alone (beneath.h checks the files themselves). The names come
 * from a store that anyone may have written, a cloned repository included. */
enum pathrule {
    PATHRULE_ALLOWED,
    PATHRULE_INVALID, /* not a clean absolute path */
    PATHRULE_GIT,     /* .git or below it, in any spelling that a file system accepts for it */
    PATHRULE_SENSITIVE, /* what programs run or trust: agent settings and hooks, shell start-up files, keys */
};

/* Judges an absolute path. *why (may be NULL) becomes a static text for a person; it is unchanged if the path is
 * fine. */
enum pathrule pathrule_check(struct slice path, const char **why);
/* Returns true if the path is PATHRULE_INVALID or PATHRULE_GIT, which cannot be allowed. */
bool pathrule_forbids(struct slice path);
/* Returns true if path is root or below it. Both must be clean. They are compared part by part, so /a/bc is not below
 * /a/b. */
bool pathrule_under(struct slice path, struct slice root);

#endif
