#ifndef STORE_FS_SCRATCH_H
#define STORE_FS_SCRATCH_H

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/io/window.h"

/* What a describe needs and does not keep: two windows and an arena, a good 128 KiB. A store keeps as
 * many as threads were ever describing at once, so that a row costs no large allocation. */
struct scratch {
    struct window window;
    struct arena arena;
};

struct scratch_pool;

struct scratch_pool *scratch_pool_new(void);    /* NULL without memory */
void scratch_pool_free(struct scratch_pool *p); /* every scratch has to be back; NULL is fine */

/* One for this thread alone. */
MUST_CHECK enum err_code scratch_acquire(struct scratch_pool *p, struct scratch **out,
                                         struct err *e);
void scratch_release(struct scratch_pool *p, struct scratch *s);

#endif
