#ifndef STORE_SYSTEMS_CLAUDE_FORK_FORK_DATA_FLOW_H
#define STORE_SYSTEMS_CLAUDE_FORK_FORK_DATA_FLOW_H

#include "store/systems/claude/fork/fork.h"

/* Where the contents of a session came from: which tools read what (data-flow rows), and which sessions it was
 * copied from (derived-from). A fork says the same of itself, and names its source. */
MUST_CHECK enum err_code fork_flow(struct fork *f, struct buf *out, struct err *e);

#endif
