#include <stdlib.h>

#include "tui/data/board_rows.h"
#include "tui/jobs/jobs.h"

/* The sessions that run now in the scope. */

enum err_code jobs_board(struct job_context *d, const struct effect *q, const struct reply *r,
                         struct err *e)
{
    struct board_rows *rows = calloc(1, sizeof *rows);
    struct scope scope = { 0 };
    enum err_code rc = rows ? jobs_scope(d, q->scope, &scope, e) : err_nomem(e);

    if (!rc)
        rc = board_rows_read(d->store, d->stores, &scope, d->env, rows, e);
    if (rc)
        free(rows);
    else
        jobs_post(r, q, (struct msg){ .kind = MSG_BOARD, .u.board = rows });
    return rc;
}
