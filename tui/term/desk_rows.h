#ifndef TUI_TERM_DESK_ROWS_H
#define TUI_TERM_DESK_ROWS_H

#include "tui/term/desk.h"

/* The desk's answers to questions about rows of the list. */

enum { DESCRIBE_PIECE = 64 }; /* rows described between two looks at what is more urgent */

/* EFFECT_DESCRIBE, one piece of it */
MUST_CHECK enum err_code desk_describe(struct desk *d, const struct effect *q, size_t piece,
                                       const struct reply *r, struct err *e);
/* EFFECT_WEIGHTS */
MUST_CHECK enum err_code desk_weigh_rows(const struct effect *q, const struct reply *r,
                                         struct err *e);
/* EFFECT_DEEP: a row a piece */
MUST_CHECK enum err_code desk_look_deep(struct desk *d, const struct effect *q, size_t piece,
                                        const struct reply *r, struct err *e);
/* EFFECT_TRASH */
MUST_CHECK enum err_code desk_trash(const struct desk *d, const struct effect *q,
                                    const struct reply *r, struct err *e);

#endif
