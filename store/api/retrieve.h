#ifndef STORE_API_RETRIEVE_H
#define STORE_API_RETRIEVE_H

#include <stdbool.h>
#include <stddef.h>

#include "lite/base/arena.h"
#include "lite/base/slice.h"

/* Systems that keep transcripts away from where an agent looks for them (Entire's lie in git) have to put one back
 * before the agent can go on with a session. A transcript of this machine that went on since is never overwritten
 * unless that is asked for; what was there is in the record of the change either way. */
enum retrieve_state {
    RETRIEVE_NEW,         /* there is none on this machine */
    RETRIEVE_UNCHANGED,   /* the one here says the same, or is the original of a redacted copy */
    RETRIEVE_NEWER,       /* the checkpoint went on further */
    RETRIEVE_LOCAL_NEWER, /* the one here did, or it cannot be told */
    RETRIEVE_NOT_OURS,    /* of an agent of which we do not know where it looks */
};

struct retrieve_request {
    /* a checkpoint: all of its sessions as they were then; empty: the newest of this session */
    struct slice at;
    bool overwrite; /* also what is newer here */
};

struct retrieve_item {
    struct slice session, agent;
    const char *path;   /* where the agent looks; NULL with RETRIEVE_NOT_OURS */
    const char *folder; /* has to be there before it is written */
    enum retrieve_state state;
    bool planned;  /* the change writes it */
    bool redacted; /* the copy went through Entire's redaction: it is not the original */
};

struct retrieved {
    struct arena arena; /* owns everything */
    struct retrieve_item *item;
    size_t n;
};

const char *retrieve_state_name(enum retrieve_state state);
void retrieved_fini(struct retrieved *r);

#endif
