#include "store/crew.h"

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <time.h>

/* Rows are made in a ring of places: place i % RING holds row i until it was handed over.
 *
 *   handed <= i < claimed: somebody makes row i, or it is ready;  claimed <= handed + ahead <= handed + RING
 *
 * All counters are under the lock; the rows themselves belong to whoever claimed them until ready. */
enum {
    RING = CREW_AHEAD,
    BATCH = 16, /* rows claimed at once, so that the lock is seldom taken */
    FEW = 2,
    MANY = 8,
    SLOW_US = 150, /* a row from memory takes a tenth of this */
    STACK_BYTES = 256 * 1024,
};

struct place {
    struct session_row *row;
    enum err_code rc;
    struct err err;
    bool ready;
};

struct crew {
    const struct scope *scope;
    const struct session_ref *const *order;
    size_t n, ahead;

    pthread_mutex_t lock;
    pthread_cond_t row_ready, room;
    size_t claimed, handed;
    bool stop, slow;
    struct place place[RING];

    pthread_t thread[MANY];
    size_t threads;
};

static int64_t now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void make_row(struct crew *c, size_t i)
{
    const struct session_ref *ref = c->order[i];
    struct place *p = &c->place[i % RING];

    p->rc = ref->store->ops->describe(ref->store, c->scope, ref, p->row, &p->err);
}

/* Claims the next rows; none when all are claimed or the work is over. Waits for room. */
static size_t claim(struct crew *c, size_t *first)
{
    size_t count = 0;

    pthread_mutex_lock(&c->lock);
    while (!c->stop && c->claimed < c->n && c->claimed >= c->handed + c->ahead)
        pthread_cond_wait(&c->room, &c->lock);
    if (!c->stop && c->claimed < c->n) {
        count = c->handed + c->ahead - c->claimed;
        if (count > c->n - c->claimed)
            count = c->n - c->claimed;
        if (count > BATCH)
            count = BATCH;
        *first = c->claimed;
        c->claimed += count;
    }
    pthread_mutex_unlock(&c->lock);
    return count;
}

static void report(struct crew *c, size_t first, size_t count, bool slow)
{
    pthread_mutex_lock(&c->lock);
    for (size_t i = 0; i < count; i++)
        c->place[(first + i) % RING].ready = true;
    c->slow |= slow;
    pthread_cond_signal(&c->row_ready);
    pthread_mutex_unlock(&c->lock);
}

static void *work(void *arg)
{
    struct crew *c = arg;
    size_t first, count;

    while ((count = claim(c, &first))) {
        int64_t began = now_us();

        for (size_t i = 0; i < count; i++)
            make_row(c, first + i);
        report(c, first, count, now_us() - began > (int64_t)count * SLOW_US);
    }
    return NULL;
}

/* As many threads as can be had; without any the caller does the work itself. */
static void start_threads(struct crew *c, size_t want)
{
    pthread_attr_t attr;

    if (pthread_attr_init(&attr) != 0)
        return;
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    while (c->threads < want && pthread_create(&c->thread[c->threads], &attr, work, c) == 0)
        c->threads++;
    pthread_attr_destroy(&attr);
}

static void stop_threads(struct crew *c)
{
    pthread_mutex_lock(&c->lock);
    c->stop = true;
    pthread_cond_broadcast(&c->room);
    pthread_mutex_unlock(&c->lock);
    for (size_t i = 0; i < c->threads; i++)
        pthread_join(c->thread[i], NULL);
}

static void await(struct crew *c, size_t i)
{
    bool slow;

    if (!c->threads) {
        make_row(c, i);
        return;
    }
    pthread_mutex_lock(&c->lock);
    while (!c->place[i % RING].ready)
        pthread_cond_wait(&c->row_ready, &c->lock);
    slow = c->slow;
    pthread_mutex_unlock(&c->lock);
    if (slow && c->threads < MANY)
        start_threads(c, MANY);
}

static void hand_back(struct crew *c, size_t i)
{
    pthread_mutex_lock(&c->lock);
    c->place[i % RING].ready = false;
    c->handed = i + 1;
    if (c->handed % BATCH == 0 || c->ahead < 2 * BATCH)
        pthread_cond_broadcast(&c->room);
    pthread_mutex_unlock(&c->lock);
}

static enum err_code hand_over(struct crew *c, size_t i, crew_row_fn *fn, void *arg, struct err *e)
{
    struct place *p = &c->place[i % RING];

    await(c, i);
    if (p->rc == ERR_NOMEM) {
        if (e)
            *e = p->err;
        return p->rc;
    }
    enum err_code rc = fn(i, p->rc ? NULL : p->row, arg, e);

    hand_back(c, i);
    return rc;
}

static bool make_places(struct crew *c)
{
    for (size_t i = 0; i < RING && i < c->n; i++) {
        c->place[i].row = session_row_new();
        if (!c->place[i].row)
            return false;
    }
    return true;
}

static void init(struct crew *c)
{
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->row_ready, NULL);
    pthread_cond_init(&c->room, NULL);
}

static void fini(struct crew *c)
{
    pthread_cond_destroy(&c->room);
    pthread_cond_destroy(&c->row_ready);
    pthread_mutex_destroy(&c->lock);
    for (size_t i = 0; i < RING; i++)
        session_row_free(c->place[i].row);
}

enum err_code crew_describe(const struct scope *scope, const struct session_ref *const order[],
                            size_t n, size_t ahead, crew_row_fn *fn, void *arg, struct err *e)
{
    struct crew c = { .scope = scope, .order = order, .n = n, .ahead = ahead };
    enum err_code rc = ERR_OK;

    if (c.ahead > RING)
        c.ahead = RING;
    if (c.ahead < 1)
        c.ahead = 1;
    init(&c);
    if (make_places(&c)) {
        /* One row is made faster than a thread. */
        if (n > 1 && c.ahead > 1)
            start_threads(&c, FEW);
        for (size_t i = 0; !rc && i < n; i++)
            rc = hand_over(&c, i, fn, arg, e);
        stop_threads(&c);
    } else {
        rc = err_set(e, ERR_NOMEM, "", "list sessions");
    }
    fini(&c);
    return rc;
}
