#ifndef STORE_API_CHECKPOINT_H
#define STORE_API_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/slice.h"
#include "lite/json/jsonout.h"

/* The points of a session that a rewind can go back to. */
enum checkpoint_kind {
    CHECKPOINT_TURN,        /* before a prompt was answered */
    CHECKPOINT_TASK,        /* before a sub-agent's task */
    CHECKPOINT_COMMIT,      /* tied to a git commit */
    CHECKPOINT_SESSION_END, /* the files when the session ended */
};

struct checkpoint {
    struct slice id;      /* the id that a rewind names */
    struct slice message; /* the message it belongs to; may be empty */
    struct slice prompt;  /* WTF-8, whole; may be empty */
    int64_t time_ms;
    enum checkpoint_kind kind;
    size_t files; /* files that changed from here to the next point */
    /* the state is that after the prompt was answered; in most systems it is that before */
    bool after;
    /* The turn belongs to another session; this one is a fork with a copy of it. */
    bool copied;
    /* Snapshots show what changed from here to the next point (store/rewind/plan/by_snapshots.h). */
    bool snapped;
    bool shell;   /* commands ran between here and the next point; their changes are not covered */
    bool counted; /* the lines that changed from here to the next point were counted */
    unsigned insertions, deletions;
    /* How many of `files` were deleted, as far as copies tell it. Counted with the lines. */
    unsigned removed;
    const char *why;     /* the reason why it cannot be restored; NULL: it can */
    struct slice record; /* the system's own record of it, one JSON object; may be empty */
};

struct checkpoint_list {
    struct arena arena;            /* owns everything */
    struct checkpoint *checkpoint; /* oldest first */
    size_t n;
    const char *incomplete; /* why points may be missing, a literal; NULL: all are listed */
};

/* Where a checkpoint comes from, for systems that keep theirs beside the user's commits: the
 * sessions in it, and the commits that name it. */
struct checkpoint_commit {
    struct slice id; /* 40 hex digits */
    struct slice subject;
    int64_t time_ms;
};

struct checkpoint_part {
    struct slice session;
    struct slice agent;  /* may be empty, as all below */
    struct slice prompt; /* the last one of the checkpoint */
    struct slice record; /* the system's own metadata, one JSON object */
};

struct checkpoint_origin {
    struct slice id;
    const struct checkpoint_part *part;
    size_t parts; /* 0: a commit names the checkpoint, which does not exist here */
    const struct checkpoint_commit *commit; /* newest first */
    size_t commits;
};

struct checkpoint_origins {
    struct arena arena; /* owns everything */
    struct checkpoint_origin *origin;
    size_t n;
};

/* Writes an object: the checkpoint, its sessions and its commits. */
void checkpoint_origin_json(struct jsonout *j, const struct checkpoint_origin *origin);

static inline void checkpoint_origins_fini(struct checkpoint_origins *o)
{
    arena_fini(&o->arena);
    *o = (struct checkpoint_origins){ .n = 0 };
}

static inline void checkpoint_list_fini(struct checkpoint_list *list)
{
    arena_fini(&list->arena);
    *list = (struct checkpoint_list){ 0 };
}

#endif
