#ifndef STORE_API_CHECKPOINT_H
#define STORE_API_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/slice.h"

/* The points of a session that a rewind can go back to. */
enum checkpoint_kind {
    CHECKPOINT_TURN,        /* before a prompt was answered */
    CHECKPOINT_TASK,        /* before a sub-agent's task */
    CHECKPOINT_COMMIT,      /* tied to a git commit */
    CHECKPOINT_SESSION_END, /* the files when the session ended */
};

struct checkpoint {
    struct slice id;      /* named by a rewind */
    struct slice message; /* the message it belongs to; may be empty */
    struct slice prompt;  /* WTF-8, whole; may be empty */
    int64_t time_ms;
    enum checkpoint_kind kind;
    size_t files; /* files that changed from here to the next point */
    /* the state after the prompt was answered; else, as in most systems, before it */
    bool after;
    bool shell;   /* commands ran between here and the next: their changes are not covered */
    bool counted; /* the lines that changed from here to the next point were counted: */
    unsigned insertions, deletions;
    const char *why;     /* the reason why it cannot be restored; NULL: it can */
    struct slice record; /* the system's own record of it, one JSON object; may be empty */
};

struct checkpoint_list {
    struct arena arena;            /* owns everything */
    struct checkpoint *checkpoint; /* oldest first */
    size_t n;
    const char *incomplete; /* why points may be missing, a literal; NULL: all are listed */
};

static inline void checkpoint_list_fini(struct checkpoint_list *list)
{
    arena_fini(&list->arena);
    *list = (struct checkpoint_list){ 0 };
}

#endif
