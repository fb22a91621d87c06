#ifndef STORE_DEMO_PLAY_H
#define STORE_DEMO_PLAY_H

#include <stdint.h>

#include "lite/base/err.h"
#include "store/demo/history.h"
#include "store/demo/log.h"
#include "store/demo/script.h"
#include "store/demo/world.h"

/* Turns one script into a transcript with its side files, and changes the world as the script says. */
struct play {
    const char *cwd; /* the project, absolute */
    /* CONFIG/projects/<folder>/<id>: the session's side folder, without a slash */
    const char *side;
    struct world *world;
    struct demo_log log;
    struct demo_history history;
    struct slice last_prompt; /* borrowed from the script */
};

/* log and history are set up by the caller; on return log.out holds the transcript. began_ms is when
 * the first step began, and parent_began_ms when fork_of's did. */
MUST_CHECK enum err_code play_session(struct play *p, int64_t began_ms, int64_t parent_began_ms,
                                      struct err *e);
/* How long a session takes, all steps together (of a fork: its own). */
int64_t play_length_ms(const struct demo_session *s);

/* One step that is a tool call (play_tool.c): the call, what it does, its answer. */
MUST_CHECK enum err_code play_tool(struct play *p, const struct demo_step *step, struct err *e);

/* A call that starts a sub-agent, whose transcript it writes as well (play_agent.c). */
MUST_CHECK enum err_code play_agent(struct play *p, const struct demo_step *step, struct err *e);

#endif
