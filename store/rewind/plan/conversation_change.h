#ifndef STORE_REWIND_PLAN_CONVERSATION_CHANGE_H
#define STORE_REWIND_PLAN_CONVERSATION_CHANGE_H

#include <stdbool.h>
#include <stddef.h>

#include "store/journal/change.h"

/* The conversation's part of going back: a change (store/journal/change.h) after which the conversation ends before the
 * prompt of the point. A system plans it (store_ops.plan_conversation), the engine does it together with the files, and both are
 * one operation: they are there together or not at all, and one undo takes both back. */
enum conversation_change {
    CONVERSATION_NONE,      /* nothing has to be done: it ends there already */
    CONVERSATION_TRUNCATE,  /* what came after is cut off; the undo record holds it */
    CONVERSATION_RESUME_AT, /* it stays where it is, and the session goes on from before it */
    CONVERSATION_FORK,      /* a new session ends there */
    CONVERSATION_REFS,      /* it stays as it is; git refs of its system's go back */
};

struct rewind_conversation {
    struct change *change; /* owned; NULL: the conversation stays as it is */
    enum conversation_change how;
    size_t kept;    /* messages that the conversation has afterwards */
    size_t dropped; /* messages that it has now, and then no more */
    /* of those kept, what it has not now: taking a rewind back brings messages back */
    size_t added;
};

/* Does the conversation itself go back? */
bool conversation_change_moves(enum conversation_change how);
/* "truncate", "resume-at", ... as CLI.md says. */
const char *conversation_change_name(enum conversation_change how);
void conversation_change_fini(struct rewind_conversation *t);

#endif
