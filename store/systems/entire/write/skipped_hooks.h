#ifndef STORE_SYSTEMS_ENTIRE_WRITE_SKIPPED_HOOKS_H
#define STORE_SYSTEMS_ENTIRE_WRITE_SKIPPED_HOOKS_H

#include <git2.h>

#include "lite/base/arena.h"

/* What `git commit` would have done besides, had it made a commit that we make: run the hooks of the repository, and sign.
 * Neither is done, as Entire itself never did in its auto-commits: a hook is a program of whoever set the repository up, and
 * a checkpoint is taken without anybody looking on. So it is said. In the arena; NULL: nothing, or no memory. */
const char *skipped_hooks_note(git_repository *repo, struct arena *a);

#endif
