#ifndef TESTS_SUPPORT_SCRATCH_H
#define TESTS_SUPPORT_SCRATCH_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/folder.h"

/* A folder (tests/support/folder.h) as the state of a test: made by scratch_setup, removed with everything in it by
 * scratch_teardown. *state is the folder and also its path. Failures end the test program, because a test without its
 * files must not pass. */

static inline void scratch_need(int ok, const char *what)
{
    if (!ok) {
        perror(what);
        exit(99);
    }
}

static inline int scratch_setup(void **state)
{
    struct folder *f = malloc(sizeof *f);

    scratch_need(f != NULL, "malloc");
    folder_make(f);
    *state = f;
    return 0;
}

static inline int scratch_teardown(void **state)
{
    folder_remove(*state);
    free(*state);
    return 0;
}

/* A test in such a folder: IN_SCRATCH(a_file_is_read) { ... }. */
#define IN_SCRATCH(name) TEST_WITH(name, scratch_setup, scratch_teardown)

/* A path inside, in a ring of four for each thread: enough for the arguments of one call. */
static inline const char *scratch_path(void **state, const char *name)
{
    static _Thread_local char ring[4][4096];
    static _Thread_local unsigned next;

    return folder_path(*state, name, ring[next++ % 4]);
}

static inline const char *scratch_write(void **state, const char *name, struct slice bytes)
{
    folder_put(*state, name, bytes);
    return scratch_path(state, name);
}

static inline void scratch_append(void **state, const char *name, struct slice bytes)
{
    const char *path = scratch_path(state, name);
    FILE *f = fopen(path, "ab");

    scratch_need(f && fwrite(bytes.p, 1, bytes.n, f) == bytes.n && fclose(f) == 0, path);
}

#endif
