#ifndef STORE_JOURNAL_APPEND_ROWS_H
#define STORE_JOURNAL_APPEND_ROWS_H

#include "lite/base/arena.h"
#include "lite/base/buf.h"
#include "store/api/env.h"

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
