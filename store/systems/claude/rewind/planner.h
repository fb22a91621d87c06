#ifndef STORE_SYSTEMS_CLAUDE_REWIND_PLANNER_H
#define STORE_SYSTEMS_CLAUDE_REWIND_PLANNER_H

#include <stdbool.h>

#include "lite/base/slice.h"
#include "store/api/store.h"
#include "store/rewind/plan/rewind.h"
#include "store/systems/claude/claude.h"
#include "store/systems/claude/rewind/file_history.h"

/* A session read once, from which checkpoints and plans are made (plan.c, checkpoints.c). */

/* The content that the session's own tools last wrote into a file, according to the results of its
 * edits since the newest snapshot that has the file. Nothing else records these bytes; if the file differs from them,
 * another program changed it. */
struct planner_write {
    const char *path; /* absolute, as the tool named it */
    size_t message;   /* the row of the result */
    bool known;       /* false: it was written, but the rows do not show what it became */
    bool fresh;       /* no write has been read yet */
    struct slice bytes;
};

struct planner {
    const struct claude *claude;
    const struct session_ref *ref;
    struct arena arena;
    struct transcript *transcript; /* owned */
    struct session_row *row;       /* owned */
    struct file_history history;
    struct slice_set tracked;    /* the absolute paths of the files of the history, by number */
    struct planner_write *write; /* in the arena */
    size_t writes;
    uint64_t replayed;        /* bytes that edits left, of all edits */
    struct slice_set written; /* the paths of `write`, numbered by index */
    const char *cwd;          /* NULL: the session does not record it */
    const char *root; /* the directory that the session's folder belongs to; NULL: not known */
    /* where the session began, if that is gone because its project moved to `cwd`; else NULL */
    const char *moved_from;
};

/* The caller closes the planner, also after a failure. */
MUST_CHECK enum err_code planner_open(struct planner *p, const struct store *st,
                                      const struct session_ref *ref, struct err *e);
void planner_close(struct planner *p);

/* The last write to an absolute path, or NULL. */
const struct planner_write *planner_last_write(const struct planner *p, const char *path);
/* The path of a saved copy; in the planner's arena, NULL if out of memory. */
const char *planner_backup(struct planner *p, const char *name);
/* Where a path that was recorded before the project moved is now; other paths stay. NULL if out of memory. */
const char *planner_present(struct planner *p, const char *path);
/* The path of a tracked file, which is recorded relative to the session's directory, or absolute. Links are not
 * followed, as in the client. */
const char *planner_path(struct planner *p, const char *tracked);
/* Counts the commands that ran in rows from .. to - 1. */
MUST_CHECK enum err_code planner_shell(struct planner *p, size_t from, size_t to, size_t *n,
                                       struct err *e);

/* The reason why a turn of which only deltas are left cannot be restored. */
extern const char planner_lost_turn[];

/* Finds other sessions of the project that changed files of a plan after its point, and records the newest of
 * them in each such target (rewind_target.other). Only sessions whose file is younger than the point are read,
 * and of those only the file-history rows; a session that cannot be read is skipped. */
MUST_CHECK enum err_code claude_concurrent_sessions(const struct store *st,
                                                    const struct session_ref *ref,
                                                    struct rewind_plan *plan, struct err *e);

#endif
