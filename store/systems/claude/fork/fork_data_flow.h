#ifndef STORE_SYSTEMS_CLAUDE_FORK_FORK_DATA_FLOW_H
#define STORE_SYSTEMS_CLAUDE_FORK_FORK_DATA_FLOW_H

#include "lite/json/jsonout.h"
#include "store/systems/claude/fork/fork.h"

/* The origin of a session's contents: what its tools read (data-flow rows), and the sessions it was
 * copied from (derived-from). A fork records the same, and adds its source. */
MUST_CHECK enum err_code fork_flow(struct fork *f, struct buf *out, struct err *e);

/* ---- the sessions it was copied from ---- */

struct fork_source {
    struct slice type, id, via, started; /* JSON values, in the arena; started may be empty */
};

/* A zeroed struct is empty. */
struct fork_derived {
    struct arena arena;
    struct fork_source *source; /* each once */
    size_t n;
    bool any; /* a row was read */
};

/* Reads a derived-from row, which replaces the previous one. *damaged is set if a part is not
 * understood; the row then only adds to the previous ones. */
MUST_CHECK enum err_code fork_derived_read(struct fork_derived *d, struct slice row, bool *damaged);
/* Adds the session in a row's forkedFrom, unless one with this id is known. */
MUST_CHECK enum err_code fork_derived_copied(struct fork_derived *d, struct slice row);
/* Writes the list, followed by the session with the id `from`, which needs no escapes. */
MUST_CHECK enum err_code fork_derived_write(struct fork_derived *d, struct slice from,
                                            struct jsonout *j);
void fork_derived_fini(struct fork_derived *d);

#endif
