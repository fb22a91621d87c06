#ifndef STORE_SYSTEMS_ENTIRE_WRITE_CONDENSE_H
#define STORE_SYSTEMS_ENTIRE_WRITE_CONDENSE_H

#include "store/systems/entire/read/view.h"
#include "store/systems/entire/write/committed_write.h"

/* The effect of a user's commit on a session (docs/formats/entire.md 2.8): its temporary
 * checkpoints become one committed checkpoint, which a trailer of the commit names. The transcript
 * in it is redacted, because it will be pushed. */
struct condensed {
    /* "": nothing was condensed, because the commit names no checkpoint (then the base of an active session moves), the
     * session has ended without touching a file, or a rebase, a cherry-pick or a revert is in progress */
    char checkpoint[13];
    git_oid commit; /* on entire/checkpoints/v1 */
    /* The shadow branch was removed, because no other session has work on it. Its tip is kept under
     * refs/reprise/condensed/. */
    bool branch_gone;
};

/* The session must have a state. strategy: "manual-commit" or "auto-commit". Reads the message of HEAD. */
MUST_CHECK enum err_code condense(struct view *v, struct slice strategy, struct condensed *out,
                                  struct err *e);
/* At the end of a turn: writes the whole transcript into the checkpoints that were committed during it, if any. */
MUST_CHECK enum err_code condense_finalize_turn(struct view *v, struct slice strategy,
                                                struct err *e);

/* The content of a committed checkpoint: the conversation so far and its prompt, both redacted, and
 * the values of the state. The caller fills in the checkpoint's id, the strategy and the shadow
 * branch. */
struct collected_checkpoint {
    struct buf transcript, prompt;
    int64_t lines; /* of the transcript */
    struct committed_session s;
};

/* The session must have a state. Free with condense_collected_fini, also after a failure. */
MUST_CHECK enum err_code condense_collect(struct view *v, struct collected_checkpoint *out,
                                          struct err *e);
void condense_collected_fini(struct collected_checkpoint *g);

#endif
