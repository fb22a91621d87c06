#ifndef STORE_SYSTEMS_CLAUDE_FORK_FORK_VIEW_H
#define STORE_SYSTEMS_CLAUDE_FORK_FORK_VIEW_H

#include "store/systems/claude/fork/fork.h"

/* A view of the source's log while fork_cut.c determines which rows a fork up to a message leaves
 * out; lines that are left out cannot be read in it. */
struct fork_view {
    struct fork *f;
    struct claude_log log; /* shares the open file */
    struct id128 asked;    /* of the requested row */
    size_t end;            /* line of the last row */
};

/* Call fork_view_close even if this fails. */
MUST_CHECK enum err_code fork_view_open(struct fork_view *c, struct err *e);
void fork_view_close(struct fork_view *c);
/* Returns true if the line is a row of the conversation that has an id and is not left out. */
bool fork_view_has(const struct fork_view *c, size_t line);
void fork_view_leave_out(struct fork_view *c, size_t line);

/* The conversation that a reader of the view would show. */
struct fork_shown {
    struct id128 *id; /* owned; in its order */
    size_t n;
    /* The row without followers that leads to the last message; the empty id if no such row
     * exists. */
    struct id128 terminal;
};
MUST_CHECK enum err_code fork_view_shown(struct fork_view *c, struct fork_shown *out,
                                         struct err *e);

/* A compaction, or a rewind of the conversation by a person, which is written in the same way. */
struct fork_boundary {
    bool is;
    bool going_back;     /* has no duration and is its own anchor */
    struct id128 anchor; /* the kept rows follow this one */
    struct id128 *kept;  /* in the view's arena */
    size_t n;
};
MUST_CHECK enum err_code fork_boundary_read(struct fork_view *c, size_t line,
                                            struct fork_boundary *b, struct err *e);
bool fork_boundary_keeps(const struct fork_boundary *b, struct id128 id);

#endif
