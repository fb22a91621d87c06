#ifndef STORE_JOURNAL_APPEND_JOURNAL_H
#define STORE_JOURNAL_APPEND_JOURNAL_H

#include "lite/base/arena.h"
#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "store/api/env.h"
#include "store/api/host.h"
#include "store/log/append.h"

/* An append by a host is not a change that can be undone, but it is atomic even if the program is killed during its one
 * write (of which the kernel then leaves a part). So it is recorded first.
 *
 *   <state>/appends/         flock: shared by appends, exclusive while leftovers of a crash are removed
 *   <state>/appends/<name>/  an append under way: a change record (docs/formats/own.md) of one step
 *
 * The next append and the next change remove the leftovers of a crash: a partial append is cut off, or becomes a blank
 * line if a program has the log open. Without a state directory nothing is recorded.
 *
 * An append with APPEND_LATER is recorded without syncing anything (<name> begins with 1 instead of 0): the record
 * survives a kill, but perhaps not a power cut, which may then leave a part of rows that were not synced either. */

/* log_append_with, recorded first; out may be NULL. If a crash cut an append to this log short, its bytes are
 * removed before compose is called. */
MUST_CHECK enum err_code journal_append(const struct store_env *env, const char *path,
                                        unsigned flags, log_compose_fn *compose, void *arg,
                                        struct appended *out, struct err *e);
/* Removes what crashes left, if no append is running. Leftovers that cannot be removed yet are left for the next
 * time. */
void journal_recover(const struct store_env *env);

struct host_append;

/* Rows of a host for a log in which no row depends on the preceding one. Their lines are made before the log is locked;
 * those that are in the log already are then left out. */
struct append_rows_item {
    struct slice id;
    bool drawn; /* the id is new, so the log cannot have the row */
    size_t end; /* the end of its line in `lines` */
};

struct append_rows {
    const struct host_append *req; /* borrowed */
    struct append_rows_item *row;  /* in the arena */
    size_t n;
    struct buf lines; /* owned */
    size_t present;   /* rows that were left out, known once the rows are written */
};

/* Makes the line of one row of the request: adds it to out, and sets id and drawn. */
typedef enum err_code append_row_fn(struct slice row, struct append_rows_item *made,
                                    struct buf *out, void *arg, struct err *e);
/* Makes the lines of all rows. Release rows->lines after a failure too. */
MUST_CHECK enum err_code append_rows_make(struct append_rows *rows, const struct host_append *req,
                                          append_row_fn *fn, void *arg, struct arena *a,
                                          struct err *e);
/* Writes them, and fills in the result. */
MUST_CHECK enum err_code append_rows_write(const struct store_env *env, const char *path,
                                           struct append_rows *rows, struct arena *a,
                                           struct host_appended *out, struct err *e);

#endif
