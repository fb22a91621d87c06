#ifndef STORE_SYSTEMS_ENTIRE_WRITE_CONDENSE_H
#define STORE_SYSTEMS_ENTIRE_WRITE_CONDENSE_H

#include "store/systems/entire/read/view.h"

/* What a commit of the user's does to a session (entire.md 2.8): its temporary checkpoints become one committed checkpoint,
 * named by the trailer of that commit. The transcript goes into it redacted, as it will be pushed. */
struct condensed {
    /* "": nothing was condensed. The commit carries no checkpoint (then the base of an active session moves), the
     * session has ended with no file of its own, or a rebase, a cherry-pick or a revert is under way */
    char checkpoint[13];
    git_oid commit; /* on entire/checkpoints/v1 */
    /* the shadow branch was taken away: no other session has work on it. Its tip stays under refs/reprise/condensed/
     * */
    bool branch_gone;
};

/* The session has a state. strategy: "manual-commit" or "auto-commit". Reads HEAD's message. */
MUST_CHECK enum err_code condense(struct view *v, struct slice strategy, struct condensed *out,
                                  struct err *e);

/* The end of a turn: the checkpoints that were committed during it get the whole transcript. None: nothing is written. */
MUST_CHECK enum err_code condense_finalize_turn(struct view *v, struct slice strategy,
                                                struct err *e);

#endif
