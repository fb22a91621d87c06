#include "store/query/listing.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "store/api/store.h"
#include "store/proc/live.h"

/* Rows are made in a ring: slot i % RING contains row i until it is handed over.
 *
 *   handed <= i < claimed: row i is being made, or is ready
 *   claimed <= handed + ahead <= handed + RING
 *
 * The caller hands the rows over, and makes rows itself while the next one is not ready. So with
 * the files in memory no thread ever waits, and there are no more threads than cores for them.
 *
 * All counters are under the lock; a row itself belongs to the thread that claimed it until it is
 * ready. Rows are claimed many at a time, so that the lock is rarely taken and no clock is read for a
 * single row. */
enum {
    RING = DESCRIBE_POOL_AHEAD,
    FEW = 4,    /* rows claimed at once at first, and while reading is slow: all threads get work */
    BATCH = 32, /* at most, when the rows before were made fast */
    HELPERS = 1, /* beside the caller */
    MANY = 8,
    SLOW_US = 150, /* a row of a cached file takes a tenth of this */
    STACK_BYTES = 256 * 1024,
};

struct pool_slot {
    struct session_row *row;
    enum err_code rc;
    struct err err;
    bool ready;
};

/* Reading is slow if rows take long because their thread waits, and not because it was preempted, which more threads would
 * make worse. The clock costs nothing, so it comes first; how often a thread waited is a system call, and is asked only
 * for the rows after some that took long. */
enum speed { FAST, DOUBTFUL, SLOW };

struct describe_pool {
    const struct scope *scope;
    struct live_table hosts; /* read once; constant */
    const struct session_ref *const *order;
    size_t n, ahead;

    pthread_mutex_t lock;
    pthread_cond_t row_ready, room;
    size_t claimed, handed, batch;
    bool stop;
    enum speed speed;
    struct pool_slot place[RING];

    pthread_t thread[MANY];
    size_t threads;
};

static int64_t clock_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* How often this thread could only wait. */
static long times_waited(void)
{
    struct rusage usage = { 0 };

    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
}

/* Rows that one thread makes. */
struct claim {
    size_t first, count;
    bool doubtful; /* whether reading is slow is to be found out */
};

/* Claims the next rows that fit in the ring. Called with the lock held. */
static struct claim claim_next(struct describe_pool *c)
{
    struct claim claim = { c->claimed, c->handed + c->ahead - c->claimed, c->speed == DOUBTFUL };

    if (claim.count > c->n - c->claimed)
        claim.count = c->n - c->claimed;
    if (claim.count > c->batch)
        claim.count = c->batch;
    c->claimed += claim.count;
    return claim;
}

/* Makes the rows of a claim. Called without the lock. */
static void describe_claim(struct describe_pool *c, struct claim claim)
{
    const int64_t began = clock_us();
    const long waited = claim.doubtful ? times_waited() : 0;

    for (size_t i = claim.first; i < claim.first + claim.count; i++) {
        const struct session_ref *ref = c->order[i];
        struct pool_slot *p = &c->place[i % RING];

        p->rc = ref->store->ops->describe(ref->store, c->scope, ref, p->row, &p->err);
        if (!p->rc)
            store_admit_row(p->row, c->scope);
        if (!p->rc && !live_show_host(&c->hosts, p->row))
            p->rc = err_nomem(&p->err);
    }

    const bool long_time = clock_us() - began > (int64_t)claim.count * SLOW_US;
    const bool waits = claim.doubtful && times_waited() - waited >= (long)claim.count;

    pthread_mutex_lock(&c->lock);
    for (size_t i = claim.first; i < claim.first + claim.count; i++)
        c->place[i % RING].ready = true;

    /* A pool that was found slow stays slow. */
    if (c->speed != SLOW && !long_time) {
        c->speed = FAST;
        c->batch = c->batch * 2 < BATCH ? c->batch * 2 : BATCH;
    } else {
        c->speed = waits || c->speed == SLOW ? SLOW : DOUBTFUL;
        c->batch = FEW;
    }
    pthread_cond_signal(&c->row_ready);
    pthread_mutex_unlock(&c->lock);
}

