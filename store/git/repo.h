#ifndef STORE_GIT_REPO_H
#define STORE_GIT_REPO_H

#include <git2.h>
#include <stdbool.h>

#include "lite/base/arena.h"
#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"

/* What this system asks of libgit2. Nothing here writes: listing changes no byte below .git. A repository
 * object is used by one thread at a time; everybody opens their own, which costs next to nothing. */

/* git's answer as ours: "doing: what git says", ERR_NOT_FOUND and ERR_NOMEM told apart. */
enum err_code repo_error(struct err *e, int answer, const char *path, const char *doing);

/* Opens the repository that holds a directory, or whose git directory it is. extensions.worktreeConfig is known to
 * be harmless for what we read, so it is no reason to refuse. ERR_NOT_FOUND: there is none. ERR_UNSUPPORTED: there is
 * one that cannot be opened; the text says why. Close with repo_close. */
MUST_CHECK enum err_code repo_open(const char *dir, git_repository **out, struct err *e);
void repo_close(git_repository *repo); /* NULL is fine */

/* The id of the work tree: empty for the main one (entire.md 2.4). In the arena. */
struct slice repo_worktree_id(git_repository *repo, struct arena *a);

/* Whether a ref is there and what it points to, through symbolic ones. One that cannot be read is an error, not absent:
 * who changes something asks here. */
MUST_CHECK enum err_code repo_ref(git_repository *repo, const char *name, bool *there, git_oid *out,
                                  struct err *e);

/* The same for readers, to whom an unreadable ref is none. */
bool repo_has_ref(git_repository *repo, const char *name, git_oid *out);
/* Is the branch (without refs/heads/) what some work tree has checked out? Where this cannot be told, it may be. */
bool repo_is_checked_out(git_repository *repo, const char *branch);
/* What is read of a tree that somebody else may have made: nine objects can say 10^9 entries. */
enum { REPO_ENTRIES_MAX = 500000 };
/* ERR_UNSUPPORTED: the object is larger than a tree of this many entries. Free with git_tree_free. */
MUST_CHECK enum err_code repo_tree(git_repository *repo, const git_oid *id, git_tree **out,
                                   struct err *e);
/* Before a walk through a whole tree, or (with a base) through what two of them differ in: ERR_UNSUPPORTED where that
 * is more than REPO_ENTRIES_MAX entries, or too deep. */
MUST_CHECK enum err_code repo_tree_fits(git_repository *repo, const git_oid *tree,
                                        const git_oid *base, struct err *e);

/* A blob below a tree, replacing what was in out. ERR_NOT_FOUND: no such entry, or no blob. ERR_FORMAT: larger than max
 * bytes, or damaged. */
MUST_CHECK enum err_code repo_blob_at(git_repository *repo, const git_tree *tree, const char *path,
                                      size_t max, struct buf *out, struct err *e);
MUST_CHECK enum err_code repo_blob(git_repository *repo, const git_oid *id, size_t max,
                                   struct buf *out, struct err *e);
/* How large the file is; 0 when there is none. Reads no content. */
int64_t repo_size_at(git_repository *repo, const git_tree *tree, const char *path);

#endif
