#ifndef STORE_SYSTEMS_ENTIRE_WRITE_STATE_WRITE_H
#define STORE_SYSTEMS_ENTIRE_WRITE_STATE_WRITE_H

#include "store/systems/common/go_json_document.h"
#include "store/systems/entire/entire.h"

/* Writing state files as Entire does: Go's JSON, members in the order of its struct, unknown ones kept, 0600, a temporary
 * file and a rename. */

/* Changes members of a session's state. ERR_STALE: it was written by somebody else since `state` was read. */
MUST_CHECK enum err_code state_change(const struct entire *x, const struct entire_state *state,
                                      const struct go_json_member set[], size_t n, struct err *e);
/* A new one. ERR_STALE: there is one with this id. */
MUST_CHECK enum err_code state_create(const struct entire *x, struct slice id,
                                      const struct go_json_member set[], size_t n, struct err *e);
/* The document with members changed; what state_change writes. */
MUST_CHECK enum err_code state_render(struct slice json, const struct go_json_member set[],
                                      size_t n, struct buf *out);

/* Values for struct go_json_member, in the arena; p NULL without memory. */
struct slice state_text(struct arena *a, struct slice text);
struct slice state_number(struct arena *a, int64_t n);
struct slice state_time(struct arena *a, int64_t ms); /* RFC 3339, UTC */
/* An array of the texts. */
struct slice state_list(struct arena *a, const struct slice *text, size_t n);

#endif