/* Makes rows whenever the ring has space, until all are claimed or the work is over. */
static void *pool_worker(void *arg)
{
    struct describe_pool *c = arg;

    for (;;) {
        struct claim claim = { 0 };

        pthread_mutex_lock(&c->lock);
        while (!c->stop && c->claimed < c->n && c->claimed >= c->handed + c->ahead)
            pthread_cond_wait(&c->room, &c->lock);
        if (!c->stop)
            claim = claim_next(c);
        pthread_mutex_unlock(&c->lock);
        if (!claim.count)
            return NULL;
        describe_claim(c, claim);
    }
}

/* Starts as many threads as possible; without any, the caller does the work alone. */
static void start_threads(struct describe_pool *c, size_t want)
{
    pthread_attr_t attr;

    if (pthread_attr_init(&attr) != 0)
        return;
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    while (c->threads < want && pthread_create(&c->thread[c->threads], &attr, pool_worker, c) == 0)
        c->threads++;
    pthread_attr_destroy(&attr);
}

/* ---- handing over ---- */

/* Returns how many rows are ready, from the next one on. */
static size_t await_rows(struct describe_pool *c)
{
    size_t count = 0;
    bool slow;

    pthread_mutex_lock(&c->lock);

    /* Wait until the next row is ready, with the lock held, and make other rows in the
     * meantime. If reading is slow, this is left to the helpers, so that rows that are ready are
     * not delayed. */
    while (!c->place[c->handed % RING].ready) {
        struct claim claim = { 0 };

        if (c->speed != SLOW || !c->threads)
            claim = claim_next(c);
        if (!claim.count) {
            pthread_cond_wait(&c->row_ready, &c->lock);
            continue;
        }
        pthread_mutex_unlock(&c->lock);
        describe_claim(c, claim);
        pthread_mutex_lock(&c->lock);
    }

    while (count < BATCH && c->place[(c->handed + count) % RING].ready)
        count++;
    slow = c->speed == SLOW;
    pthread_mutex_unlock(&c->lock);
    if (slow && c->threads && c->threads < MANY)
        start_threads(c, MANY);
    return count;
}

static enum err_code describe_pool_deliver_row(const struct describe_pool *c, size_t i,
                                               describe_pool_fn *fn, void *arg, struct err *e)
{
    const struct pool_slot *p = &c->place[i % RING];

    if (p->rc == ERR_NOMEM) {
        if (e)
            *e = p->err;
        return p->rc;
    }
    return fn(i, p->rc ? NULL : p->row, arg, e);
}

enum err_code describe_pool_run(const struct scope *scope, const struct session_ref *const order[],
                                size_t n, size_t ahead, describe_pool_fn *fn, void *arg,
                                struct err *e)
{
    struct describe_pool *c = calloc(1, sizeof *c); /* too large for the stack of a small thread */

    if (!c)
        return err_nomem(e);
    c->scope = scope;
    c->order = order;
    c->n = n;
    c->ahead = ahead < 1 ? 1 : ahead > RING ? RING : ahead;
    c->batch = FEW;
    enum err_code rc = n ? live_read_hosts(order[0]->store->env, &c->hosts, e) : ERR_OK;

    if (rc) {
        free(c);
        return rc;
    }
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->row_ready, NULL);
    pthread_cond_init(&c->room, NULL);

    for (size_t i = 0; i < RING && i < n && !rc; i++)
        if (!(c->place[i].row = session_row_new()))
            rc = err_nomem(e);
    if (!rc) {
        /* Making one row is faster than starting a thread. */
        if (n > 1 && c->ahead > 1)
            start_threads(c, HELPERS);

        while (!rc && c->handed < c->n) {
            size_t count = await_rows(c);

            for (size_t i = 0; !rc && i < count; i++)
                rc = describe_pool_deliver_row(c, c->handed + i, fn, arg, e);
            pthread_mutex_lock(&c->lock);
            for (size_t i = 0; i < count; i++)
                c->place[(c->handed + i) % RING].ready = false;
            c->handed += count;
            pthread_cond_broadcast(&c->room);
            pthread_mutex_unlock(&c->lock);
        }

        pthread_mutex_lock(&c->lock);
        c->stop = true;
        pthread_cond_broadcast(&c->room);
        pthread_mutex_unlock(&c->lock);
        for (size_t i = 0; i < c->threads; i++)
            pthread_join(c->thread[i], NULL);
    }
    pthread_cond_destroy(&c->room);
    pthread_cond_destroy(&c->row_ready);
    pthread_mutex_destroy(&c->lock);
    for (size_t i = 0; i < RING; i++)
        session_row_free(c->place[i].row);

    live_fini(&c->hosts);
    free(c);
    return rc;
}
