#ifndef STORE_SYSTEMS_CLAUDE_REWIND_CALL_INPUT_H
#define STORE_SYSTEMS_CLAUDE_REWIND_CALL_INPUT_H

#include "store/systems/claude/rewind/planner.h"

/* The results of Qoder's tools name the file that they wrote, but not what they wrote: {"success": true, "file_path",
 * "additions", "deletions", ...}. The texts are in the input of the call. */

/* The path of such a result, in the arena; false: it is another one. */
bool call_input_path(struct slice result, struct arena *a, struct slice *path);

/* What the file became by the call that this row, at `message`, answers. Its content before was that of `before`, or, if
 * this is NULL, that of the file `backup`, which may be NULL too. *known is false if it cannot be told; out is then
 * undefined. ERR_NOMEM, or the row of the call cannot be read. */
MUST_CHECK enum err_code call_input_apply(struct planner *p, size_t message, struct slice row,
                                          const struct slice *before, const char *backup,
                                          struct buf *out, bool *known, struct err *e);

#endif
