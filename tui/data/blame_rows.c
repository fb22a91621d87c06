#include "tui/data/blame_rows.h"

#include <stdlib.h>

void blame_rows_free(struct blame_rows *r)
{
    if (!r)
        return;
    ref_list_free(r->refs);
    arena_fini(&r->arena);
    free(r);
}
