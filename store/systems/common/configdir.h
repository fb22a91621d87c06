#ifndef STORE_SYSTEMS_COMMON_CONFIGDIR_H
#define STORE_SYSTEMS_COMMON_CONFIGDIR_H

#include "lite/base/err.h"
#include "store/api/env.h"

/* The configuration directory that Claude Code and the Go directory sessions share, and paths of stores. The
 * caller frees the returned paths. */

/* CONFIG of claude.md 1: the variable (in NFC, as the agent compares it) or ~/.claude. ERR_NOT_FOUND: neither is
 * set. */
MUST_CHECK enum err_code configdir_default(const struct store_env *env, char **out, struct err *e);
/* The same of a path that was named, absolute; NULL: the default. */
MUST_CHECK enum err_code configdir_named(const struct store_env *env, const char *path, char **out,
                                         struct err *e);
/* A relative path counts from the directory of the process; "" is that directory itself (dir-15). NULL if out of memory. */
char *configdir_absolute(const struct store_env *env, const char *path);
/* "dir/name" with one slash between; NULL if out of memory. */
char *configdir_join(const char *dir, const char *name);
/* Returns ERR_NOT_FOUND unless the path is a directory. */
MUST_CHECK enum err_code configdir_require(const char *path, struct err *e);

#endif
