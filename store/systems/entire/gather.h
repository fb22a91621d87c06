#ifndef STORE_SYSTEMS_ENTIRE_GATHER_H
#define STORE_SYSTEMS_ENTIRE_GATHER_H

#include "store/systems/entire/committed_write.h"
#include "store/systems/entire/view.h"

/* What goes into a committed checkpoint of a session: its conversation so far and its prompt, both redacted, and what its
 * state says. The checkpoint's id, the strategy and the shadow branch are the caller's to fill in. */
struct gathered {
    struct buf transcript, prompt;
    int64_t lines; /* of the transcript */
    struct committed_session s;
};

/* The session has a state. Put it away with gathered_fini, also after a failure. */
MUST_CHECK enum err_code gather(struct view *v, struct gathered *out, struct err *e);
void gathered_fini(struct gathered *g);

#endif
