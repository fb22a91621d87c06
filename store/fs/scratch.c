#include "store/fs/scratch.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { KEPT = 8 };

/* Taking and giving are single exchanges of a slot; nobody waits. */
struct scratch_pool {
    _Atomic(struct scratch *) slot[KEPT];
};

struct scratch_pool *scratch_pool_new(void)
{
    struct scratch_pool *p = malloc(sizeof *p);

    for (size_t i = 0; p && i < KEPT; i++)
        atomic_init(&p->slot[i], NULL);
    return p;
}

static void scratch_free(struct scratch *s)
{
    if (!s)
        return;
    window_fini(&s->window);
    arena_fini(&s->arena);
    free(s);
}

void scratch_pool_free(struct scratch_pool *p)
{
    for (size_t i = 0; p && i < KEPT; i++)
        scratch_free(atomic_load(&p->slot[i]));
    free(p);
}

enum err_code scratch_acquire(struct scratch_pool *p, struct scratch **out, struct err *e)
{
    for (size_t i = 0; i < KEPT; i++) {
        struct scratch *s = atomic_exchange(&p->slot[i], NULL);

        if (s) {
            *out = s;
            return ERR_OK;
        }
    }
    struct scratch *s = calloc(1, sizeof *s);
    enum err_code rc = s ? window_init(&s->window, e) : err_nomem(e);

    if (rc)
        free(s);
    else
        *out = s;
    return rc;
}

void scratch_release(struct scratch_pool *p, struct scratch *s)
{
    window_close(&s->window);
    arena_reset(&s->arena);
    for (size_t i = 0; i < KEPT && s; i++) {
        struct scratch *empty = NULL;

        if (atomic_compare_exchange_strong(&p->slot[i], &empty, s))
            s = NULL;
    }
    scratch_free(s);
}
