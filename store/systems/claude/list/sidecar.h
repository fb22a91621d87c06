#ifndef STORE_SYSTEMS_CLAUDE_LIST_SIDECAR_H
#define STORE_SYSTEMS_CLAUDE_LIST_SIDECAR_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/slice.h"
#include "store/api/session.h"

/* Small documents in a session's side folder (claude.md 2.3, 5.3). A document that is not there, is no
 * regular file, is too large or says something else is as if absent. */

/* The title a person gave, on one line; empty when there is none. False without memory. */
bool sidecar_title(const struct session_ref *ref, struct arena *a, struct slice *title);

struct archive_mark {
    bool known;    /* there is a mark */
    bool archived; /* and it says so */
    int64_t at_ms;
};

bool sidecar_archive_mark(const struct session_ref *ref, struct arena *a,
                          struct archive_mark *mark);

#endif
