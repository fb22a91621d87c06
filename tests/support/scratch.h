#ifndef TESTS_SUPPORT_SCRATCH_H
#define TESTS_SUPPORT_SCRATCH_H

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/slice.h"

/* A directory of its own for one test: made by scratch_setup, removed with everything in it by
 * scratch_teardown. *state is its path. Failures end the test program: a test without its files must
 * not pass. */

static inline void scratch_need(int ok, const char *what)
{
    if (!ok) {
        perror(what);
        exit(99);
    }
}

static inline int scratch_setup(void **state)
{
    const char *tmp = getenv("TMPDIR");
    char *dir = NULL;

    scratch_need(asprintf(&dir, "%s/reprise-test-XXXXXX", tmp && *tmp ? tmp : "/tmp") > 0, "name");
    scratch_need(mkdtemp(dir) != NULL, dir);
    *state = dir;
    return 0;
}

static inline int scratch_remove_one(const char *path, const struct stat *st, int type,
                                     struct FTW *ftw)
{
    (void)st, (void)ftw;
    return type == FTW_DP ? rmdir(path) : unlink(path);
}

static inline int scratch_teardown(void **state)
{
    int rc = nftw(*state, scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);

    free(*state);
    return rc;
}

/* A path inside, in a static ring of four: enough for the arguments of one call. */
static inline const char *scratch_path(void **state, const char *name)
{
    static char ring[4][512];
    static unsigned next;
    char *p = ring[next++ % 4];

    scratch_need(snprintf(p, 512, "%s/%s", (const char *)*state, name) < 512, name);
    return p;
}

static inline const char *scratch_write(void **state, const char *name, struct slice bytes)
{
    const char *path = scratch_path(state, name);
    FILE *f = fopen(path, "wb");

    scratch_need(f && fwrite(bytes.p, 1, bytes.n, f) == bytes.n && fclose(f) == 0, path);
    return path;
}

static inline void scratch_append(void **state, const char *name, struct slice bytes)
{
    const char *path = scratch_path(state, name);
    FILE *f = fopen(path, "ab");

    scratch_need(f && fwrite(bytes.p, 1, bytes.n, f) == bytes.n && fclose(f) == 0, path);
}

#endif
