#include "store/proc/live_check.h"

#include <time.h>

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

/* Those that were written to a moment ago. */
static enum err_code find_recent(const struct session_ref *const ref[], size_t n,
                                 const struct live out[], struct arena *a, struct watched *w,
                                 size_t *found, struct err *e)
{
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < n && !rc; i++) {
        const struct store *st = ref[i]->store;
        struct watched *x = &w[*found];

        if (out[i].state != LIVE_QUIET || !st->ops->parts)
            continue;
        x->session = i;
        rc = st->ops->parts(st, ref[i], false, a, &x->part, &x->parts, e);
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

enum err_code live_check(const struct session_ref *const ref[], size_t n, struct live out[],
                         struct err *e)
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
    return rc ? rc : watch_writes(ref, n, out, e);
}
