#ifndef STORE_SYSTEMS_ENTIRE_NAMES_H
#define STORE_SYSTEMS_ENTIRE_NAMES_H

#include <stdbool.h>

#include "lite/base/slice.h"

/* The names that Entire gives to things (entire.md 2.2, 2.4, 2.7, 3). All of them may come from a branch that
 * somebody else pushed, so each is judged here before it becomes part of a ref or of a file name. */

#define ENTIRE_HEADS "refs/heads/"
#define ENTIRE_V1 "refs/heads/entire/checkpoints/v1"
#define ENTIRE_V1_REMOTE "refs/remotes/origin/entire/checkpoints/v1"
#define ENTIRE_V2 "refs/entire/checkpoints/v2/main"
#define ENTIRE_V2_FULL "refs/entire/checkpoints/v2/full/" /* "current", and older generations */
#define ENTIRE_REFS "refs/entire/checkpoints/"
#define ENTIRE_STATES "entire-sessions"

enum {
    ENTIRE_HEX_ID = 12, /* length of a checkpoint id until 2026 ... */
    ENTIRE_ULID = 26,   /* ... and since */
    ENTIRE_SHORT_COMMIT = 7,
    ENTIRE_HASH6 = 6,
    ENTIRE_SHADOW_NAME = 64, /* room for the name of a shadow branch */
};

/* Not empty, no separator, no control byte, no "." or "..", and short enough for "<id>.json.tmp". */
bool entire_session_id_ok(struct slice id);
/* The id by which the agent knows the session: of "YYYY-MM-DD-<uuid>", as Entire once named them, the uuid. A part of id. */
struct slice entire_agent_id(struct slice id);
/* Twelve lower-case hex digits, or a ULID. */
bool entire_checkpoint_id_ok(struct slice id);
/* Ids of tools and of agents: [A-Za-z0-9_-]+. */
bool entire_tool_id_ok(struct slice id);

/* The first six hex digits of SHA-256(worktree id); the id of the main worktree is empty. */
void entire_hash6(struct slice worktree_id, char out[ENTIRE_HASH6 + 1]);
/* "entire/<7 of base>-<hash6>"; a base of fewer than seven characters is used whole. */
void entire_shadow_name(struct slice base, struct slice worktree_id, char out[ENTIRE_SHADOW_NAME]);

enum entire_shape {
    ENTIRE_NO_SHADOW,
    ENTIRE_SHADOW,     /* entire/<7 or more hex>-<6 hex> */
    ENTIRE_SHADOW_OLD, /* without the worktree: also what a person may call a branch */
};
/* Of a branch, without refs/heads/. */
enum entire_shape entire_shadow_shape(struct slice branch);

/* Is the ref one checkpoint's own (refs/entire/checkpoints/<last two of id>/<id>)? Says which. */
bool entire_ref_checkpoint(struct slice ref, struct slice *id);

/* The path in a tree that a metadata document names ("/ab/cdef012345/0/full.jsonl" or "/0/full.jsonl"), seen from
 * the checkpoint's folder ("0/full.jsonl"). False when it leads anywhere else. id: of the checkpoint. */
bool entire_inner_path(struct slice named, struct slice id, struct slice *inner);

#endif
