#ifndef STORE_MAINTENANCE_CONTINUE_IN_H
#define STORE_MAINTENANCE_CONTINUE_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/api/session.h"
#include "store/api/store.h"
#include "store/journal/change.h"

/* A session is continued in another agent: a new session of that agent with the conversation as the agent would have
 * recorded it (store/api/compose.h). The original is only read. Tool calls that mean the same in the other agent become
 * its own; the others, and those without a result, become a text of the agent's, because a model refuses a call that it
 * cannot have made. */

struct continue_in {
    struct arena arena; /* owns the texts */
    const struct store *to;
    struct slice title;             /* the original's title */
    const char *dir;                /* in which the session is continued */
    bool elsewhere;                 /* which is not the original's */
    struct slice id;                /* the new session */
    const char *path;               /* its transcript */
    size_t prompts, replies, calls; /* what the new session has as such */
    size_t texts;                   /* calls that become a text; of these: */
    size_t unanswered;              /* calls without a result */
    size_t thoughts, media,
        agents;            /* left out: messages with thinking, images and documents, sub-agents */
    size_t repaired;       /* texts without half surrogate pairs and NULs, which a model refuses */
    int64_t bytes;         /* the size of the new transcript */
    struct change *change; /* owned; what was done, if that was asked for */
};

/* Counts what a continuation would consist of and writes nothing. ERR_UNSUPPORTED: sessions of the other agent cannot be
 * made. ERR_USAGE: it is the session's own agent. ERR_NOT_FOUND: the session has no messages. */
MUST_CHECK enum err_code continue_in_plan(const struct session_ref *ref, const struct store *to,
                                          struct continue_in *out, struct err *e);
/* Makes the new session, as one change that can be undone. */
MUST_CHECK enum err_code continue_in_do(const struct session_ref *ref, const struct store *to,
                                        struct continue_in *out, struct err *e);
void continue_in_fini(struct continue_in *c);
/* Returns true if sessions can be made in this store. */
bool continue_in_can(const struct store *to);
/* The names of the agents in which sessions of this format can be continued (NULL: of any format): "claude, codex or pi";
 * NULL: out of memory. */
const char *continue_in_agents(struct arena *a, const char *format);

#endif
