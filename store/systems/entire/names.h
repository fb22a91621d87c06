#ifndef STORE_SYSTEMS_ENTIRE_NAMES_H
#define STORE_SYSTEMS_ENTIRE_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "lite/base/arena.h"
#include "lite/base/slice.h"

/* The names of Entire's refs, branches and sessions, the commit trailers that contain them, and
 * sets of file names (docs/formats/entire.md 2.2 to 2.7, 3). Any of them may come from another
 * person's branch, so they are checked here before they become part of a ref or a file name. */

#define ENTIRE_HEADS "refs/heads/"
#define ENTIRE_V1 "refs/heads/entire/checkpoints/v1"
#define ENTIRE_V1_REMOTE "refs/remotes/origin/entire/checkpoints/v1"
#define ENTIRE_V2 "refs/entire/checkpoints/v2/main"
#define ENTIRE_V2_FULL "refs/entire/checkpoints/v2/full/" /* "current", and older generations */
#define ENTIRE_REFS "refs/entire/checkpoints/"
#define ENTIRE_STATES "entire-sessions"
/* Refs of reprise: the former tips of shadow branches that a rewind moved or a commit condensed. */
#define ENTIRE_MOVED "refs/reprise/moved/"
#define ENTIRE_CONDENSED "refs/reprise/condensed/"

enum {
    ENTIRE_HEX_ID = 12, /* length of a checkpoint id until 2026 ... */
    ENTIRE_ULID = 26,   /* ... and since */
    ENTIRE_SHORT_COMMIT = 7,
    ENTIRE_HASH6 = 6,
    ENTIRE_SHADOW_NAME = 64, /* bytes of a shadow branch's name, with its NUL */
};

/* Returns true if the id is not empty, contains no separator or control byte, is not "." or "..", and is short enough
 * for the file name "<id>.json.tmp". */
bool entire_session_id_ok(struct slice id);
/* The id under which the agent knows the session: the uuid of "YYYY-MM-DD-<uuid>", the old form of Entire's ids. A part
 * of id. */
struct slice entire_agent_id(struct slice id);
/* Returns true for twelve lower-case hex digits, or a ULID. */
bool entire_checkpoint_id_ok(struct slice id);
/* Ids of tools and of agents: [A-Za-z0-9_-]+. */
bool entire_tool_id_ok(struct slice id);

/* The first six hex digits of SHA-256(worktree id); the id of the main work tree is empty. Empty if
 * the digest fails. */
void entire_hash6(struct slice worktree_id, char out[ENTIRE_HASH6 + 1]);
/* "entire/<7 of base>-<hash6>"; a base of fewer than seven characters is used whole. Empty, which is no
 * name of a ref, if the digest fails. */
void entire_shadow_name(struct slice base, struct slice worktree_id, char out[ENTIRE_SHADOW_NAME]);

enum entire_shape {
    ENTIRE_NO_SHADOW,
    ENTIRE_SHADOW,     /* entire/<7 or more hex>-<6 hex> */
    ENTIRE_SHADOW_OLD, /* without the work tree; may also be a user's own branch */
};
/* The shape of a branch name without refs/heads/. */
enum entire_shape entire_shadow_shape(struct slice branch);

/* Returns true if this is the ref of one checkpoint (refs/entire/checkpoints/<last two of
 * id>/<id>), and the checkpoint's id. */
bool entire_ref_checkpoint(struct slice ref, struct slice *id);

/* Converts a path in a metadata document ("/ab/cdef012345/0/full.jsonl" or "/0/full.jsonl") to one
 * relative to the folder of checkpoint id ("0/full.jsonl"). Returns false if it leads elsewhere. */
bool entire_inner_path(struct slice named, struct slice id, struct slice *inner);

/* ---- trailers ---- */

/* A trailer is a key, a colon and the rest of the line, anywhere in a commit message, as Entire reads them. */
#define TRAILER_CHECKPOINT "Entire-Checkpoint"
#define TRAILER_SESSION "Entire-Session"
#define TRAILER_METADATA "Entire-Metadata"
#define TRAILER_TASK "Entire-Metadata-Task"
#define TRAILER_STRATEGY "Entire-Strategy"
#define TRAILER_AGENT "Entire-Agent"
#define TRAILER_BRANCH "Ephemeral-branch"

/* The first value of the key, without surrounding blanks; empty if it is missing. */
struct slice entire_trailer_first(struct slice message, const char *key);
/* Finds the next checkpoint that a commit of the user belongs to, a valid id followed by a blank or the end of the
 * line, and cuts *rest after it. */
bool entire_trailer_checkpoint(struct slice *rest, struct slice *id);
/* The first line of a message that is not blank. */
struct slice entire_subject(struct slice message);

/* ---- sets of file names ---- */

/* Sorted by bytes, like files_touched. */
struct names_list {
    struct arena *a; /* owns everything */
    struct slice *name;
    size_t n;
};

/* Adds a copy of the name unless the set contains it. Returns false if out of memory. */
bool names_add(struct names_list *l, struct slice name);
/* Adds all texts of a JSON array; any other value adds nothing. */
bool names_add_json(struct names_list *l, struct slice array);

#endif
