#ifndef STORE_GIT_GITFILES_H
#define STORE_GIT_GITFILES_H

#include <limits.h>
#include <stdbool.h>

#include "lite/base/err.h"
#include "store/git/libgit2.h"

/* Checks that make it safe to let libgit2 read a repository that anyone may have prepared.
 *
 * libgit2 and git open the files of a repository by name, without checking what they are: a pipe blocks them forever,
 * and a device or an endless file is read until memory is exhausted. Therefore every file that they would open is
 * checked first. The checks open nothing but configuration files. ERR_UNSAFE: a pipe, a device, or something else that
 * git would not return from. ERR_UNSUPPORTED: too large. */

/* Checks the repository that libgit2 would find from this directory upwards, and with `refs` each of its refs as well.
 * Returns ERR_OK if there is no repository. */
MUST_CHECK enum err_code gitfiles_check(const char *dir, bool refs, struct err *e);
/* Checks the packs and the lists in a directory of objects. */
MUST_CHECK enum err_code gitfiles_check_objects(const char *objects, struct err *e);
/* Checks every .gitignore and .gitattributes of a work tree. */
MUST_CHECK enum err_code gitfiles_check_tree(const char *root, struct err *e);

/* Returns true if the .git of this directory leads to the git directory. A repository can name any directory as its
 * work tree; only one that names the repository too is accepted. */
bool gitfiles_is_tree(const char *root, const char *git);

/* Reads a small file of git's in `dir` ("commondir", or ".git" of a linked work tree) and resolves the path in it,
 * which follows `word` and may be relative to `dir`. ERR_NOT_FOUND: no such file. ERR_FORMAT: it names no path. */
MUST_CHECK enum err_code gitfiles_follow(const char *dir, const char *name, const char *word,
                                         char out[PATH_MAX]);

/* Commits and trees larger than this are not read. */
enum { LOOSE_COMMIT_MAX = 16 << 20, LOOSE_TREE_MAX = 64 << 20 };

/* Both make libgit2 report a truncated or too large object as an error. libgit2 1.5 never returns from a truncated
 * loose object, which a crash or a full disk leaves behind, and keeps a whole commit or tree in memory, however large
 * it is. Packs are still searched first. Implemented in loose_guard.c. */
MUST_CHECK enum err_code loose_guard_install(git_repository *repo, struct err *e);
/* Opens a directory of objects without its repository; close it with git_odb_free. ERR_FORMAT: it contains no objects
 * of git. */
MUST_CHECK enum err_code loose_guard_open(const char *objects, git_odb **out, struct err *e);

#endif
