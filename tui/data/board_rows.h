#ifndef TUI_DATA_BOARD_ROWS_H
#define TUI_DATA_BOARD_ROWS_H

#include <stdlib.h>

#include "store/proc/terminal.h"
#include "store/query/running.h"

/* The sessions that run now, each with its terminal. */
struct board_rows {
    struct running running;
    struct agent_terminal *terminal; /* owned; as many as rows */
};

static inline void board_rows_fini(struct board_rows *r)
{
    running_fini(&r->running);
    free(r->terminal);
    r->terminal = NULL;
}

/* NULL is fine. */
static inline void board_rows_free(struct board_rows *r)
{
    if (r)
        board_rows_fini(r);
    free(r);
}

#endif
