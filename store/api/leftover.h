#ifndef STORE_API_LEFTOVER_H
#define STORE_API_LEFTOVER_H

#include <stddef.h>

#include <stdint.h>

#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/api/owned_refs.h"

/* What one session left behind: its transcript is gone, by the agent's own cleanup or its delete, and side directories,
 * saved copies of files and the like still lie there under its id. */
struct leftover {
    struct slice id;
    struct slice folder; /* the project's, as the system names it; "" where that is not known */
    const char **part;   /* absolute; each is there, and there is one at least, or a ref */
    size_t parts;
    const struct owned_ref *owned_refs;
    size_t owned_refs_n;
    int64_t owned_refs_ms; /* when the newest of the refs' commits was made */
    const char *stays;     /* why it must not go: somebody may need it; NULL */
};

/* Called for each, valid during the call. A non-zero answer ends the search and is passed up. */
typedef enum err_code leftover_fn(const struct leftover *l, void *arg, struct err *e);

#endif
