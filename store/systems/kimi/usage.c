#include "store/systems/common/usage_rows.h"
#include "store/systems/kimi/kimi.h"

/* The tokens of each answer, in rows usage.record {model, usage{inputOther, output, inputCacheRead, inputCacheCreation}}. */

#define MARK "\"usage.record\""

struct usage_walk {
    const atomic_bool *cancel;
    struct slice agent;
    usage_fn *fn;
    void *arg;
    struct arena arena;
};

/* The rows have no ids: a fork copies their times and counts. */
static bool read_usage(struct slice row, struct arena *a, struct usage_record *u)
{
    struct slice usage;

    *u = usage_record_empty();
    if (!json_valid(row) || !json_get(row, "usage", &usage) || json_type(usage) != JSON_OBJECT)
        return false;
    json_get_text(row, "model", a, &u->model);
    json_get(row, "time", &u->request);
    u->answer = usage;
    u->time_ms = kimi_time(row);
    u->input = usage_count(usage, "inputOther");
    u->output = usage_count(usage, "output");
    u->cache_read = usage_count(usage, "inputCacheRead");
    u->cache_write = usage_count(usage, "inputCacheCreation");
    return true;
}

static enum err_code hand_over(struct slice row, void *arg, struct err *e)
{
    struct usage_walk *w = arg;
    struct usage_record u;
    enum err_code rc = ERR_OK;

    arena_reset(&w->arena);
    if (read_usage(row, &w->arena, &u)) {
        u.agent = w->agent;
        u.aside = w->agent.n > 0;
        rc = w->arena.failed ? ERR_OK : w->fn(&u, w->arg, e);
    }
    return w->arena.failed ? err_nomem(e) : rc;
}

static enum err_code walk_agents(struct usage_walk *w, const struct store *st,
                                 const struct session_ref *ref, struct err *e)
{
    struct arena a = { 0 };
    struct session_ref agent;
    struct slice *ids;
    size_t n;
    enum err_code rc = kimi_subagents(st, ref, &a, &ids, &n, e);

    for (size_t i = 0; !rc && i < n; i++) {
        w->agent = ids[i];
        if (kimi_subagent(st, ref, ids[i], &a, &agent, NULL))
            continue;
        rc = usage_rows_of_file(agent.path.p, 0, MARK, w->cancel, hand_over, w, e);
        if (rc == ERR_NOT_FOUND || rc == ERR_IO || rc == ERR_UNSAFE)
            rc = ERR_OK;
    }
    arena_fini(&a);
    return rc;
}

enum err_code kimi_usage(const struct store *st, const struct session_ref *ref,
                         const atomic_bool *cancel, usage_fn *fn, void *arg, struct err *e)
{
    struct usage_walk w = { .cancel = cancel, .fn = fn, .arg = arg };
    enum err_code rc = usage_rows_of_file(ref->path.p, 0, MARK, cancel, hand_over, &w, e);

    if (!rc)
        rc = walk_agents(&w, st, ref, e);
    arena_fini(&w.arena);
    return rc;
}
