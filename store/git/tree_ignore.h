#ifndef STORE_GIT_TREE_IGNORE_H
#define STORE_GIT_TREE_IGNORE_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/git/libgit2.h"

/* What git ignored when it made a tree of a work tree: a file that the tree lacks may have existed then. The rules are
 * those of the .gitignore files in the tree, at all levels, and the lists outside of it, of which only the present state
 * is known: info/exclude of the repositories, core.excludesFile, and .gitignore files that the tree lacks, because they
 * may ignore themselves. */
struct tree_ignore {
    struct arena arena;
    const char *root;
    struct slice *list; /* the lists outside of trees, weakest first */
    size_t lists;
    /* When the newest of these lists was last changed; INT64_MIN without lists. */
    int64_t changed_ms;
};

/* Reads the lists outside of trees. root: the work tree; extra: another repository that was used for it, whose own list
 * counts, too; NULL for none. Lists that cannot be read are left out. ERR_NOMEM. */
MUST_CHECK enum err_code tree_ignore_open(const char *root, git_repository *extra,
                                          struct tree_ignore *out, struct err *e);
void tree_ignore_fini(struct tree_ignore *r);

/* Returns true if git ignored the path of a file, or a directory that it is in. A tree or a
 * .gitignore file that cannot be read counts as if it ignored everything. */
bool tree_ignore_has(const struct tree_ignore *r, git_repository *repo, const git_oid *tree,
                     const char *path);

/* The same for one list of rules, which is in a directory that the path is relative to. Returns 1 if its last matching
 * rule ignores the path, -1 if that rule includes it again (`!`), and 0 if none matches. Directories above the path are
 * not considered. */
int tree_ignore_match(struct slice rules, struct slice path, bool is_dir);

#endif
