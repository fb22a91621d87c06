#include "store/proc/live_cache.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STALE_AFTER_MS = 1000 };

struct live_cache {
    pthread_mutex_t lock; /* of all below but config */
    char *config;
    struct live_table table;
    int64_t read_ms;
    bool known; /* the table was read at all */
};

struct live_cache *live_cache_new(const char *config)
{
    struct live_cache *w = calloc(1, sizeof *w);

    if (!w)
        return NULL;
    w->config = strdup(config);
    if (!w->config || pthread_mutex_init(&w->lock, NULL) != 0) {
        free(w->config);
        free(w);
        return NULL;
    }
    return w;
}

void live_cache_free(struct live_cache *w)
{
    if (!w)
        return;
    pthread_mutex_destroy(&w->lock);
    live_fini(&w->table);
    free(w->config);
    free(w);
}

/* A clock that is cheap to read and good to a few milliseconds. */
static int64_t coarse_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void refresh_registry(struct live_cache *w)
{
    int64_t now = coarse_ms();
    struct live_table fresh;

    if (w->known && now - w->read_ms < STALE_AFTER_MS)
        return;
    live_fini(&w->table);
    w->known = live_read(w->config, &fresh, NULL) == ERR_OK;
    w->table = w->known ? fresh : (struct live_table){ .unreadable = true };
    w->read_ms = now;
}

struct live live_cache_lookup(struct live_cache *w, struct slice session_id)
{
    struct live live;

    pthread_mutex_lock(&w->lock);
    refresh_registry(w);
    live = live_of(&w->table, session_id);
    pthread_mutex_unlock(&w->lock);
    return live;
}
