#ifndef STORE_SYSTEMS_CLAUDE_FORK_FORK_CUT_H
#define STORE_SYSTEMS_CLAUDE_FORK_FORK_CUT_H

#include "store/systems/claude/fork/fork.h"

/* A fork that ends at a message (fork_cut.c, fork_end.c). Everything is asked of a view of the log in which the lines
 * that are left out cannot be read. */
struct fork_cut {
    struct fork *f;
    struct claude_log view; /* shares the open file */
    struct id128 asked;     /* of the row that was asked for */
    size_t end;             /* line of the last row */
};

/* A row with an id that is not left out. */
bool fork_cut_has(const struct fork_cut *c, size_t line);
void fork_cut_leave_out(struct fork_cut *c, size_t line);

/* The conversation that a reader of the view would show: ids in its order, owned by the caller. *terminal: the row
 * without followers whose message it ends with; none where there is no such row. */
struct fork_shown {
    struct id128 *id;
    size_t n;
    struct id128 terminal;
};
MUST_CHECK enum err_code fork_cut_shown(struct fork_cut *c, struct fork_shown *out, struct err *e);

/* A compaction, or a person's going back, which is written the same way. */
struct fork_boundary {
    bool is;
    bool going_back;     /* takes no time and hangs on itself */
    struct id128 anchor; /* behind which row the kept ones come */
    struct id128 *kept;  /* in the view's arena */
    size_t n;
};
MUST_CHECK enum err_code fork_boundary_read(struct fork_cut *c, size_t line,
                                            struct fork_boundary *b, struct err *e);
bool fork_boundary_keeps(const struct fork_boundary *b, struct id128 id);

/* fork_end.c: leaves out what would make a reader of the copy end elsewhere. */
MUST_CHECK enum err_code fork_end(struct fork_cut *c, struct err *e);

#endif
