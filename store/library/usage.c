#include "store/query/usage.h"

#include <stdlib.h>

#include "lite/base/time.h"
#include "store/library/call.h"

ANSWER(usage, reprise_usage_row); /* a row for each model */

/* ---- rows ---- */

static int64_t known_time(int64_t ms)
{
    return ms == TIME_NONE ? REPRISE_TIME_UNKNOWN : ms;
}

static struct reprise_usage_row library_row_of(const struct usage_sum *sum, const char *model)
{
    return (struct reprise_usage_row){
        .size = sizeof(struct reprise_usage_row),
        .model = model,
        .input = sum->tokens[USAGE_INPUT],
        .output = sum->tokens[USAGE_OUTPUT],
        .cache_write = sum->tokens[USAGE_CACHE_WRITE],
        .cache_read = sum->tokens[USAGE_CACHE_READ],
        .answers = sum->answers,
        .answers_without_cost = sum->unpriced,
        .cost = sum->has_cost ? sum->cost : 0,
        .first_ms = known_time(sum->first_ms),
        .last_ms = known_time(sum->last_ms),
    };
}

/* The one with more tokens first. */
static int library_compare_rows(const void *x, const void *y)
{
    const struct reprise_usage_row *a = x, *b = y;
    double n =
        (double)a->input + (double)a->output + (double)a->cache_write + (double)a->cache_read;
    double m =
        (double)b->input + (double)b->output + (double)b->cache_write + (double)b->cache_read;

    return (n < m) - (n > m);
}

static enum err_code library_fill_usage(struct usage_set *set, struct answer *x, struct err *e)
{
    CLEANUP(free_at) struct usage_sum *sum = NULL;

    TRY(usage_set_finish(set) ? err_nomem(e) : ERR_OK);
    NEED(sum = calloc(set->models.n + 1, sizeof *sum));
    for (size_t i = 0; i < set->models.n; i++)
        sum[i].first_ms = sum[i].last_ms = TIME_NONE;
    for (size_t i = 0; i < set->n; i++)
        usage_sum_add(&sum[set->answer[i].model], &set->answer[i], set->answer[i].cost);
    for (size_t i = 0; i < set->models.n; i++) {
        struct reprise_usage_row *out = usage_sum_is_empty(&sum[i]) ? NULL : answer_add(x);

        if (out)
            *out = library_row_of(&sum[i], call_copy(&x->arena, set->models.text[i]));
    }
    if (x->n)
        qsort(x->item, x->n, x->size, library_compare_rows);
    return ERR_OK;
}

/* ---- all sessions ---- */

struct counting {
    struct usage_set set;
    uint32_t sessions;
};

static enum err_code library_count_session(const struct session_row *row,
                                           const struct usage_list *list, void *arg, struct err *e)
{
    struct counting *c = arg;

    (void)row;
    for (size_t i = 0; i < list->n; i++)
        if (usage_set_add(&c->set, c->sessions, &list->record[i]))
            return err_nomem(e);
    c->sessions++;
    return ERR_OK;
}

static void library_usage_leave_out(const struct err *trouble, void *arg)
{
    (void)trouble, (void)arg;
}

static void library_counting_fini(struct counting *c)
{
    usage_set_fini(&c->set);
}

static enum err_code library_sum_all(const struct reprise *r, const struct reprise_query *sessions,
                                     struct answer *x, struct err *e)
{
    CLEANUP(library_counting_fini) struct counting counted = { .sessions = 0 };
    struct listing_query q;

    TRY(call_query(sessions, &x->arena, &q, e));
    TRY(usage_each(r->store, r->n, &q, library_count_session, library_usage_leave_out, &counted,
                   e));
    return library_fill_usage(&counted.set, x, e);
}

int reprise_sum_usage(const struct reprise *r, const struct reprise_query *sessions,
                      struct reprise_usage **out, struct reprise_error *error)
{
    if (!r || !out)
        return call_refuse(error);
    ANSWER_RETURN(usage, reprise_usage_row, out, error, library_sum_all(r, sessions, x, e));
}

/* ---- one session ---- */

static enum err_code library_sum_session(const struct reprise_session *s, struct answer *x,
                                         struct err *e)
{
    CLEANUP(library_counting_fini) struct counting counted = { .sessions = 0 };
    CLEANUP(usage_list_fini) struct usage_list list = { .n = 0 };
    struct session_ref now;

    TRY(session_now(s, &x->arena, &now, e));
    TRY(usage_list_read(&now, NULL, &list, e));
    TRY(library_count_session(NULL, &list, &counted, e));
    return library_fill_usage(&counted.set, x, e);
}

int reprise_session_usage(const struct reprise_session *s, struct reprise_usage **out,
                          struct reprise_error *error)
{
    if (!s || !out)
        return call_refuse(error);
    ANSWER_RETURN(usage, reprise_usage_row, out, error, library_sum_session(s, x, e));
}
