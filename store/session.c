#include "store/session.h"

#include <stdlib.h>

struct session_row *session_row_new(void)
{
    struct session_row *row = calloc(1, sizeof *row);

    if (row)
        row->created_ms = row->modified_ms = row->activity_ms = TIME_NONE;
    return row;
}

void session_row_free(struct session_row *row)
{
    if (!row)
        return;
    arena_fini(&row->arena);
    free(row);
}
