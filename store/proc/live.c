#include "store/proc/live.h"

#include <time.h>
#include <unistd.h>

#include "store/api/env.h"
#include "store/api/store.h"
#include "store/fs/disk.h"

enum { RECENT_MS = 10000, WATCH_STEPS = 6, WATCH_STEP_MS = 50 };

struct watched {
    const char **part;
    size_t parts, session;
    struct disk_usage usage;
};

static enum err_code measure_parts(const struct watched *w, struct disk_usage *out, struct err *e)
{
    enum err_code rc = ERR_OK;

    *out = (struct disk_usage){ 0 };
    for (size_t k = 0; k < w->parts && !rc; k++)
        rc = disk_usage_add(w->part[k], out, e);
    return rc;
}

/* Finds the sessions that were written to a moment ago. */
static enum err_code find_recent(const struct session_ref *const ref[], size_t n,
                                 const struct live out[], struct arena *a, struct watched *w,
                                 size_t *found, struct err *e)
{
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < n && !rc; i++) {
        const struct store *st = ref[i]->store;
        struct watched *x = &w[*found];
        store_parts_fn *parts = st->ops->parts ? st->ops->parts : st->ops->deleted_parts;

        if (out[i].state != LIVE_QUIET || !parts)
            continue;
        x->session = i;
        rc = parts(st, ref[i], false, a, &x->part, &x->parts, e);
        if (!rc)
            rc = measure_parts(x, &x->usage, e);
        *found += !rc && x->usage.newest_ms > st->env->now_ms - RECENT_MS;
    }
    return rc;
}

static enum err_code watch_writes(const struct session_ref *const ref[], size_t n,
                                  struct live out[], struct err *e)
{
    const struct timespec step = { 0, WATCH_STEP_MS * 1000000L };
    struct arena a = { 0 };
    struct watched *w = arena_zalloc(&a, (n + 1) * sizeof *w);
    size_t found = 0;
    enum err_code rc = w ? find_recent(ref, n, out, &a, w, &found, e) : err_nomem(e);

    for (int s = 0; s < WATCH_STEPS && found && !rc; s++) {
        nanosleep(&step, NULL);
        for (size_t i = 0; i < found && !rc; i++) {
            struct live *live = &out[w[i].session];
            struct disk_usage now;

            rc = measure_parts(&w[i], &now, e);
            if (!rc && (now.bytes != w[i].usage.bytes || now.files != w[i].usage.files ||
                        now.newest_ms != w[i].usage.newest_ms))
                *live = (struct live){ LIVE_UNKNOWN, 0, false, "it is being written to" };
        }
    }
    arena_fini(&a);
    return rc;
}

/* A host that checks its own session does not count as its user. */
static enum err_code check_hosts(const struct session_ref *const ref[], size_t n, struct live out[],
                                 struct err *e)
{
    struct live_table table;
    enum err_code rc = n ? live_read_hosts(ref[0]->store->env, &table, e) : ERR_OK;

    if (rc || !n)
        return rc;
    for (size_t i = 0; i < n && table.n; i++) {
        const struct live_entry *host = live_find_host(&table, ref[i], getpid());

        if (out[i].state != LIVE_QUIET || !host)
            continue;
        out[i] = host->live;
        if (host->live.state == LIVE_RUNNING)
            out[i].why = "according to the program that runs it";
    }
    live_fini(&table);
    return ERR_OK;
}

static enum err_code check_stores(const struct session_ref *const ref[], size_t n,
                                  struct live out[], struct err *e)
{
    enum err_code rc = ERR_OK;

    for (size_t i = 0, run; i < n && !rc; i += run) {
        const struct store *st = ref[i]->store;

        run = 1;
        out[i] = (struct live){ .state = LIVE_QUIET };
        if (st->ops->live_many) {
            while (i + run < n && ref[i + run]->store == st)
                run++;
            rc = st->ops->live_many(st, &ref[i], run, &out[i], e);
        } else if (st->ops->live) {
            rc = st->ops->live(st, ref[i], &out[i], e);
        }
    }
    return rc;
}

enum err_code live_check(const struct session_ref *const ref[], size_t n, struct live out[],
                         struct err *e)
{
    TRY(check_stores(ref, n, out, e));

    /* A program that only reads, such as our own preview, has the file open for a moment; an agent
     * keeps it open. So a file whose user is unknown is checked again, for as long as the quiet ones
     * are watched, all sessions together. */
    const struct timespec step = { 0, WATCH_STEP_MS * 1000000L };
    enum err_code rc = ERR_OK;

    for (size_t i = 0, steps = 0; i < n && !rc; i++)
        while (out[i].state == LIVE_RUNNING && !out[i].pid && steps++ < WATCH_STEPS && !rc) {
            nanosleep(&step, NULL);
            rc = check_stores(&ref[i], 1, &out[i], e);
        }
    if (rc)
        return rc;

    TRY(check_hosts(ref, n, out, e));
    return watch_writes(ref, n, out, e);
}
