#include <stdlib.h>
#include <string.h>

#include "lite/base/time.h"
#include "store/systems/common/usage_rows.h"
#include "store/systems/pi/pi.h"

/* The tokens of each answer, and of the summaries that pi had written: {input, output, cacheRead, cacheWrite, cost{total}}.
 * Only the conversation's are found: the branches are in the same file. */

struct usage_walk {
    usage_fn *fn;
    void *arg;
    struct arena arena;
};

static void read_cost(struct slice usage, struct usage_record *u)
{
    struct slice total;
    char text[40];

    if (!json_at(usage, "cost.total", &total) || json_type(total) != JSON_NUMBER ||
        total.n >= sizeof text)
        return;
    memcpy(text, total.p, total.n);
    text[total.n] = '\0';
    double cost = strtod(text, NULL);

    if (isfinite(cost) && cost >= 0)
        u->cost = cost;
}

/* A fork keeps ids and times of its entries; the ids alone are too short to be different everywhere. */
static bool read_usage(struct slice row, struct arena *a, struct usage_record *u)
{
    struct slice message, usage;

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
    read_cost(usage, u);
    if (!time_parse(u->request, &u->time_ms))
        u->time_ms = TIME_NONE;
    return true;
}

static enum err_code hand_over(struct slice row, void *arg, struct err *e)
{
    struct usage_walk *w = arg;
    struct usage_record u;
    enum err_code rc = ERR_OK;

    arena_reset(&w->arena);
    if (read_usage(row, &w->arena, &u))
        rc = w->arena.failed ? ERR_OK : w->fn(&u, w->arg, e);
    return w->arena.failed ? err_nomem(e) : rc;
}

enum err_code pi_usage(const struct store *st, const struct session_ref *ref,
                       const atomic_bool *cancel, usage_fn *fn, void *arg, struct err *e)
{
    struct usage_walk w = { .fn = fn, .arg = arg };
    enum err_code rc = usage_rows_of_file(ref->path.p, 0, "\"usage\"", cancel, hand_over, &w, e);

    (void)st;
    arena_fini(&w.arena);
    return rc;
}
