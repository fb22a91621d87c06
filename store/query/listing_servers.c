#include <stdlib.h>

#include "lite/base/array.h"
#include "lite/base/id.h"
#include "lite/base/time.h"
#include "store/query/listing_internal.h"

/* Servers are asked in threads of their own, all at the same time, so that those that do not answer cost one time-out
 * together, and what is on this machine can be shown meanwhile. */

struct listing_server {
    struct listing *all;   /* for whom it is asked */
    struct listing *found; /* what it has; owned */
    struct store *store;
    pthread_t thread;
    bool taken;
    bool answered; /* under the lock */
    enum err_code rc;
    struct err err;
};

static void *listing_ask_server(void *arg)
{
    struct listing_server *s = arg;

    s->rc = s->store->ops->enumerate(s->store, &s->found->q.scope, listing_collect_ref, s->found,
                                     &s->err);
    pthread_mutex_lock(&s->all->lock);
    s->answered = true;
    pthread_cond_signal(&s->all->answer);
    pthread_mutex_unlock(&s->all->lock);
    return NULL;
}

enum err_code listing_ask_servers(struct listing *l, struct store *const stores[], size_t n,
                                  struct err *e)
{
    l->server = calloc(n + 1, sizeof *l->server);
    NEED(l->server);
    for (size_t i = 0; i < n; i++) {
        struct listing_server *s = &l->server[l->servers];

        if (!stores[i]->ops->remote || !stores[i]->ops->enumerate)
            continue;
        *s = (struct listing_server){ .all = l, .store = stores[i], .found = calloc(1, sizeof *l) };
        NEED(s->found);
        s->found->q = l->q;
        s->found->ok = true;
        if (!l->q.scope.cancel)
            s->found->q.scope.cancel = &l->cancelled;
        int sys = pthread_create(&s->thread, NULL, listing_ask_server, s);

        if (sys) {
            free(s->found);
            return err_set(e, ERR_IO, "", "list sessions: cannot start a thread");
        }
        l->servers++;
    }
    return ERR_OK;
}

/* Adds what a server has, without the ids of `shown`. */
static enum err_code take_answer(struct listing *l, struct listing_server *s,
                                 const struct idset *shown, struct err *e)
{
    pthread_join(s->thread, NULL);
    s->taken = true;
    if (s->rc || !s->found->ok) {
        if (e)
            *e = s->err;
        return s->rc ? s->rc : err_nomem(e);
    }
    for (size_t i = 0; i < s->found->n; i++) {
        struct listing_found *f = &s->found->item[i];

        if (idset_find(shown, id128_of(f->ref.id)) != IDSET_NONE)
            continue;
        if (!array_reserve(l->item, l->cap, l->n + 1))
            return err_nomem(e);
        f->place = (uint32_t)l->n;
        l->item[l->n++] = *f;
    }
    return ERR_OK;
}

/* The server that is next in the order of the stores, so that the answers are always in the same order. */
enum err_code listing_await(struct listing *l, int64_t most_ms, const struct idset *shown,
                            struct err *e)
{
    const int64_t end_ms = time_clock_ms(CLOCK_REALTIME) + most_ms;
    const struct timespec until = { .tv_sec = end_ms / 1000, .tv_nsec = end_ms % 1000 * 1000000 };
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < l->servers && !rc; i++) {
        struct listing_server *s = &l->server[i];
        int late = 0;

        if (s->taken)
            continue;
        pthread_mutex_lock(&l->lock);
        while (!s->answered && !late)
            late = most_ms < 0 ? pthread_cond_wait(&l->answer, &l->lock)
                               : pthread_cond_timedwait(&l->answer, &l->lock, &until);
        bool answered = s->answered;

        pthread_mutex_unlock(&l->lock);
        if (answered)
            rc = take_answer(l, s, shown, e);
    }
    return rc;
}

enum err_code listing_late(struct listing *l, bool *more, struct err *e)
{
    struct idset shown = { 0 };
    enum err_code rc = ERR_OK;
    bool waits = false;
    uint32_t number;

    *more = false;
    for (size_t i = 0; i < l->servers; i++)
        waits |= !l->server[i].taken;
    if (!waits)
        return ERR_OK;
    for (size_t i = 0; i < l->n && !rc; i++)
        rc = idset_add(&shown, id128_of(l->item[i].ref.id), &number) ? err_nomem(e) : ERR_OK;
    l->n = 0;
    if (!rc)
        rc = listing_await(l, -1, &shown, e);
    idset_fini(&shown);
    if (!rc && !listing_put_in_order(l))
        rc = err_nomem(e);
    *more = !rc && l->n > 0;
    return rc;
}

void listing_servers_free(struct listing *l)
{
    atomic_store(&l->cancelled, true);
    for (size_t i = 0; i < l->servers; i++) {
        struct listing_server *s = &l->server[i];

        if (!s->taken)
            pthread_join(s->thread, NULL);
        free(s->found->item);
        arena_fini(&s->found->arena);
        free(s->found);
    }
    free(l->server);
    pthread_cond_destroy(&l->answer);
    pthread_mutex_destroy(&l->lock);
}
