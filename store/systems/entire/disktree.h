#ifndef STORE_SYSTEMS_ENTIRE_DISKTREE_H
#define STORE_SYSTEMS_ENTIRE_DISKTREE_H

#include <git2.h>
#include <stdbool.h>

#include "lite/arena.h"
#include "lite/err.h"

/* The regular files of a work tree, by their paths from its root. Links are not followed, and what lies in .git, .entire,
 * .claude and .gemini is nobody's here. */
struct disktree {
    const char **path; /* in the arena, sorted */
    size_t n;
};

/* ignored: files that git ignores too, and repositories inside of this one. */
MUST_CHECK enum err_code disktree_read(git_repository *repo, const char *root, bool ignored,
                                       struct arena *a, struct disktree *out, struct err *e);

/* Does git, asked anew, ignore any of these? What it could not read of its rules it takes for no rules, and a file that
 * seemed not to be ignored would be removed: so it is asked twice, by another handle. ERR_IO: it does, or cannot tell. */
MUST_CHECK enum err_code disktree_confirm(const char *root, const char *const *path, size_t n,
                                          struct err *e);

/* Is the path (from the root) in one of the folders that a rewind leaves alone? */
bool disktree_apart(const char *path);

#endif
