#ifndef STORE_GIT_IDENTITY_H
#define STORE_GIT_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"

/* By what a repository is recognised on another machine. */
struct repo_identity {
    const char *root;    /* the work tree; NULL: the directory is in no repository */
    const char *commit;  /* in hex, as the next one; NULL: nothing was committed */
    const char *first;   /* the oldest ancestor by first parents; NULL: unknown, or too far away */
    const char **remote; /* addresses of origin and upstream, without passwords and tokens */
    size_t remotes;
};

/* Reads the identity of the repository that contains a directory, into the arena. A repository that cannot be read has
 * none. `first` is the oldest ancestor if that is known, because it may be far away; else NULL. The only error is
 * ERR_NOMEM. */
MUST_CHECK enum err_code repo_identify(const char *dir, struct arena *a, const char *first,
                                       struct repo_identity *out, struct err *e);
/* Returns true if the repository that contains the directory has the commit, 40 digits in hex. */
bool repo_has_commit(const char *dir, const char *hex);
/* Returns true if both have the same first commit, or a remote in common, whatever protocol is used. */
bool repo_identity_matches(const struct repo_identity *a, const struct repo_identity *b);

#endif
