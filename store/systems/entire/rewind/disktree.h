#ifndef STORE_SYSTEMS_ENTIRE_REWIND_DISKTREE_H
#define STORE_SYSTEMS_ENTIRE_REWIND_DISKTREE_H

#include <stdbool.h>

#include <git2.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"

/* The files that git ignores in a work tree: those that match a rule and are not in the index. A
 * file added by force is tracked like any other. Names are case-sensitive, whatever the value of
 * core.ignorecase. */
struct disktree_rules {
    git_repository *repo; /* borrowed */
    git_index *index;     /* NULL: it could not be read, and nothing counts as tracked */
};

void disktree_rules_open(git_repository *repo, struct disktree_rules *out);
void disktree_rules_close(struct disktree_rules *r);
/* path: of a file or directory, relative to the root. A directory is ignored if nothing below it is
 * tracked. libgit2 treats rules that it cannot read as no rules; therefore code that removes files
 * that are not ignored must check twice, with another repository handle. */
MUST_CHECK enum err_code disktree_is_ignored(const struct disktree_rules *r, const char *path,
                                             bool dir, bool *is, struct err *e);

/* The regular files of a work tree, by their paths from its root. Links are not followed, and .git, .entire, .claude
 * and .gemini are left out. */
struct disktree {
    const char **path; /* in the arena, sorted */
    size_t n;
};

/* If rules is NULL, files that git ignores and nested repositories are included. */
MUST_CHECK enum err_code disktree_read(const struct disktree_rules *rules, const char *root,
                                       struct arena *a, struct disktree *out, struct err *e);

/* Returns true if the path (relative to the root) is in one of the folders that a rewind does not
 * touch. */
bool disktree_apart(const char *path);

#endif
