#ifndef STORE_GIT_WORKTREE_H
#define STORE_GIT_WORKTREE_H

#include <stdbool.h>
#include <stddef.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"

/* One working tree of a git repository, as git tells it. */
struct worktree {
    struct slice path; /* NUL-terminated; it need not exist any more */
    bool bare;         /* the repository itself, which has no files checked out */
};

/* The worktrees of the repository that holds dir, the main one first; all of it in the arena. No git, no
 * repository, no such directory, or no answer within 5 s: none, and ERR_OK. Runs git, so once per scope
 * and never per session. dir alone decides: GIT_DIR and its kin are not passed on. */
MUST_CHECK enum err_code worktree_list(const char *dir, struct arena *a, struct worktree **out,
                                       size_t *n, struct err *e);

/* Where to go on when a session's directory is gone: the main worktree of the repository it belonged to,
 * when that exists and is another directory than dir; NULL when none is known. dir was inside of the
 * repository, or was a worktree beside it of which the repository still keeps a record. */
MUST_CHECK enum err_code worktree_main(const char *dir, struct arena *a, const char **out,
                                       struct err *e);

#endif
