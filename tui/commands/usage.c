#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/commands/command.h"
#include "tui/commands/out.h"
#include "tui/commands/session.h"
#include "tui/data/usage_groups.h"
#include "tui/text/clean.h"
#include "tui/text/human.h"

#include "lite/base/cleanup.h"

/* `reprise usage`: sums up, in groups, the answers in the sessions of the scope, each of them once. */

struct usage_answers {
    struct invocation *in;
    struct config config;
    enum usage_by by;
    int64_t since_ms, before_ms;
    struct usage_groups g;
    struct session_line_columns look; /* for ids */
};

/* ---- reading ---- */

static enum err_code command_usage_add_session(const struct session_row *row,
                                               const struct usage_list *list, void *arg,
                                               struct err *e)
{
    struct usage_answers *a = arg;

    return list->n ? usage_groups_add(&a->g, &row->ref, row, list, e) : ERR_OK;
}

static void command_usage_report_trouble(const struct err *trouble, void *arg)
{
    const struct usage_answers *a = arg;

    out_report(a->in->err_fd, trouble);
}

/* ---- as JSON ---- */

static void command_usage_write_time(struct out *o, const char *key, int64_t ms)
{
    if (ms != TIME_NONE)
        out_int(o, key, ms);
}

static void write_key_json(const struct usage_answers *a, const struct usage_group *g)
{
    const struct counted_session *s = &a->g.session[g->session];
    struct out *o = &a->in->out;

    switch (a->by) {
    case BY_DAY: out_member(o, "day", g->key); break;
    case BY_WEEK: out_member(o, "week", g->key); break;
    case BY_MONTH: out_member(o, "month", g->key); break;
    case BY_AGENT: out_member(o, "system", g->key); break;
    case BY_MODEL: out_member(o, "model", g->key); break;
    case BY_PROJECT: out_member(o, "project", g->key); break;
    case BY_SESSION:
        out_string(o, "system", s->ref.store->ops->name);
        out_member(o, "session", s->ref.id);
        out_member(o, "title", s->title);
        out_member(o, "project", s->project);
    }
}

static void write_group_json(const struct usage_answers *a, const struct usage_group *g)
{
    static const char *const names[USAGE_KINDS] = { "input", "output", "cacheWrite", "cacheRead" };
    struct out *o = &a->in->out;

    out_json_row(o);
    out_open(o, NULL, '{');
    write_key_json(a, g);
    for (size_t i = 0; i < USAGE_KINDS; i++)
        out_int(o, names[i], g->sum.tokens[i]);
    out_int(o, "total", usage_sum_total(&g->sum));
    out_int(o, "answers", g->sum.answers);
    if (g->sum.has_cost)
        out_money(o, "costUSD", g->sum.cost);
    if (g->sum.unpriced)
        out_int(o, "answersWithoutCost", g->sum.unpriced);
    command_usage_write_time(o, "first", g->sum.first_ms);
    command_usage_write_time(o, "last", g->sum.last_ms);
    out_close(o, '}');
}

/* ---- as text ---- */

enum { NUMBER_COLUMNS = 8, COST_COLUMNS = 10, KEY_MIN = 10, BAR_MIN = 6, BAR_MAX = 60, GAP = 2 };

/* The columns of a line on a terminal. */
struct usage_columns {
    size_t key, bar;
    bool kinds, cost;
};

enum { KINDS_COLUMNS = 41 };

static const struct {
    enum usage_kind kind;
    const char *name;
    int columns;
} kinds[USAGE_KINDS] = { { USAGE_INPUT, "INPUT", 8 },
                         { USAGE_OUTPUT, "OUTPUT", 8 },
                         { USAGE_CACHE_WRITE, "CACHE WRITE", 13 },
                         { USAGE_CACHE_READ, "CACHE READ", 12 } };

static const char *const key_names[] = { "DAY",   "WEEK",    "MONTH", "SESSION",
                                         "MODEL", "PROJECT", "AGENT" };

static struct usage_columns columns_of(const struct usage_answers *a)
{
    size_t width = a->in->out.columns, numbers = NUMBER_COLUMNS, key = KEY_MIN;
    struct usage_columns c = { .cost = a->g.all.has_cost };

    numbers += c.cost ? COST_COLUMNS : 0;
    c.kinds = width >= KEY_MIN + KINDS_COLUMNS + numbers;
    numbers += c.kinds ? KINDS_COLUMNS : 0;
    for (size_t i = 0; i < a->g.groups; i++) {
        size_t w = a->by == BY_SESSION ? a->look.id_columns + GAP +
                                             clean_width(a->g.session[a->g.group[i].session].title)
                                       : clean_width(a->g.group[i].key);

        key = w > key ? w : key;
    }
    size_t room = width > numbers + KEY_MIN ? width - numbers : KEY_MIN;
    size_t most = room > KEY_MIN + GAP + BAR_MIN ? room - GAP - BAR_MIN : room;

