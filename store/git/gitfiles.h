#ifndef STORE_GIT_GITFILES_H
#define STORE_GIT_GITFILES_H

#include <stdbool.h>

#include "lite/base/err.h"

/* libgit2 and git open the files of a repository by name, without a look at what they are: on a pipe they wait for ever, of a
 * device or a file without end they read until memory is gone. A repository may come from anybody, so what they will
 * open is looked at first. All of these open nothing but configuration files. ERR_UNSAFE: a pipe, a device, or what
 * else git would not come back from. ERR_UNSUPPORTED: too large. */

/* The repository that libgit2 would find from this directory upwards; ERR_OK too where there is none. refs: its refs
 * too, which takes a look at each. */
MUST_CHECK enum err_code gitfiles_check(const char *dir, bool refs, struct err *e);
/* A directory of objects: its packs and lists. */
MUST_CHECK enum err_code gitfiles_check_objects(const char *objects, struct err *e);
/* The .gitignore and .gitattributes of a work tree, whose directories are all looked through. */
MUST_CHECK enum err_code gitfiles_check_tree(const char *root, struct err *e);

/* Does the .git of this directory lead to the git directory? A repository can name any directory as its work tree; only
 * one that names the repository too is taken for it. */
bool gitfiles_is_tree(const char *root, const char *git);

#endif
