#ifndef STORE_BLAME_BLAME_COMMITS_H
#define STORE_BLAME_BLAME_COMMITS_H

#include <stddef.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"

/* The commits of a file, and the first one after an edit. */

struct blame_commit {
    char id[41];
    int64_t time_ms; /* when it was committed */
    struct slice subject;
};

struct blame_commits {
    struct arena arena;
    struct blame_commit *commit; /* those that changed the file, newest first */
    size_t n;
};

/* Reads the commits of HEAD that changed the file and are not older than since_ms, as far back as BLAME_COMMITS_MAX
 * commits. A file outside of a repository, or in one that cannot be read, has none. The only error is ERR_NOMEM. */
enum { BLAME_COMMITS_MAX = 20000 };
MUST_CHECK enum err_code blame_commits_read(const char *path, int64_t since_ms,
                                            struct blame_commits *out, struct err *e);
void blame_commits_fini(struct blame_commits *c);
/* The first commit that is not older than the edit; NULL if the file was not committed since. */
const struct blame_commit *blame_commits_after(const struct blame_commits *c, int64_t time_ms);

#endif
