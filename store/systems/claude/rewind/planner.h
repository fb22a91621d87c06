#ifndef STORE_SYSTEMS_CLAUDE_REWIND_PLANNER_H
#define STORE_SYSTEMS_CLAUDE_REWIND_PLANNER_H

#include "store/rewind/plan/rewind.h"
#include "store/systems/claude/rewind/file_history.h"
#include "store/systems/claude/rewind/lastwrite.h"

/* What points and plans are made of: a session read once. Private to plan.c and checkpoints.c. */
struct planner {
    const struct claude *claude;
    const struct session_ref *ref;
    struct arena arena;
    struct transcript *transcript; /* owned */
    struct session_row *row;       /* owned */
    struct file_history history;
    struct lastwrites writes; /* since the newest snapshot */
    const char *cwd;          /* NULL: the session does not say */
    const char *root; /* the directory that the session's folder stands for; NULL: not known */
};

MUST_CHECK enum err_code planner_open(struct planner *p, const struct store *st,
                                      const struct session_ref *ref, struct err *e);
void planner_close(struct planner *p);

/* Where a saved copy lies; in the planner's arena, NULL without memory. */
const char *planner_backup(struct planner *p, const char *name);
/* Where a tracked file lies. The path is relative to the session's directory, or absolute; links are not looked at, as in
 * the client. */
const char *planner_path(struct planner *p, const char *tracked);
/* Counts the commands that ran in rows from .. to - 1. */
MUST_CHECK enum err_code planner_shell(struct planner *p, size_t from, size_t to, size_t *n,
                                       struct err *e);

/* Why nobody can go back to a turn of which only deltas are there. */
extern const char planner_lost_turn[];

#endif
