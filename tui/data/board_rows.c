#include "tui/data/board_rows.h"

#include <stdlib.h>

#include "lite/base/cleanup.h"
#include "store/keep/keep.h"

enum err_code board_rows_read(struct store *const stores[], size_t n, const struct scope *scope,
                              const struct store_env *env, struct board_rows *out, struct err *e)
{
    struct store **own = calloc(n + 1, sizeof *own);
    size_t own_n = 0;

    NEED(own);
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

void board_rows_fini(struct board_rows *r)
{
    running_fini(&r->running);
    free(r->terminal);
    r->terminal = NULL;
}

void board_rows_free(struct board_rows *r)
{
    if (r)
        board_rows_fini(r);
    free(r);
}
