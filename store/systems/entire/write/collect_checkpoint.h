#ifndef STORE_SYSTEMS_ENTIRE_WRITE_COLLECT_CHECKPOINT_H
#define STORE_SYSTEMS_ENTIRE_WRITE_COLLECT_CHECKPOINT_H

#include "store/systems/entire/read/view.h"
#include "store/systems/entire/write/committed_write.h"

/* What goes into a committed checkpoint of a session: its conversation so far and its prompt, both redacted, and what its
 * state says. The checkpoint's id, the strategy and the shadow branch are the caller's to fill in. */
struct collected_checkpoint {
    struct buf transcript, prompt;
    int64_t lines; /* of the transcript */
    struct committed_session s;
};

/* The session has a state. Put it away with collected_checkpoint_fini, also after a failure. */
MUST_CHECK enum err_code collect_checkpoint(struct view *v, struct collected_checkpoint *out,
                                            struct err *e);
void collected_checkpoint_fini(struct collected_checkpoint *g);

#endif
