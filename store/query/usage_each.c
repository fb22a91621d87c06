#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/query/usage.h"

/* Sessions are read in a ring, as describe_pool.c describes them: slot i % RING has session i until it is handed over,
 * in order, on the calling thread. All counters are under the lock; a slot belongs to the thread that claimed it until
 * it is ready. */
enum { RING = 32, THREADS = 8 };

struct usage_slot {
    struct session_row *row;
    struct usage_list list;
    bool wanted, ready;
    enum err_code rc;
    struct err err;
};

struct usage_pool {
    const struct listing_query *q;
    const struct session_ref *const *order;
    size_t n;

    pthread_mutex_t lock;
    pthread_cond_t made, room;
    size_t claimed, handed;
    atomic_bool stop;
    struct usage_slot slot[RING];

    pthread_t thread[THREADS];
    size_t threads;
};

static bool is_counted(const struct listing_query *q, const struct session_row *row)
{
    bool shown = row->hidden == HIDDEN_NOT || row->hidden == HIDDEN_EMPTY ||
                 row->hidden == HIDDEN_SIDECHAIN || row->hidden == HIDDEN_CONTINUED ||
                 row->hidden == HIDDEN_DUPLICATE || row->hidden == HIDDEN_COMMAND;

    return shown && (!q->tag.n || slice_eq(q->tag, row->tag)) &&
           (!q->branch.n || slice_eq(q->branch, row->git_branch)) &&
           (!q->archived || (row->flags & SESSION_ARCHIVED));
}

/* A sub-agent's answers are counted in the session that it worked for, if that has them. */
static void leave_to_parent(struct usage_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        list->record[i].aside = list->record[i].copied = true;
}

static void read_session(struct usage_pool *p, size_t i)
{
    const struct session_ref *ref = p->order[i];
    const struct store_ops *ops = ref->store->ops;
    struct usage_slot *s = &p->slot[i % RING];

    s->wanted = false;
    s->rc = ops->usage ? ops->describe(ref->store, &p->q->scope, ref, s->row, &s->err) : ERR_OK;
    if (ops->usage && !s->rc && is_counted(p->q, s->row)) {
        s->rc = usage_list_read(ref, &p->stop, &s->list, &s->err);
        s->wanted = !s->rc;
        if (s->wanted && s->row->hidden == HIDDEN_SIDECHAIN)
            leave_to_parent(&s->list);
    }
}

static void *usage_worker(void *arg)
{
    struct usage_pool *p = arg;

    pthread_mutex_lock(&p->lock);
    while (!atomic_load(&p->stop) && p->claimed < p->n) {
        if (p->claimed >= p->handed + RING) {
            pthread_cond_wait(&p->room, &p->lock);
            continue;
        }
        size_t i = p->claimed++;

        pthread_mutex_unlock(&p->lock);
        read_session(p, i);
        pthread_mutex_lock(&p->lock);
        p->slot[i % RING].ready = true;
        pthread_cond_signal(&p->made);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static void await_session(struct usage_pool *p)
{
    pthread_mutex_lock(&p->lock);
    while (!p->slot[p->handed % RING].ready)
        pthread_cond_wait(&p->made, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

static void release_slot(struct usage_pool *p)
{
    struct usage_slot *s = &p->slot[p->handed % RING];

    if (s->wanted)
        usage_list_fini(&s->list);
    pthread_mutex_lock(&p->lock);
    s->ready = s->wanted = false;
    p->handed++;
    pthread_cond_broadcast(&p->room);
    pthread_mutex_unlock(&p->lock);
}

static enum err_code deliver_all(struct usage_pool *p, usage_session_fn *fn, unreadable_fn *trouble,
                                 void *arg, struct err *e)
{
    enum err_code rc = ERR_OK;

    while (!rc && p->handed < p->n) {
        struct usage_slot *s = &p->slot[p->handed % RING];

        await_session(p);
        if (s->rc == ERR_NOMEM)
            rc = err_nomem(e);
        else if (s->rc && s->rc != ERR_NOT_FOUND)
            trouble(&s->err, arg);
        else if (s->wanted)
            rc = fn(s->row, &s->list, arg, e);
        release_slot(p);
    }
    return rc;
}

static enum err_code start(struct usage_pool *p, struct err *e)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t want = cores < 1 ? 1 : cores > THREADS ? THREADS : (size_t)cores;

    for (size_t i = 0; i < RING && i < p->n; i++)
        if (!(p->slot[i].row = session_row_new()))
            return err_nomem(e);
    while (p->threads < want && p->threads < p->n &&
           pthread_create(&p->thread[p->threads], NULL, usage_worker, p) == 0)
        p->threads++;
    return p->threads || !p->n ? ERR_OK : err_set(e, ERR_IO, NULL, "no thread could be started");
}

static void stop(struct usage_pool *p)
{
    pthread_mutex_lock(&p->lock);
    atomic_store(&p->stop, true);
    pthread_cond_broadcast(&p->room);
    pthread_mutex_unlock(&p->lock);
    for (size_t i = 0; i < p->threads; i++)
        pthread_join(p->thread[i], NULL);
    for (size_t i = 0; i < RING; i++) {
        if (p->slot[i].wanted)
            usage_list_fini(&p->slot[i].list);
        session_row_free(p->slot[i].row);
    }
}

static enum err_code read_in_order(struct usage_pool *p, usage_session_fn *fn,
                                   unreadable_fn *trouble, void *arg, struct err *e)
{
    enum err_code rc;

    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->made, NULL);
    pthread_cond_init(&p->room, NULL);
    rc = start(p, e);
    if (!rc)
        rc = deliver_all(p, fn, trouble, arg, e);
    stop(p);
    pthread_cond_destroy(&p->room);
    pthread_cond_destroy(&p->made);
    pthread_mutex_destroy(&p->lock);
    return rc;
}

enum err_code usage_each(struct store *const stores[], size_t n, const struct listing_query *q,
                         usage_session_fn *fn, unreadable_fn *trouble, void *arg, struct err *e)
{
    struct listing *listing = NULL;
    struct usage_pool *p = calloc(1, sizeof *p);
    enum err_code rc = p ? listing_open(stores, n, q, &listing, e) : err_nomem(e);

    if (!rc) {
        p->q = q;
        p->order = listing_refs(listing, &p->n);
        rc = read_in_order(p, fn, trouble, arg, e);
    }
    listing_close(listing);
    free(p);
    return rc;
}
