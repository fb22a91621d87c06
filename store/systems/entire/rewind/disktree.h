#ifndef STORE_SYSTEMS_ENTIRE_REWIND_DISKTREE_H
#define STORE_SYSTEMS_ENTIRE_REWIND_DISKTREE_H

#include <git2.h>
#include <stdbool.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"

/* What git ignores in a work tree: what a rule names and the index does not have. A file that was added by force is tracked
 * like any other. Names are told apart by case, whatever core.ignorecase says. */
struct disktree_rules {
    git_repository *repo; /* borrowed */
    git_index *index;     /* NULL: it could not be read, and nothing is taken for tracked */
};

void disktree_rules_open(git_repository *repo, struct disktree_rules *out);
void disktree_rules_close(struct disktree_rules *r);
/* The path of a file or directory from the root. A directory is ignored when nothing below it is tracked. libgit2 takes
 * rules that it could not read for no rules: who removes what is not ignored asks twice, by another repository handle. */
MUST_CHECK enum err_code disktree_is_ignored(const struct disktree_rules *r, const char *path,
                                             bool dir, bool *is, struct err *e);

/* The regular files of a work tree, by their paths from its root. Links are not followed, and what lies in .git, .entire,
 * .claude and .gemini is nobody's here. */
struct disktree {
    const char **path; /* in the arena, sorted */
    size_t n;
};

/* rules: NULL: files that git ignores too, and repositories inside of this one. */
MUST_CHECK enum err_code disktree_read(const struct disktree_rules *rules, const char *root,
                                       struct arena *a, struct disktree *out, struct err *e);

/* Is the path (from the root) in one of the folders that a rewind leaves alone? */
bool disktree_apart(const char *path);

#endif
