#ifndef STORE_GIT_LOOSE_GUARD_H
#define STORE_GIT_LOOSE_GUARD_H

#include <git2.h>

#include "lite/base/err.h"

enum { LOOSE_COMMIT_MAX = 16 << 20, LOOSE_TREE_MAX = 64 << 20 };

/* libgit2 1.5 never returns from a loose object that is cut short, as a crash or a full disk leaves them, and holds all of
 * a commit or a tree, however large. From here on this repository answers for such an object that it is damaged or
 * larger than is read. Packs are asked first, as without it. */
MUST_CHECK enum err_code loose_guard_install(git_repository *repo, struct err *e);
/* Opens a directory of objects without its repository, guarded likewise; close with git_odb_free. ERR_FORMAT: it holds no
 * objects of git. */
MUST_CHECK enum err_code loose_guard_open(const char *objects, git_odb **out, struct err *e);

#endif
