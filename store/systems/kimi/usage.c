#include "store/systems/common/usage_rows.h"
#include "store/systems/kimi/kimi.h"

/* The tokens of each answer, in rows usage.record {model, usage{inputOther, output, inputCacheRead,
 * inputCacheCreation}}. */

/* The rows have no ids, and a fork copies them. Counts alone do not identify an answer, because
 * sub-agents may have equal ones, so the time is included. */
static bool read_usage(struct slice row, struct arena *a, struct usage_record *u)
{
    struct slice usage;

    *u = usage_record_empty();
    if (!json_valid(row) || !json_get(row, "usage", &usage) || json_type(usage) != JSON_OBJECT)
        return false;
    json_get_text(row, "model", a, &u->model);
    json_get(row, "time", &u->request);
    u->answer = (struct slice){ usage.p, (size_t)(row.p + row.n - usage.p) }; /* with the time */
    u->time_ms = kimi_time(row);
    u->input = usage_count(usage, "inputOther");
    u->output = usage_count(usage, "output");
    u->cache_read = usage_count(usage, "inputCacheRead");
    u->cache_write = usage_count(usage, "inputCacheCreation");
    return true;
}

enum err_code kimi_usage(const struct store *st, const struct session_ref *ref,
                         const atomic_bool *cancel, usage_fn *fn, void *arg, struct err *e)
{
    struct usage_walk w = { read_usage, "\"usage.record\"", cancel, fn, arg };
    struct arena a = { 0 };
    struct session_ref agent;
    struct slice *ids;
    size_t n = 0;
    enum err_code rc = usage_walk_file(&w, ref->path.p, 0, SLICE(""), e);

    if (!rc)
        rc = kimi_subagents(st, ref, &a, &ids, &n, e);
    for (size_t i = 0; !rc && i < n; i++)
        if (!kimi_subagent(st, ref, ids[i], &a, &agent, NULL))
            rc = usage_walk_file(&w, agent.path.p, 0, ids[i], e);
    arena_fini(&a);
    return rc;
}
