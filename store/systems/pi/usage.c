#include "lite/base/time.h"
#include "store/systems/common/usage_rows.h"
#include "store/systems/pi/pi.h"

/* The tokens of each answer and of the summaries that pi requested: {input, output, cacheRead,
 * cacheWrite, cost{total}}. The rows of the file include all branches. */

/* A fork keeps ids and times of its entries; the ids alone are too short to be different everywhere. */
static bool read_usage(struct slice row, struct arena *a, struct usage_record *u)
{
    struct slice message, usage, cost;

    *u = usage_record_empty();
    if (!json_valid(row) || !json_get_text(row, "id", a, &u->answer) ||
        !json_get_text(row, "timestamp", a, &u->request))
        return false;
    if (!json_get(row, "message", &message))
        message = row;
    if (!json_get(message, "usage", &usage) || json_type(usage) != JSON_OBJECT)
        return false;
    json_get_text(message, "model", a, &u->model);
    u->message = u->answer;
    u->input = usage_count(usage, "input");
    u->output = usage_count(usage, "output");
    u->cache_read = usage_count(usage, "cacheRead");
    u->cache_write = usage_count(usage, "cacheWrite");
    if (json_get(usage, "cost", &cost))
        u->cost = usage_cost(cost, "total");
    if (!time_parse(u->request, &u->time_ms))
        u->time_ms = TIME_NONE;
    return true;
}

enum err_code pi_usage(const struct store *st, const struct session_ref *ref,
                       const atomic_bool *cancel, usage_fn *fn, void *arg, struct err *e)
{
    const struct usage_walk w = { read_usage, "\"usage\"", cancel, fn, arg };

    (void)st;
    return usage_walk_file(&w, ref->path.p, 0, SLICE(""), e);
}
