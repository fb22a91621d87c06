#ifndef TESTS_SUPPORT_ENTIRE_WORLD_H
#define TESTS_SUPPORT_ENTIRE_WORLD_H

#include "store/api/store.h"
#include "tests/support/folder.h"

/* Repositories with sessions of Entire's, made by tests/fixtures/entire/make_fixture.sh with git. */
struct entire_world {
    struct folder folder;
    struct store_env env;
    struct store *store;
    struct arena arena;
    char home[4096], state[4096], data[4096], repo[4096];
};

/* Creates one of them in a folder, as a copy of one that was built once for all tests, with its paths changed. */
void entire_world_build(const struct folder *f, const char *which);
/* Builds one of them ("two-sessions", "edge", ...) and opens it as a store. */
void entire_world_make(struct entire_world *w, const char *which);
/* Opens another directory of the same world. */
void entire_world_open(struct entire_world *w, const char *name);
void entire_world_remove(struct entire_world *w);

/* Finds a session in the store. */
struct session_ref entire_world_find(struct entire_world *w, const char *id);
/* The output of a git command in the repository, without the last newline; malloc'ed. */
char *entire_world_git(const struct entire_world *w, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Runs a shell command in the world's folder; the test fails if the command fails. */
char *entire_world_sh(const struct entire_world *w, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
