#ifndef STORE_SHOW_TOOL_INPUTS_H
#define STORE_SHOW_TOOL_INPUTS_H

#include "lite/base/arena.h"
#include "store/api/edit.h"

/* The edits that a tool call requests; see tool_edits.h for the forms that are understood. */

struct tool_inputs {
    struct arena *a;
    struct edit *edit; /* in the arena; paths are as written and may be relative */
    size_t n;
};

/* name: of the tool; input: the raw JSON object, or the text of a patch, which may be a JSON string. Adds nothing for a
 * call that is not an edit. Texts borrow from the input or are in the arena, which has failed if out of memory. */
void tool_inputs_read(struct slice name, struct slice input, struct tool_inputs *out);

/* The file that a call names, as written. */
bool tool_inputs_path(struct slice input, struct arena *a, struct slice *out);

/* ---- for tool_inputs_read ---- */

/* Adds an edit; the result is valid until the next call. NULL if out of memory. */
struct edit *tool_inputs_add(struct tool_inputs *t, struct edit edit);
/* Adds the edits of a patch of apply_patch ("*** Begin Patch"). */
void apply_patch_read(struct slice patch, struct tool_inputs *out);

#endif
