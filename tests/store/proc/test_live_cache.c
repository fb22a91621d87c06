#include "tests/test.h"

#include <pthread.h>
#include <time.h>

#include "store/proc/live.h"
#include "support/scratch.h"

/* An entry without a start time, so its process cannot be identified. */
static void put_entry(void **state, const char *id)
{
    char name[64], text[128];

    mkdir(scratch_path(state, "sessions"), 0700);
    snprintf(name, sizeof name, "sessions/%d.json", (int)getpid());
    snprintf(text, sizeof text, "{\"sessionId\":\"%s\"}", id);
    scratch_write(state, name, slice_of(text));
}

IN_SCRATCH(an_agent_that_starts_later_is_seen_within_seconds)
{
    struct live_cache *w = live_cache_new(*state);
    struct timespec nap = { 0, 20000000 };
    int left = 1000;

    assert_non_null(w);
    assert_int_equal(live_cache_lookup(w, SLICE("a")).state, LIVE_QUIET);
    put_entry(state, "a");
    while (live_cache_lookup(w, SLICE("a")).state == LIVE_QUIET && left-- > 0)
        nanosleep(&nap, NULL);
    assert_int_equal(live_cache_lookup(w, SLICE("a")).state, LIVE_UNKNOWN);
    assert_int_equal(live_cache_lookup(w, SLICE("b")).state, LIVE_QUIET);
    live_cache_free(w);
}

static void *ask_often(void *arg)
{
    intptr_t wrong = 0;

    for (int i = 0; i < 2000; i++)
        wrong += live_cache_lookup(arg, SLICE("a")).state != LIVE_UNKNOWN;
    return (void *)wrong;
}

IN_SCRATCH(threads_may_ask_at_once)
{
    struct live_cache *w;
    pthread_t thread[4];
    void *wrong;

    put_entry(state, "a");
    w = live_cache_new(*state);
    assert_non_null(w);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, ask_often, w), 0);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(thread[i], &wrong), 0);
        assert_null(wrong);
    }
    live_cache_free(w);
}
