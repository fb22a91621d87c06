#ifndef STORE_SYSTEMS_CLAUDE_LIST_SIDECAR_H
#define STORE_SYSTEMS_CLAUDE_LIST_SIDECAR_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/slice.h"
#include "store/api/session.h"

/* Small documents in a session's side folder (claude.md 2.3, 5.3). A document that is missing, not a regular file, too
 * large or not understood is ignored. */

/* Most sessions have no side folder, so this one check saves the others. */
bool sidecar_folder_exists(const struct session_ref *ref, struct arena *a);

/* The title that a person gave, on one line; empty without a title. Returns false if out of
 * memory. */
bool sidecar_title(const struct session_ref *ref, struct arena *a, struct slice *title);

struct archive_mark {
    bool known;    /* the session has a mark */
    bool archived; /* and it is archived */
    int64_t at_ms;
};
/* Returns false if out of memory. */
bool sidecar_archive_mark(const struct session_ref *ref, struct arena *a,
                          struct archive_mark *mark);

/* Using a session takes it out of the archive. Returns true if the window contains a prompt of a
 * person after at_ms; *ok is false if out of memory. */
bool sidecar_has_prompt_after(struct slice window, int64_t at_ms, struct arena *a, bool *ok);

#endif
