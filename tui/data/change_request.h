#ifndef TUI_DATA_CHANGE_REQUEST_H
#define TUI_DATA_CHANGE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "tui/data/ref_list.h"

/* What can be changed from the screen, and the result: an effect carries the request to a worker, a
 * message brings the result back. A request is one change in the operation log, however many
 * sessions it concerns: it happens completely or not at all, and one undo reverts it. (Emptying the
 * trash, deleting from a store without a trash, and removing undo records are not logged and cannot be undone.) */
enum change_request {
    CHANGE_RENAME, /* text: the title */
    CHANGE_TAG,    /* text: the tag; empty removes it */
    CHANGE_PIN,
    CHANGE_UNPIN,
    CHANGE_ARCHIVE,
    CHANGE_UNARCHIVE,
    CHANGE_FORK, /* text: the title of the copy; names: the message it ends with, or "" for all of it */
    CHANGE_CONTINUE_IN, /* text: the other agent; empty: asks which ones there are */
    CHANGE_MOVE,   /* names: the directory that is gone, and where it is now; all sessions follow */
    CHANGE_BUNDLE, /* text: the path of the file; not logged, because nothing that exists changes */
    CHANGE_KEEP,   /* copies of the sessions; not logged, because nothing of them changes */
    CHANGE_PUT_BACK,  /* sessions of which only the copy is left */
    CHANGE_TRASH,     /* names: the titles, as the trash will show them */
    CHANGE_REMOVE,    /* deletes sessions of a team's store for good */
    CHANGE_RESUME_AT, /* names: one message */
    /* the newest change of the shown sessions. With text: the change with this id, about which the person was asked;
     * names: files that changed since and are restored anyway. */
    CHANGE_UNDO,
    CHANGE_REDO,
    CHANGE_BACK_TO, /* text: a change; it and all later ones of the shown sessions are undone */
    CHANGE_RESTORE, /* names: trash ids of the items to restore */
    CHANGE_JOIN,    /* names: one item; its rows are inserted before those written since */
    CHANGE_EMPTY,   /* names: trash ids of the items to remove for good */
    CHANGE_SWEEP,   /* sweep: its chosen items are moved to the trash */
    CHANGE_PRUNE,   /* the old undo records and snapshots that were counted are removed for good */
    CHANGE_FIX, /* one session: what the doctor can repair in it; each step is a separate change */
};

struct change_result {
    enum change_request request;
    /* code ERR_OK: done; otherwise nothing was changed (EMPTY, REMOVE: only a part) */
    struct err error;
    /* the title, tag, file or directory; UNDO, REDO: what was undone or redone; BACK_TO: how many changes; CONTINUE_IN,
     * MOVE, BUNDLE, with needs_confirmation: lines about what would be made */
    struct buf text;
    /* ids of the sessions that changed; none: they were like that already */
    struct name_list sessions;
    int64_t bytes;           /* TRASH, EMPTY, SWEEP, PRUNE */
    bool orphans;            /* SWEEP: not sessions, but what they left behind */
    size_t pruned;           /* PRUNE: undo records ... */
    size_t pruned_snapshots; /* ... and snapshots */
    size_t not_moved;        /* SWEEP: chosen, but could no longer be moved */
    size_t repaired, steps;  /* FIX: findings, and the number of undos that revert the repair */
    char copy[64]; /* FORK, CONTINUE_IN: the id of the new session; MOVE: the one to resume */
    /* CONTINUE_IN: those in which the session can be continued; MOVE: the two directories */
    struct name_list agents;
    /* UNDO, REDO, RESTORE, CONTINUE_IN, MOVE, BUNDLE, by_agent: nothing was done, because the person must be asked first */
    bool needs_confirmation;
    char id[64];             /* with needs_confirmation: the change in question, */
    char record[40];         /* the record made by undoing a rewind, */
    struct name_list edited; /* and the files that changed since */
    /* Only the agent can do it. With needs_confirmation, text is its command, and `where` the consequence. */
    bool by_agent;
    char where[200]; /* the directory it was done in */
    bool spans;      /* and in others */
};

static inline struct change_result *change_result_new(enum change_request request)
{
    struct change_result *c = calloc(1, sizeof *c);

    if (c)
        c->request = request;
    return c;
}

/* NULL is fine. */
static inline void change_result_free(struct change_result *c)
{
    if (!c)
        return;
    buf_fini(&c->text);
    name_list_fini(&c->sessions);
    name_list_fini(&c->edited);
    name_list_fini(&c->agents);
    free(c);
}

/* The numbers of a deletion, for the question that confirms it. */
struct delete_estimate {
    size_t n;           /* sessions that can be deleted */
    size_t unsure;      /* how many of those an agent may be writing to */
    size_t running;     /* sessions that stay because an agent has them open */
    size_t unsupported; /* or because their system does not support deletion */
    size_t partly;      /* sessions that can be deleted, except for a part that stays, */
    const char *stays;  /* namely this part, for one of them; a literal */
    int64_t bytes;      /* the size of everything that is deleted, side files included */
};

#endif
