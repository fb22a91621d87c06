#ifndef STORE_REWIND_TALK_H
#define STORE_REWIND_TALK_H

#include <stdbool.h>
#include <stddef.h>

#include "store/change/change.h"

/* The conversation's part of going back: a change (store/change/change.h) after which the conversation ends before the
 * prompt of the point. A system plans it (store_ops.plan_talk), the engine does it together with the files, and both are
 * one operation: they are there together or not at all, and one undo takes both back. */
enum talk_how {
    TALK_NONE,      /* nothing has to be done: it ends there already */
    TALK_TRUNCATE,  /* what came after is cut off; the undo record holds it */
    TALK_RESUME_AT, /* it stays where it is, and the session goes on from before it */
    TALK_FORK,      /* a new session ends there */
    TALK_REFS,      /* it stays as it is; git refs of its system's go back */
};

struct rewind_talk {
    struct change *change; /* owned; NULL: the conversation stays as it is */
    enum talk_how how;
    size_t kept;    /* messages that the conversation has afterwards */
    size_t dropped; /* messages that it has now, and then no more */
    /* of those kept, what it has not now: taking a rewind back brings messages back */
    size_t added;
};

/* Does the conversation itself go back? */
bool talk_moves(enum talk_how how);
/* "truncate", "resume-at", ... as CLI.md says. */
const char *talk_how_word(enum talk_how how);
void rewind_talk_fini(struct rewind_talk *t);

#endif
