#ifndef TESTS_SUPPORT_ENTIRE_FIXTURE_H
#define TESTS_SUPPORT_ENTIRE_FIXTURE_H

#include "store/api/store.h"
#include "tests/support/folder.h"

/* Repositories with sessions of Entire's, made by tests/fixtures/entire/make_fixture.sh with git. */
struct entire_fixture {
    struct folder folder;
    struct store_env env;
    struct store *store;
    struct arena arena;
    char home[4096], state[4096], data[4096], repo[4096];
};

/* Creates one of them in a folder, as a copy of one that was built once for all tests, with its paths changed. */
void entire_fixture_build(const struct folder *f, const char *which);
/* The same with the objects in an alternate directory, as after `git clone --shared`: a copy of a third of the
 * files. */
void entire_fixture_share(const struct folder *f, const char *which);
/* Builds one of them ("two-sessions", "edge", ...) and opens it as a store. */
void entire_fixture_make(struct entire_fixture *w, const char *which);
/* Opens another directory of the same world. */
void entire_fixture_open(struct entire_fixture *w, const char *name);
void entire_fixture_remove(struct entire_fixture *w);

/* Finds a session in the store. */
struct session_ref entire_fixture_find(struct entire_fixture *w, const char *id);
/* The output of a git command in the repository, without the last newline; malloc'ed. */
char *entire_fixture_git(const struct entire_fixture *w, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Runs a shell command in the world's folder; the test fails if the command fails. */
char *entire_fixture_sh(const struct entire_fixture *w, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
