#ifndef STORE_SYSTEMS_ENTIRE_READ_STATE_H
#define STORE_SYSTEMS_ENTIRE_READ_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "lite/io/file.h"

/* The state file of a session, <git common dir>/entire-sessions/<session id>.json (entire.md 2.2): what its program
 * keeps while a session runs. Read tolerantly, older forms included; written only by splicing (state_write.h). */

enum entire_phase { PHASE_IDLE, PHASE_ACTIVE, PHASE_ENDED };

/* What happens to a session, and what becomes of its phase (entire.md 2.3). */
enum entire_event {
    EVENT_TURN_START,
    EVENT_TURN_END,
    EVENT_COMMIT,
    EVENT_SESSION_START,
    EVENT_SESSION_STOP,
    EVENT_COUNT,
};
enum entire_phase entire_phase_after(enum entire_phase phase, enum entire_event event);
/* "active_committed" is active; what is unknown or missing is idle. */
enum entire_phase entire_phase_parse(struct slice text);
const char *entire_phase_name(enum entire_phase phase);

/* Texts in the arena, NUL-terminated; empty where there is none. */
struct entire_state {
    struct slice id;
    struct slice base;             /* full hash of the commit that names the shadow branch */
    struct slice attribution_base; /* that of old files: the base */
    struct slice worktree_path, worktree_id;
    struct slice agent; /* "Claude Code" */
    struct slice branch;
    struct slice transcript_path;
    struct slice first_prompt, last_prompt;
    struct slice last_checkpoint;
    struct slice turn_id;
    enum entire_phase phase;
    int64_t started_ms, ended_ms, interaction_ms; /* TIME_NONE */
    int64_t checkpoint_count;
    int64_t transcript_start; /* the line where the next checkpoint begins */
    struct file_id file;
};

/* The document; false when it is none, with why. Texts are copied. */
bool state_parse(struct slice json, struct arena *a, struct entire_state *out, const char **why);
/* The file <dir>/<name>. ERR_FORMAT: it is no state (broken, not named for its session, no plain file). json (may be
 * NULL) gets its bytes. */
MUST_CHECK enum err_code state_read(const char *dir, const char *name, struct arena *a,
                                    struct entire_state *out, struct buf *json, struct err *e);
/* Is there a file for a session's state, whatever is in it, be it half-written? Where one cannot look: yes. */
bool state_exists(const char *dir, struct slice id);
/* Is this the name of a state file? No directory, temporary file or README. */
bool state_name(const char *name, struct slice *id);

#endif