    c.key = key < most ? key : most;
    c.bar = room >= c.key + GAP + BAR_MIN ? room - c.key - GAP : 0;
    c.bar = c.bar > BAR_MAX ? BAR_MAX : c.bar;
    return c;
}

static void write_numbers(const struct usage_answers *a, const struct usage_sum *sum,
                          const struct usage_columns *c)
{
    struct out *o = &a->in->out;
    char text[HUMAN_COUNT];

    for (size_t i = 0; c->kinds && i < USAGE_KINDS; i++) {
        human_count(sum->tokens[kinds[i].kind], text);
        out_addf(o, "%*s", kinds[i].columns, text);
    }
    human_count(usage_sum_total(sum), text);
    out_addf(o, "%*s", NUMBER_COLUMNS, text);
    if (c->cost) {
        /* "$12.34"; with a + if the cost of some answers is not known. */
        char cost[64];

        snprintf(cost, sizeof cost, sum->cost < 0.995 ? "$%.4f%s" : "$%.2f%s", sum->cost,
                 sum->unpriced ? "+" : "");
        out_addf(o, "%*s", COST_COLUMNS, sum->has_cost ? cost : "-");
    }
}

/* A bar in eighths of a column. */
static void write_bar(const struct usage_answers *a, int64_t n, int64_t most, size_t width)
{
    static const char *const eighths[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
    struct out *o = &a->in->out;
    size_t parts = o->ascii ? 1 : 8;
    size_t fill = most > 0 ? (size_t)((double)n / (double)most * (double)(width * parts) + 0.5) : 0;

    fill = n > 0 && fill == 0 ? 1 : fill;
    out_addf(o, "%*s", GAP, "");
    out_style(o, OUT_BRANCH);
    for (size_t i = 0; i < fill / parts; i++)
        out_addf(o, "%s", o->ascii ? "#" : "█");
    if (fill % parts)
        out_addf(o, "%s", eighths[fill % parts]);
    out_style(o, OUT_PLAIN);
}

static enum err_code write_table(const struct usage_answers *a, struct err *e)
{
    struct usage_columns c = columns_of(a);
    struct out *o = &a->in->out;
    int64_t most = 0;
    enum err_code rc = ERR_OK;

    /* The largest group has the longest bar, so it is found before the first row. */
    for (size_t i = 0; i < a->g.groups; i++) {
        int64_t n = usage_sum_total(&a->g.group[i].sum);

        most = n > most ? n : most;
    }

    out_style(o, OUT_AGE);
    out_addf(o, "%-*s", (int)c.key, key_names[a->by]);
    for (size_t i = 0; c.kinds && i < USAGE_KINDS; i++)
        out_addf(o, "%*s", kinds[i].columns, kinds[i].name);
    out_addf(o, "%*s", NUMBER_COLUMNS, "TOTAL");
    if (c.cost)
        out_addf(o, "%*s", COST_COLUMNS, "COST");
    out_style(o, OUT_PLAIN);
    out_addf(o, "\n");

    for (size_t i = 0; !rc && i < a->g.groups; i++) {
        const struct usage_group *g = &a->g.group[i];

        if (a->by != BY_SESSION) {
            session_line_column(g->key.n ? g->key : SLICE("not known"), c.key, o);
        } else if (c.key > a->look.id_columns + GAP) {
            session_line_id(&a->g.session[g->session].ref, &a->look, o);
            out_addf(o, "%*s", GAP, "");
            session_line_column(a->g.session[g->session].title, c.key - a->look.id_columns - GAP,
                                o);
        } else {
            session_line_column(a->g.session[g->session].ref.id, c.key, o);
        }
        write_numbers(a, &g->sum, &c);
        if (c.bar)
            write_bar(a, usage_sum_total(&g->sum), most, c.bar);
        out_addf(o, "\n");
        rc = out_row(o, e);
    }

    out_style(o, OUT_AGE);
    out_addf(o, "%-*s", (int)c.key, "all");
    write_numbers(a, &a->g.all, &c);
    out_style(o, OUT_PLAIN);
    out_addf(o, "\n");
    return rc;
}

/* Writes one group per line for other programs: exact numbers, then the group. */
static void command_usage_write_line(const struct usage_answers *a, const struct usage_group *g)
{
    struct out *o = &a->in->out;

    for (size_t i = 0; i < USAGE_KINDS; i++)
        out_addf(o, "%lld ", (long long)g->sum.tokens[kinds[i].kind]);
    out_addf(o, "%lld ", (long long)usage_sum_total(&g->sum));
    if (g->sum.has_cost)
        out_addf(o, "%.6f ", g->sum.cost);
    else
        out_addf(o, "- ");
    out_line(o, "",
             a->by == BY_SESSION ? a->g.session[g->session].ref.id
             : g->key.n          ? g->key
                                 : SLICE("-"));
}

static enum err_code write_answer(const struct usage_answers *a, struct err *e)
{
    struct out *o = &a->in->out;
    enum err_code rc = ERR_OK;

    if (!o->wants_json && o->columns && a->g.groups)
        return write_table(a, e);
    for (size_t i = 0; !rc && i < a->g.groups; i++) {
        if (o->wants_json)
            write_group_json(a, &a->g.group[i]);
        else
            command_usage_write_line(a, &a->g.group[i]);
        rc = out_row(o, e);
    }
    if (!rc && o->wants_json)
        out_json_rows_end(o);
    return rc;
}

/* ---- the command ---- */

static enum err_code answer_usage(struct usage_answers *a, struct sessions *s, struct err *e)
{
    const struct usage_grouping how = {
        .config = &a->config, .by = a->by, .since_ms = a->since_ms, .before_ms = a->before_ms
    };
    enum err_code rc =
        usage_set_finish(&a->g.set) ? err_nomem(e) : usage_groups_make(&a->g, &how, e);

    if (!rc)
        rc = session_line_columns_open(s, NULL, &a->in->out, a->in->world->env.now_ms, &a->look, e);
    if (rc)
        return rc;

    /* Days are cut at the beginning, other rows at the end. */
    const size_t n = a->g.groups,
                 limit = a->in->options.limit > 0 ? (size_t)a->in->options.limit : SIZE_MAX;

    if (n > limit && a->by <= BY_MONTH)
        memmove(a->g.group, a->g.group + n - limit, limit * sizeof *a->g.group);
    a->g.groups = n > limit ? limit : n;

    for (size_t i = 0; a->by == BY_SESSION && i < a->g.groups; i++)
        session_line_columns_fit(&a->look, &a->g.session[a->g.group[i].session].ref);
    rc = write_answer(a, e);
    session_line_columns_close(&a->look);
    return rc;
}

static enum err_code count_usage(struct usage_answers *a, struct sessions *s, struct err *e)
{
    struct listing_query q;
    struct session_ref ref;
    struct usage_list list;

    TRY(sessions_query(a->in, &s->scope, &q, e));
    a->since_ms = q.since_ms;
    a->before_ms = q.before_ms;

    if (!a->in->argc) {
        enum err_code rc = usage_each(s->store, s->n, &q, command_usage_add_session,
                                      command_usage_report_trouble, a, e);

        if (!rc)
            rc = sessions_report_unreadable(a->in, s, false, e);
        if (!rc)
            rc = answer_usage(a, s, e);
        if (!rc && !a->g.groups)
            command_warn(a->in, ERR_OK, NULL, "%s",
                         sessions_none(s, s->scope.all
                                              ? "no session records tokens"
                                              : "no session here records tokens; --all counts "
                                                "those of all projects"));
        return rc;
    }
    /* Count the session, including what it copied from another. */
    enum err_code rc = sessions_find(s, a->in->argv[0], &ref, e);

    if (!rc)
        rc = usage_list_read(&ref, NULL, &list, e);
    if (rc)
        return rc;
    rc = usage_groups_add(&a->g, &ref, NULL, &list, e);
    if (!rc)
        rc = answer_usage(a, s, e);
    if (!rc && !a->g.groups)
        command_warn(a->in, ERR_OK, NULL, "the session records no tokens");
    usage_list_fini(&list);
    return rc;
}

static void usage_answers_fini(struct usage_answers *a)
{
    usage_groups_fini(&a->g);
    config_fini(&a->config);
}

enum err_code usage_run(struct invocation *in, struct err *e)
{
    CLEANUP(usage_answers_fini)
    struct usage_answers a = { .in = in, .by = (enum usage_by)in->options.by };
    CLEANUP(sessions_close) struct sessions s = { .n = 0 };

    TRY(command_config(in, &a.config, e));
    if (in->argc && !option_given(&in->options, OPTION_BY))
        a.by = BY_MODEL;
    TRY(sessions_open(in, in->argc > 0, &s, e));
    return count_usage(&a, &s, e);
}
