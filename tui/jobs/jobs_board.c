#include <stdlib.h>

#include "store/keep/keep.h"
#include "tui/data/board_rows.h"
#include "tui/jobs/jobs.h"

/* The sessions that run now, without the copies that are kept. */

enum err_code jobs_board_read(struct store *const stores[], size_t n, const struct scope *scope,
                              const struct store_env *env, struct board_rows *out, struct err *e)
{
    struct store **own = calloc(n + 1, sizeof *own);
    size_t own_n = 0;

    if (!own)
        return err_nomem(e);
    for (size_t i = 0; i < n; i++)
        if (!keep_store_is(stores[i]))
            own[own_n++] = stores[i];
    *out = (struct board_rows){ 0 };
    enum err_code rc = running_read(own, own_n, scope, &out->running, e);

    free(own);
    if (rc)
        return rc;
    out->terminal = calloc(out->running.n + 1, sizeof *out->terminal);
    if (!out->terminal) {
        board_rows_fini(out);
        return err_nomem(e);
    }
    for (size_t i = 0; i < out->running.n; i++)
        terminal_find(env, out->running.row[i]->live_pid, &out->terminal[i]);
    return ERR_OK;
}

enum err_code jobs_board(struct job_context *d, const struct effect *q, const struct reply *r,
                         struct err *e)
{
    struct board_rows *rows = calloc(1, sizeof *rows);
    struct scope scope = { 0 };
    enum err_code rc = rows ? jobs_scope(d, q->scope, &scope, e) : err_nomem(e);

    if (!rc)
        rc = jobs_board_read(d->store, d->stores, &scope, d->env, rows, e);
    if (rc) {
        free(rows);
        return rc;
    }
    jobs_post(r, q, (struct msg){ .kind = MSG_BOARD, .u.board = rows });
    return ERR_OK;
}
