#ifndef STORE_SYSTEMS_COMMON_CONFIG_DIR_H
#define STORE_SYSTEMS_COMMON_CONFIG_DIR_H

#include <stdbool.h>
#include <sys/types.h>

#include "lite/base/arena.h"
#include "lite/base/digest.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/api/env.h"

struct scope; /* store/api/session.h */
struct store; /* store/api/store.h */

/* The configuration directory that Claude Code and the Go directory sessions share, and paths of stores. The
 * caller frees the returned paths. */

/* CONFIG of claude.md 1: the variable (in NFC, as the agent compares it) or ~/.claude.
 * ERR_NOT_FOUND if neither is set. */
MUST_CHECK enum err_code config_dir_default(const struct store_env *env, char **out, struct err *e);
/* The same for a given path, made absolute; NULL: the default. */
MUST_CHECK enum err_code config_dir_named(const struct store_env *env, const char *path, char **out,
                                          struct err *e);
/* A relative path is relative to the directory of the process; "" is that directory itself (dir-15). NULL if out of
 * memory. */
char *config_dir_absolute(const struct store_env *env, const char *path);
/* Fills in the results of store_ops.agent_variable for agents that use the path in a variable or else the usual path.
 * Frees `usual`, which may be NULL. */
void config_dir_variable(const struct store *st, char *usual, const char *variable,
                         const char **name, const char **value);
/* Returns the variable's path, made absolute, or home/name if it is empty, not set or NULL. NULL without a home, or
 * if out of memory. */
char *config_dir_usual(const struct store_env *env, const char *variable, const char *name);
/* dir/name with one slash between them; NULL if out of memory. */
char *config_dir_join(const char *dir, const char *name);
/* The same; frees the directory, which may be NULL. */
char *config_dir_file(char *dir, const char *name);
/* $XDG_DATA_HOME/name, or ~/.local/share/name; NULL without a home, or if out of memory. */
char *config_dir_data(const struct store_env *env, const char *name);
/* The same as config_dir_absolute, but "~/" stands for the home directory. NULL: not known, or out of memory. */
char *config_dir_expand(const struct store_env *env, const char *path);
/* The directory that settings.json in a directory names at this path of members ("advanced.output"). A relative one is
 * relative to the directory of the process, as for the agents. NULL: none, or out of memory. */
char *config_dir_of_settings(const struct store_env *env, const char *dir, const char *member);
/* Returns ERR_NOT_FOUND unless the path is a directory. */
MUST_CHECK enum err_code config_dir_require(const char *path, struct err *e);

/* How a project's folder is named after its path (claude.md 1.1). Names are ASCII and NUL-terminated in
 * the arena; .p is NULL if out of memory. */
enum { CONFIG_DIR_PROJECT_NAME_MAX = 200 };

/* Every UTF-16 unit that is not an ASCII letter or digit becomes '-'; any length. Different paths
 * may be flattened to the same name. */
struct slice config_dir_flatten(struct slice path, struct arena *a);
/* The folder's name: flattened; longer names are cut at 200 units and made unique by a hash of the
 * path. */
struct slice config_dir_project_name(struct slice path, struct arena *a);
/* The nearest directory, the path itself or one above it, that the folder may be named after. The hashes of long names
 * are not compared, because programs compute them differently. NULL: no such directory, or out of memory
 * (arena.failed). */
const char *config_dir_project_ancestor(struct slice folder, struct slice path, struct arena *a);
/* Returns true if two paths flatten to the same name. */
bool config_dir_same_project(struct slice a, struct slice b);
/* Returns true if the hexadecimal digits, in lower case, are the first of this digest of the path. */
bool config_dir_has_hash(struct slice digits, enum digest_kind kind, struct slice path);
/* The directory of the scope with such a hash; empty if it has none. */
struct slice config_dir_of_hash(const struct scope *scope, enum digest_kind kind,
                                struct slice digits);
/* Returns true if the scope includes sessions of this directory, for agents that record it in the session. */
bool config_dir_in_scope(const struct scope *scope, struct slice cwd, struct arena *a);

/* ---- folders that links may lead to twice ---- */

/* Zeroed: none. */
struct folder_places {
    struct folder_place {
        dev_t dev;
        ino_t ino;
    } * place;
    size_t n, cap;
};

/* Sets *first to whether this open folder was not added before, and adds it. ERR_NOMEM. */
MUST_CHECK enum err_code folder_places_add(struct folder_places *seen, int fd, bool *first);
void folder_places_fini(struct folder_places *seen);

#endif
