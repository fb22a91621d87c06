#ifndef STORE_GIT_WORKTREE_H
#define STORE_GIT_WORKTREE_H

#include <stdbool.h>
#include <stddef.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"

/* One work tree of a git repository, as `git worktree list` reports it. */
struct worktree {
    struct slice path; /* NUL-terminated; the directory need not exist any more */
    bool bare;         /* the repository itself, which has no files checked out */
};

/* Lists the work trees of the repository that contains dir, the main one first; everything is in the arena. The list is
 * empty, and the result ERR_OK, if git is not installed, there is no repository or no such directory, or git takes
 * longer than 5 s. Only dir matters: GIT_DIR and related variables are not passed on. Because this runs git, it is
 * called once for a scope and never for each session. */
MUST_CHECK enum err_code worktree_list(const char *dir, struct arena *a, struct worktree **out,
                                       size_t *n, struct err *e);

/* Finds the directory in which to continue if a session's directory is gone: the main work tree of the repository it
 * belonged to. *out is NULL if it is unknown, or dir itself. dir was inside of the repository, or it was a
 * work tree next to it of which the repository still has a record. */
MUST_CHECK enum err_code worktree_main(const char *dir, struct arena *a, const char **out,
                                       struct err *e);

#endif
