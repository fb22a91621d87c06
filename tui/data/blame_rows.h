#ifndef TUI_DATA_BLAME_ROWS_H
#define TUI_DATA_BLAME_ROWS_H

#include <stdlib.h>

#include "lite/base/id.h"
#include "lite/base/slice.h"
#include "lite/base/time.h"
#include "tui/data/ref_list.h"

/* Who changed a file, for the screen: its sessions and turns, or its lines with the turn that wrote
 * each. */
struct blame_row {
    uint32_t ref;         /* index of the session; BLAME_ROW_NONE: no session wrote the line */
    struct id128 turn;    /* the prompt's message; none: unknown */
    struct slice prompt;  /* its first line; in the arena, as all texts */
    struct slice session; /* its id */
    int64_t time_ms;
    uint64_t added, removed; /* lines that a turn added and removed */
    const char *did;         /* what a turn did, for example "edited"; a literal */
    struct slice text;       /* the text of a line */
};

#define BLAME_ROW_NONE UINT32_MAX

struct blame_rows {
    struct arena arena;
    bool by_line;
    struct blame_row *row; /* in the arena */
    size_t n;
    struct ref_list *refs; /* owned */
    const char *stopped;   /* why some edits were not replayed; a literal; NULL: all were */
};

/* NULL is fine. */
static inline void blame_rows_free(struct blame_rows *r)
{
    if (!r)
        return;
    ref_list_free(r->refs);
    arena_fini(&r->arena);
    free(r);
}

#endif
