#ifndef STORE_GIT_REF_H
#define STORE_GIT_REF_H

#include <git2.h>

#include "lite/base/err.h"

/* Moves a git ref from one commit to another, by compare-and-swap; from NULL: it must not be there yet; to NULL: it goes.
 * ERR_STALE: it is not where it should be, and stays. why goes into the reflog. */
MUST_CHECK enum err_code ref_move(git_repository *repo, const char *ref, const git_oid *from,
                                  const git_oid *to, const char *why, struct err *e);
/* What lay in a work tree before a rewind, under the id of its record; git takes no id that could not be a file's name. */
#define REF_BEFORE "refs/reprise/before/"
/* Once the rewind was undone nobody needs it. Where there is none, or it cannot go, nothing happens: sweep takes old ones. */
void ref_remove_before(const char *root, const char *id);
/* Makes what was done to the ref durable. */
MUST_CHECK enum err_code ref_sync(git_repository *repo, const char *ref, struct err *e);

#endif
