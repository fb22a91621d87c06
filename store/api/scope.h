#ifndef STORE_API_SCOPE_H
#define STORE_API_SCOPE_H

#include <stdbool.h>
#include <stddef.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"

/* Which sessions to look at: every project, or those of one directory and of the other worktrees of its
 * repository. Resolved once (a child process may run for the worktrees), then shared by any number of
 * calls and threads. */
struct scope {
    bool all;                 /* every project; what follows is ignored */
    struct slice project;     /* the directory: as realpath sees it, as written where it is gone */
    const struct slice *tree; /* worktrees of its repository, itself among them; none when it has */
    size_t trees;             /* no others, or they were not asked for */
    bool leave_worktrees;     /* "latest" is of the directory alone, also where all is set */
    bool leave_programmatic;  /* hide sessions that programs wrote */
};

/* Makes the scope of one directory, texts in the arena and NUL-terminated. worktrees: those of its
 * repository too; where git cannot tell them it is on its own, which is no error. */
MUST_CHECK enum err_code scope_of(const char *dir, bool worktrees, struct arena *a,
                                  struct scope *out, struct err *e);

#endif
