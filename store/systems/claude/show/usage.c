#include <math.h>
#include <string.h>

#include "lite/json/json.h"
#include "store/systems/claude/claude.h"
#include "store/systems/common/usage_rows.h"

/* Every answer is recorded in one row for each of its blocks, and each row repeats the usage. The ids of the answer and
 * of its request identify them as one. A sub-agent's answers are in its own transcript and, in older versions, also in
 * rows of progress of the session.
 *
 * When it ends, the client writes a row `cost-state` with its own totals by model. A run includes
 * all resumes of the session, also under a new id with --fork-session, and startTime is when it began. The totals also
 * include calls that leave no answer in any transcript, e.g. the summary of a compaction. */

enum { MODELS_MAX = 64 };

static enum err_code claude_cost_state(struct slice row, struct arena *a, usage_fn *fn, void *arg,
                                       struct err *e)
{
    struct slice models, run, key, value;
    struct json_iter it;
    enum err_code rc = ERR_OK;

    if (!json_valid(row) || !json_get_is(row, "type", "cost-state") ||
        !json_get(row, "modelUsage", &models) || !json_iter_open(&it, models) || !it.object)
        return ERR_OK;
    if (!json_get(row, "startTime", &run))
        run = SLICE("");
    /* A model without a known price is counted with a cost of 0. */
    bool unknown = json_get(row, "hasUnknownModelCost", &value) && json_type(value) == JSON_TRUE;

    for (int i = 0; !rc && i < MODELS_MAX && json_iter_next(&it, &key, &value); i++) {
        struct usage_record u = usage_record_empty();

        if (json_type(value) != JSON_OBJECT)
            continue;
        u.total = true;
        u.run = run;

        /* Models with a long context have their own entry, "claude-x[1m]"; answers give the plain
         * name. */
        struct slice model = json_text_of(key, a);
        const char *bracket =
            model.n && model.p[model.n - 1] == ']' ? memrchr(model.p, '[', model.n) : NULL;

        u.model = bracket ? (struct slice){ model.p, (size_t)(bracket - model.p) } : model;

        u.input = usage_count(value, "inputTokens");
        u.output = usage_count(value, "outputTokens");
        u.cache_read = usage_count(value, "cacheReadInputTokens");
        u.cache_write = usage_count(value, "cacheCreationInputTokens");
        u.cost = usage_cost(value, "costUSD");
        if (unknown && u.cost <= 0)
            u.cost = (double)NAN;
        rc = a->failed ? ERR_OK : fn(&u, arg, e);
    }
    return rc;
}

static enum err_code claude_walk_agent(struct slice id, const char *path, void *arg, struct err *e)
{
    return usage_walk_file(arg, path, 0, id, e);
}

enum err_code claude_usage(const struct store *st, const struct session_ref *ref,
                           const atomic_bool *cancel, usage_fn *fn, void *arg, struct err *e)
{
    struct usage_walk w = { .read = usage_of_row,
                            .mark = "\"usage\"",
                            .cancel = cancel,
                            .fn = fn,
                            .arg = arg,
                            .totals = claude_cost_state,
                            .totals_mark = "\"modelUsage\"" };
    enum err_code rc =
        usage_walk_file(&w, ref->path.p, ref->nameless ? FILE_FOLLOW : 0, SLICE(""), e);

    (void)st;
    return rc ? rc : claude_each_agent(ref, claude_walk_agent, &w, e);
}
