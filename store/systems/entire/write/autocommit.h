#ifndef STORE_SYSTEMS_ENTIRE_WRITE_AUTOCOMMIT_H
#define STORE_SYSTEMS_ENTIRE_WRITE_AUTOCOMMIT_H

#include <git2.h>

#include "lite/base/arena.h"
#include "store/systems/entire/write/temporary.h"

/* Entire's other strategy (docs/formats/entire.md 2.7, 4; removed in 0.4.8): a checkpoint is a
 * commit of the user's own branch that contains the files the session changed and no others, plus a
 * committed checkpoint that its trailer names. Used only if the repository selects it: "strategy":
 * "auto-commit" in .entire/settings.json. */
struct autocommitted {
    char checkpoint[13];
    git_oid commit; /* on the user's branch; HEAD if nothing had changed */
    bool made;      /* false: the files are those of HEAD, and there is no checkpoint */
    struct names_list touched;
};

bool autocommit_wanted(const struct view *v);
/* The session must have a state. The branch is moved by compare-and-swap; then these files are
 * updated in the index, and whatever else is staged stays staged. If an earlier call was
 * interrupted after its commit, this one completes it. No hook runs and nothing is signed.
 * ERR_STALE: the branch was moved in the meantime. ERR_UNSUPPORTED: a merge, rebase or the like is
 * in progress, or a file needs a filter program. */
MUST_CHECK enum err_code autocommit_write(struct view *v, const struct temporary_request *req,
                                          struct autocommitted *out, struct err *e);

/* A note that `git commit` would also have run hooks or signed the commit. Like Entire, we do
 * neither, because a hook is a program of whoever set up the repository, and a checkpoint is made
 * without the user's attention. In the arena; NULL if nothing was skipped, or out of memory. */
const char *autocommit_skipped_note(git_repository *repo, struct arena *a);

#endif
