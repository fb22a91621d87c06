#ifndef STORE_SYSTEMS_ENTIRE_STATE_H
#define STORE_SYSTEMS_ENTIRE_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "lite/io/file.h"
#include "store/systems/common/go_json.h"

/* The state file of a session, <git common dir>/entire-sessions/<session id>.json
 * (docs/formats/entire.md 2.2), which Entire maintains while the session runs. Older forms are read
 * as well. Writing changes single members, in Go's JSON and in the order of Entire's struct, and
 * keeps unknown members. */

enum entire_phase { PHASE_IDLE, PHASE_ACTIVE, PHASE_ENDED };

/* The events of a session, and the phase after each (docs/formats/entire.md 2.3). */
enum entire_event {
    EVENT_TURN_START,
    EVENT_TURN_END,
    EVENT_COMMIT,
    EVENT_SESSION_START,
    EVENT_SESSION_STOP,
    EVENT_COUNT,
};
enum entire_phase entire_phase_after(enum entire_phase phase, enum entire_event event);
/* "active_committed" is active; an unknown or missing phase is idle. */
enum entire_phase entire_phase_parse(struct slice text);
const char *entire_phase_name(enum entire_phase phase);

/* Texts are in the arena, NUL-terminated, and empty if missing. */
struct entire_state {
    struct slice id;
    struct slice base;             /* full hash of the commit that names the shadow branch */
    struct slice attribution_base; /* the base, if the file lacks the member */
    struct slice worktree_path, worktree_id;
    struct slice agent; /* "Claude Code" */
    struct slice branch;
    struct slice transcript_path;
    struct slice first_prompt, last_prompt;
    struct slice last_checkpoint;
    struct slice turn_id;
    struct slice token_usage; /* JSON (tokens.c) */
    enum entire_phase phase;
    int64_t started_ms, ended_ms, interaction_ms; /* TIME_NONE if missing */
    int64_t checkpoint_count;
    int64_t transcript_start; /* the line at which the next checkpoint begins */
    struct file_id file;
};

/* Reads the file <dir>/<name>. ERR_FORMAT: it is not a state (damaged, not named for its session, not a regular file).
 * json (may be NULL) receives its bytes. */
MUST_CHECK enum err_code state_read(const char *dir, const char *name, struct arena *a,
                                    struct entire_state *out, struct buf *json, struct err *e);
/* Reads the state of a session by its id, with the bytes. */
MUST_CHECK enum err_code state_read_again(const char *dir, struct slice id, struct arena *a,
                                          struct entire_state *out, struct buf *json,
                                          struct err *e);
/* Returns true if a session has a state file, even a half-written one, or if this cannot be
 * determined. */
bool state_exists(const char *dir, struct slice id);
/* Returns true if this is the name of a state file, and the session's id. Temporary files and
 * directories are not state files. */
bool state_name(const char *name, struct slice *id);

/* ---- writing ---- */

/* Changes members of a state in the folder `states`, by a temporary file and a rename. ERR_STALE: another program wrote
 * it since `state` was read. */
MUST_CHECK enum err_code state_change(const char *states, const struct entire_state *state,
                                      const struct go_json_member set[], size_t n, struct err *e);
/* Creates a state, with mode 0600. ERR_STALE: a state with this id exists. */
MUST_CHECK enum err_code state_create(const char *states, struct slice id,
                                      const struct go_json_member set[], size_t n, struct err *e);
/* The document with members changed: the bytes that state_change writes. */
MUST_CHECK enum err_code state_render(struct slice json, const struct go_json_member set[],
                                      size_t n, struct buf *out);

/* Values for struct go_json_member, in the arena; p is NULL if out of memory. */
struct slice state_text(struct arena *a, struct slice text);
struct slice state_number(struct arena *a, int64_t n);
struct slice state_time(struct arena *a, int64_t ms); /* RFC 3339, UTC */
/* An array of texts. */
struct slice state_list(struct arena *a, const struct slice *text, size_t n);

/* A number of an object; 0 if it is missing. */
int64_t entire_number_at(struct slice object, const char *key);

#endif
