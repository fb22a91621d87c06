#include "lite/json/json.h"
#include "store/systems/common/usage_rows.h"
#include "store/systems/copilot/copilot.h"

/* The tokens of each answer are in a row session.usage_record, with the id of a sub-agent if it is
 * the sub-agent's. inputTokens includes tokens from a cache. The cost is in premium requests, not
 * in money. A fork keeps the ids of its rows. */

static bool read_usage(struct slice row, struct arena *a, struct usage_record *u)
{
    struct slice type, usage;

    *u = usage_record_empty();
    if (!json_valid(row) || !json_get(row, "type", &type) ||
        !json_string_is(type, "session.usage_record") || !json_at(row, "data.usage", &usage) ||
        json_type(usage) != JSON_OBJECT || !json_get_text(row, "id", a, &u->answer))
        return false;
    int64_t input = usage_count(usage, "inputTokens");

    u->request = u->answer;
    u->cache_read = usage_count(usage, "cacheReadTokens");
    u->cache_write = usage_count(usage, "cacheWriteTokens");
    u->input = input > u->cache_read + u->cache_write ? input - u->cache_read - u->cache_write : 0;
    u->output = usage_count(usage, "outputTokens");
    json_get_text(usage, "model", a, &u->model);
    json_get_text(row, "agentId", a, &u->agent);
    u->time_ms = json_time_at(row, "timestamp", a);
    return true;
}

enum err_code copilot_usage(const struct store *st, const struct session_ref *ref,
                            const atomic_bool *cancel, usage_fn *fn, void *arg, struct err *e)
{
    const struct usage_walk w = { read_usage, "\"session.usage_record\"", cancel, fn, arg };

    (void)st;
    return usage_walk_file(&w, ref->path.p, 0, SLICE(""), e);
}
