#ifndef STORE_JOURNAL_APPEND_JOURNAL_H
#define STORE_JOURNAL_APPEND_JOURNAL_H

#include "lite/base/arena.h"
#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "store/api/env.h"
#include "store/log/append.h"

/* What a host appends is no change that can be undone, but it is whole or not there, even where the program is killed in
 * the middle of its one write: the kernel then leaves a part of it. So it is written down first.
 *
 *   <state>/appends/         flock: shared by those who append, alone by who ends what a crash left
 *   <state>/appends/<name>/  an append under way: a record (store/journal/change_internal.h) of one step
 *
 * The next append, and the next change, end what a crash left: a part is cut off, or becomes a blank line where a program
 * has the log open. Where there is no place for our state, nothing is written down. */

/* log_append_with, written down first. What a crash left of an append to this log is ended before compose looks at it. */
MUST_CHECK enum err_code journal_append(const struct store_env *env, const char *path,
                                        unsigned flags, log_compose_fn *compose, void *arg,
                                        struct err *e);
/* Ends what crashes left, where nobody appends at this moment. What cannot be ended yet waits for the next time. */
void journal_recover(const struct store_env *env);

/* Rows of a host for a log in which no row depends on the one before: their lines are made first, and those that the log
 * has already are left out when it is their turn. */
struct append_rows_item {
    struct slice id;
    bool drawn; /* the id is new: nobody can have written the row before */
    size_t end; /* of its line in `lines` */
};

struct append_rows {
    struct append_rows_item *row; /* in the arena */
    size_t n;
    struct buf lines; /* owned */
    size_t present;   /* rows that were left out, once they are written */
};

MUST_CHECK enum err_code append_rows_write(const struct store_env *env, const char *path,
                                           struct append_rows *rows, struct arena *a,
                                           struct err *e);
/* Their ids, in the arena; NULL without memory. */
struct slice *append_rows_ids(const struct append_rows *rows, struct arena *a);

#endif
