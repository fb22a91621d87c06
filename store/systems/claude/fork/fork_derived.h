#ifndef STORE_SYSTEMS_CLAUDE_FORK_FORK_DERIVED_H
#define STORE_SYSTEMS_CLAUDE_FORK_FORK_DERIVED_H

#include <stdbool.h>

#include "lite/base/arena.h"
#include "lite/json/jsonout.h"

/* Which sessions a session was made from: the newest derived-from row says so, and the rows that were forked name
 * theirs. A fork says the same of itself, and names its source. A zeroed struct knows of none. */
struct fork_source {
    struct slice type, id, via, started; /* JSON values, in the arena; started may be empty */
};

struct fork_derived {
    struct arena arena;
    struct fork_source *source; /* each once */
    size_t n, cap;
    bool any; /* a row was read */
};

/* A row takes the place of the one before. *damaged: not all of it is understood, and then it only adds. */
MUST_CHECK enum err_code fork_derived_read(struct fork_derived *d, struct slice row, bool *damaged);
/* The session that a row says it was copied from, where none with its id is known yet. */
MUST_CHECK enum err_code fork_derived_copied(struct fork_derived *d, struct slice row);
/* The list, and `from` behind it; id is one that needs no escape. */
MUST_CHECK enum err_code fork_derived_write(struct fork_derived *d, struct slice from,
                                            struct jsonout *j);
void fork_derived_fini(struct fork_derived *d);

#endif
