#ifndef TUI_DATA_BOARD_ROWS_H
#define TUI_DATA_BOARD_ROWS_H

#include "store/proc/terminal.h"
#include "store/query/running.h"

/* The sessions that run now, each with its terminal. */
struct board_rows {
    struct running running;
    struct agent_terminal *terminal; /* owned; as many as rows */
};

/* Reads them, without the copies of sessions that are kept. board_rows_fini frees *out. */
MUST_CHECK enum err_code board_rows_read(struct store *const stores[], size_t n,
                                         const struct scope *scope, const struct store_env *env,
                                         struct board_rows *out, struct err *e);
void board_rows_fini(struct board_rows *r);
void board_rows_free(struct board_rows *r); /* NULL is fine */

#endif
