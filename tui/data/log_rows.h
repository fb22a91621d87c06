#ifndef TUI_DATA_LOG_ROWS_H
#define TUI_DATA_LOG_ROWS_H

#include <stdbool.h>
#include <stdlib.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"

/* The operation log for the screen, or the part of it that going back to an entry would undo; newest first. Texts are
 * data and are in the arena. */
struct log_row {
    const char *id, *kind;
    struct slice text, title, dir;
    int64_t at_ms;
    size_t sessions;
    bool undone, is_undo;
    bool by_agent; /* only the agent can undo it */
    bool spans;    /* its sessions are of several directories */
};

struct log_rows {
    struct arena arena;
    struct log_row *row; /* in the arena */
    size_t n;
    size_t elsewhere; /* entries of other projects, which are not listed */
    /* A way back: the reason why it is not possible, and the row that it is about; ERR_OK: it is possible */
    struct err why;
    size_t at;
};

/* NULL is fine. */
static inline void log_rows_free(struct log_rows *r)
{
    if (!r)
        return;
    arena_fini(&r->arena);
    free(r);
}

#endif
