#include "store/plugins/common/server.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { TICK_MS = 100 };

int64_t server_now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

struct reprise_plugin_query server_query(const struct reprise_plugin_query *query)
{
    struct reprise_plugin_query full = { 0 };

    memcpy(&full, query, query->size < sizeof full ? query->size : sizeof full);
    return full;
}

bool server_wants(const struct reprise_plugin_query *query, struct slice project)
{
    bool wanted = query->projects == 0 || project.n == 0 || project.p[0] != '-';

    for (size_t i = 0; i < query->projects && !wanted; i++)
        wanted = slice_eq(project, slice_of(query->project[i]));
    return wanted;
}

int server_timed_out(struct reprise_plugin_call *call)
{
    long long seconds = call->timeout_ms / 1000;

    snprintf(call->error, sizeof call->error, "the server has not answered for %lld second%s",
             seconds, seconds == 1 ? "" : "s");
    return REPRISE_PLUGIN_FAILED;
}

int server_sends_too_much(struct reprise_plugin_call *call)
{
    snprintf(call->error, sizeof call->error, "the server sends too much");
    return REPRISE_PLUGIN_FAILED;
}

int server_wait(int fd, short events, int64_t deadline, struct reprise_plugin_call *call)
{
    for (;;) {
        struct pollfd p = { .fd = fd, .events = events };
        int n = poll(&p, 1, TICK_MS);

        if (n < 0 && errno != EINTR) {
            snprintf(call->error, sizeof call->error, "%s", strerror(errno));
            return REPRISE_PLUGIN_FAILED;
        }
        if (call->stopped(call->arg))
            return REPRISE_PLUGIN_STOPPED;
        /* Bytes that are ready after the deadline may have waited for a suspended process, so they are read for a
         * while. */
        if (server_now_ms() > deadline + (n > 0 ? call->timeout_ms : 0))
            return server_timed_out(call);
        if (n > 0)
            return REPRISE_PLUGIN_OK;
    }
}

int server_list_bare(const char *project, const char *session, int64_t mtime_ms,
                     reprise_plugin_session_fn *fn, void *arg)
{
    const struct reprise_plugin_session s = {
        .size = sizeof s, .project = project, .session = session, .mtime_ms = mtime_ms
    };

    return fn(&s, arg) ? REPRISE_PLUGIN_STOPPED : REPRISE_PLUGIN_OK;
}

void server_pool_init(struct server_pool *pool, bool (*is_usable)(void *connection),
                      void (*close)(void *connection))
{
    pthread_mutex_init(&pool->lock, NULL);
    pool->idles = 0;
    pool->is_usable = is_usable;
    pool->close = close;
}

void *server_pool_take(struct server_pool *pool)
{
    for (;;) {
        void *connection = NULL;

        pthread_mutex_lock(&pool->lock);
        if (pool->idles)
            connection = pool->idle[--pool->idles];
        pthread_mutex_unlock(&pool->lock);
        if (!connection || !pool->is_usable || pool->is_usable(connection))
            return connection;
        pool->close(connection);
    }
}

void server_pool_return(struct server_pool *pool, void *connection, bool usable)
{
    pthread_mutex_lock(&pool->lock);
    usable = usable && pool->idles < SERVER_POOL;
    if (usable)
        pool->idle[pool->idles++] = connection;
    pthread_mutex_unlock(&pool->lock);
    if (!usable)
        pool->close(connection);
}

void server_pool_fini(struct server_pool *pool)
{
    while (pool->idles)
        pool->close(pool->idle[--pool->idles]);
    pthread_mutex_destroy(&pool->lock);
}
