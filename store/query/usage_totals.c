#include <stdlib.h>
#include <string.h>

#include "lite/base/array.h"
#include "store/query/usage.h"

/* Shares out an agent's own totals. A total covers what was asked since the one before it. Its cost is shared among the
 * answers of that stretch in proportion to their tokens at the vendor's relative prices, so that days, turns and
 * projects have costs whose sum is the agent's figure.
 *
 * A program that was killed wrote no total, and the next total of the run does not include its answers. So the newest
 * answers of a stretch are covered first, and only as many as the total has tokens for. The rest stay without a cost.
 * Answers that a fork copied are covered in the session that they come from. */

enum { TOTALS_MAX = 64 };
#define NO_GROUP UINT32_MAX

/* The records of one answer. */
struct totals_group {
    int64_t tokens; /* the tokens of the most complete record */
    double weight;
    double cost;
    struct slice model, run;
    bool copied, taken;
};

struct agent_record {
    int64_t time_ms;
    size_t record;
};

struct totals_walk {
    struct usage_list *list;
    struct arena scratch;
    struct totals_group *group; /* by answer */
    uint32_t *group_of;         /* by record; NO_GROUP: a total */
    struct agent_record *agent; /* the records of sub-agents, oldest first */
    size_t agents, agents_done;
    uint32_t *stretch; /* the groups since the total before */
    size_t stretch_n;
    struct slice_set runs; /* run and model */
    size_t *last;          /* owned; the record of the last total of each */
    size_t last_cap;
};

static int64_t record_tokens(const struct usage_record *u)
{
    const int64_t n[] = { u->input, u->output, u->cache_write, u->cache_read };
    int64_t sum = 0;

    for (size_t i = 0; i < sizeof n / sizeof *n; i++)
        if (__builtin_add_overflow(sum, n[i], &sum))
            return INT64_MAX;
    return sum;
}

/* Prices in relation to that of input, which are the same for all models of the vendor. */
static double record_weight(const struct usage_record *u)
{
    return (double)u->input + 5 * (double)u->output + 1.25 * (double)u->cache_write +
           0.1 * (double)u->cache_read;
}

static enum err_code totals_group_records(struct totals_walk *w)
{
    struct slice_set ids = { 0 };
    uint32_t *by_id = NULL;
    size_t cap = 0, groups = 0;
    enum err_code rc = ERR_OK;

    for (size_t i = 0; !rc && i < w->list->n; i++) {
        const struct usage_record *u = &w->list->record[i];
        uint32_t g = (uint32_t)groups, id;

        w->group_of[i] = NO_GROUP;
        if (u->total)
            continue;

        /* The records of one answer form a group. A record without an id is a group of its own. */
        if (u->answer.n) {
            bool is_new = slice_set_find(&ids, u->answer) == SLICE_SET_NONE;

            rc = slice_set_add(&ids, u->answer, &id);
            if (!rc && !array_reserve(by_id, cap, ids.n))
                rc = ERR_NOMEM;
            if (rc)
                break;
            g = is_new ? (by_id[id] = g) : by_id[id];
        }
        struct totals_group *x = &w->group[g];

        if (g == groups)
            w->group[groups++] =
                (struct totals_group){ .model = u->model, .cost = (double)NAN, .tokens = -1 };

        /* An answer may be recorded several times while it grows, so its largest record counts. */
        x->copied |= u->copied;
        if (record_tokens(u) > x->tokens) {
            x->tokens = record_tokens(u);
            x->weight = record_weight(u);
        }
        w->group_of[i] = g;
    }
    free(by_id);
    slice_set_fini(&ids);
    return rc;
}

static int compare_agent_times(const void *x, const void *y)
{
    const struct agent_record *a = x, *b = y;

    return (a->time_ms > b->time_ms) - (a->time_ms < b->time_ms);
}

/* Returns the record of the total before this one, or NULL, and makes this one the last. */
static enum err_code totals_before(struct totals_walk *w, size_t i,
                                   const struct usage_record **before)
{
    const struct usage_record *u = &w->list->record[i];
    const struct slice part[] = { u->run, SLICE("\n"), u->model };
    const char *both = arena_concat(&w->scratch, part, 3);
    struct slice key = { both, u->run.n + 1 + u->model.n };
    uint32_t number;

    if (!both)
        return ERR_NOMEM;
    bool is_new = slice_set_find(&w->runs, key) == SLICE_SET_NONE;

    if (slice_set_add(&w->runs, key, &number) || !array_reserve(w->last, w->last_cap, w->runs.n))
        return ERR_NOMEM;
    *before = is_new ? NULL : &w->list->record[w->last[number]];
    w->last[number] = i;
    return ERR_OK;
}

