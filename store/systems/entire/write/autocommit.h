#ifndef STORE_SYSTEMS_ENTIRE_WRITE_AUTOCOMMIT_H
#define STORE_SYSTEMS_ENTIRE_WRITE_AUTOCOMMIT_H

#include "store/systems/entire/write/temporary.h"

/* The other strategy (entire.md 2.7, 4; removed from Entire in 0.4.8): a checkpoint is a commit of the user's own branch, with
 * the files that the session changed and no others, and a committed checkpoint that its trailer names. Only where the
 * repository asks for it: "strategy": "auto-commit" in .entire/settings.json. */
struct autocommitted {
    char checkpoint[13];
    git_oid commit; /* on the user's branch; HEAD where nothing had changed */
    bool made;      /* false: the files are what HEAD has, and there is no checkpoint */
    struct names_list touched;
};

bool autocommit_wanted(const struct view *v);
/* The session has a state. One that was cut short behind its commit is completed by the next. The branch moves by compare-and-swap; then the index learns of these files alone, and what
 * else is staged stays staged. ERR_STALE: the branch moved meanwhile. ERR_UNSUPPORTED: a merge, rebase or the like is
 * under way, or git itself has to commit a file. No hook of git's is run, and nothing is signed (skipped_hooks.h). */
MUST_CHECK enum err_code autocommit_write(struct view *v, const struct temporary_request *req,
                                          struct autocommitted *out, struct err *e);

#endif
