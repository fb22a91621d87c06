#ifndef STORE_HOST_HOST_STATE_H
#define STORE_HOST_HOST_STATE_H

#include <stdbool.h>
#include <stddef.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/api/session.h"

struct store_env;

/* The activity of a session (seed 002): idle, running, or waiting for an action of a person. The host that runs the
 * session reports each step, and listeners are called for it. If the host publishes the state, other programs see it
 * too: `reprise` shows it in its lists.
 *
 *     host_state_open -> host_state_listen -> host_state_change, _merge, _title, _last_prompt in any order -> host_state_close
 *
 * A published state is one small document of the process, <state>/hosts/<pid>-<random>.json, which is replaced at each
 * step and removed by host_state_close. It has the members of Claude Code's own registry of running agents (pid,
 * procStart, pidDomain, sessionId, cwd, status), so that the state of a killed process is ignored, and also system,
 * state, title, lastPrompt and metadata. The input of a pending action is not in it. The process keeps it locked
 * (flock), which tells programs in other containers, in which the pid means nothing, whether it still runs.
 *
 * Threads: any thread may call at any time, except that host_state_close must be the last. Listeners are called by the
 * thread that makes the step, one step after the other, before the call returns; they must not call this interface
 * (ERR_USAGE). In a child after fork nothing is published. Texts, also those passed to listeners, are valid during the
 * call. */
struct host_state;

/* What the session waits for. */
struct host_action {
    struct slice tool_name;
    struct slice description; /* for a person: "Editing src/foo.ts" */
    struct slice tool_use_id;
    struct slice request_id;
    struct slice input; /* the input of the tool, a JSON object; or empty */
};

/* Members may be NULL. For one step they are called in this order: state, metadata; and each listener after those that
 * were added before it. */
struct host_listener {
    /* Called for each host_state_change, even if the state is the same. action: with SESSION_REQUIRES_ACTION, if it was
     * given; else NULL. */
    void (*state)(enum session_state state, const struct host_action *action, void *arg);
    /* A JSON Merge Patch (RFC 7396) of the external metadata: what changed, null for what is gone. */
    void (*metadata)(struct slice patch, void *arg);
    void (*title)(struct slice title, void *arg);
    void (*last_prompt)(struct slice prompt, void *arg);
    void *arg;
};

/* Which session this is, for other programs. */
struct host_published {
    const struct store_env *env; /* must outlive the state */
    const char *system;          /* the system of the store: "claude" */
    struct slice session;        /* its id */
    struct slice cwd;            /* may be empty */
    bool writer; /* only that the process writes to the session is published, and no state */
};

/* The state begins as idle, with empty metadata. where NULL: nothing is published. The files of processes that have
 * ended are removed. ERR_NOT_FOUND: the environment has no state directory. */
MUST_CHECK enum err_code host_state_open(const struct host_published *where,
                                         struct host_state **out, struct err *e);
void host_state_close(struct host_state *s); /* NULL is fine */

/* Adds a listener; the struct is copied. */
MUST_CHECK enum err_code host_state_listen(struct host_state *s, const struct host_listener *l,
                                           struct err *e);

/* Reports a step. The metadata changes with the state as in seed 002: pending_action is the action, or null after a
 * step without one; task_summary is null when the session becomes idle. action may be NULL. ERR_USAGE: the input of the
 * action is not a JSON object. If the state cannot be published, that error is returned after the listeners were
 * called. */
MUST_CHECK enum err_code host_state_change(struct host_state *s, enum session_state state,
                                           const struct host_action *action, struct err *e);
/* Changes the external metadata, for example permission_mode, model, task_summary, post_turn_summary. ERR_USAGE: the
 * patch is not a JSON object, or the metadata would exceed HOST_METADATA_MAX bytes. */
enum { HOST_METADATA_MAX = 1 << 20 };
MUST_CHECK enum err_code host_state_merge(struct host_state *s, struct slice patch, struct err *e);
/* Report a new title or prompt. The host stores them itself (host_set, host_append). */
MUST_CHECK enum err_code host_state_title(struct host_state *s, struct slice title, struct err *e);
MUST_CHECK enum err_code host_state_last_prompt(struct host_state *s, struct slice prompt,
                                                struct err *e);

enum session_state host_state_now(struct host_state *s);
/* The external metadata as one JSON object, copied into the arena. */
MUST_CHECK enum err_code host_state_metadata(struct host_state *s, struct arena *a,
                                             struct slice *json, struct err *e);

#endif