/* Gives the answers of the stretch what was added to the total since the one before. */
static enum err_code totals_share(struct totals_walk *w, size_t i)
{
    const struct usage_record *u = &w->list->record[i], *before;
    struct usage_record added = *u;

    TRY(totals_before(w, i, &before));

    /* A total that is smaller than the one before it began again from zero. */
    if (before && record_tokens(before) <= record_tokens(u)) {
        added.input -= before->input < u->input ? before->input : u->input;
        added.output -= before->output < u->output ? before->output : u->output;
        added.cache_write -=
            before->cache_write < u->cache_write ? before->cache_write : u->cache_write;
        added.cache_read -= before->cache_read < u->cache_read ? before->cache_read : u->cache_read;
        added.cost = before->cost <= u->cost ? u->cost - before->cost : u->cost;
    }

    /* The newest answers come first, and the cost is spread by the relative prices of their tokens. */
    int64_t left = record_tokens(&added);
    double rate = added.cost / record_weight(&added);

    for (size_t k = w->stretch_n; k-- > 0 && left > 0;) {
        struct totals_group *g = &w->group[w->stretch[k]];

        if (g->taken || g->copied || g->tokens > left || !slice_eq(g->model, u->model))
            continue;
        g->taken = true;
        g->run = u->run;
        g->cost = rate * g->weight;
        left -= g->tokens;
    }
    return ERR_OK;
}

/* Walks the records from total to total. A sub-agent's answer, which is in a transcript of its own, belongs to the
 * first total after which the conversation goes on later than it. */
static enum err_code totals_walk_all(struct totals_walk *w)
{
    const struct usage_record *r = w->list->record;
    size_t n = w->list->n, end;
    enum err_code rc = ERR_OK;

    for (size_t i = 0; !rc && i < n; i = end) {
        end = i + 1;
        if (!r[i].total) {
            if (!r[i].agent.n)
                w->stretch[w->stretch_n++] = w->group_of[i];
            continue;
        }

        /* Totals in a row share the answers before them. */
        while (end < n && r[end].total)
            end++;

        bool goes_on = end < n && !r[end].agent.n && r[end].time_ms != TIME_NONE;

        for (; w->agents_done < w->agents; w->agents_done++) {
            const struct agent_record *a = &w->agent[w->agents_done];

            if (goes_on && a->time_ms >= r[end].time_ms)
                break;
            w->stretch[w->stretch_n++] = w->group_of[a->record];
        }
        for (size_t t = end - i > TOTALS_MAX ? end - TOTALS_MAX : i; !rc && t < end; t++)
            rc = totals_share(w, t);
        w->stretch_n = 0;
    }
    return rc;
}

enum err_code usage_list_share_totals(struct usage_list *list)
{
    struct totals_walk w = { .list = list };
    size_t totals = 0;

    for (size_t i = 0; i < list->n; i++)
        totals += list->record[i].total;
    if (!totals)
        return ERR_OK;

    w.group = arena_zalloc(&w.scratch, list->n * sizeof *w.group);
    w.group_of = arena_zalloc(&w.scratch, list->n * sizeof *w.group_of);
    w.agent = arena_zalloc(&w.scratch, list->n * sizeof *w.agent);
    w.stretch = arena_zalloc(&w.scratch, list->n * sizeof *w.stretch);
    enum err_code rc = w.scratch.failed ? ERR_NOMEM : totals_group_records(&w);

    for (size_t i = 0; !rc && i < list->n; i++)
        if (list->record[i].agent.n)
            w.agent[w.agents++] = (struct agent_record){ list->record[i].time_ms, i };
    if (!rc && w.agents)
        qsort(w.agent, w.agents, sizeof *w.agent, compare_agent_times);
    if (!rc)
        rc = totals_walk_all(&w);
    if (!rc) {
        /* Drops all totals but the last of each run and model, which get the time of the answer
         * before them. */
        struct usage_record *r = w.list->record;
        size_t n = 0;
        int64_t time_ms = TIME_NONE;

        for (size_t i = 0; i < w.runs.n; i++)
            w.group_of[w.last[i]] = 0;
        for (size_t i = 0; i < w.list->n; i++) {
            if (w.group_of[i] == NO_GROUP)
                continue;
            if (r[i].total) {
                r[i].time_ms = time_ms;
            } else {
                const struct totals_group *g = &w.group[w.group_of[i]];

                time_ms = r[i].time_ms == TIME_NONE ? time_ms : r[i].time_ms;
                if (g->taken) {
                    r[i].cost = g->cost;
                    r[i].run = g->run;
                }
            }
            r[n++] = r[i];
        }
        w.list->n = n;
    }
    slice_set_fini(&w.runs);
    free(w.last);
    arena_fini(&w.scratch);
    return rc;
}
