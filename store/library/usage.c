#include "store/query/usage.h"

#include <stdlib.h>

#include "lite/base/time.h"
#include "store/library/call.h"

/* One row for each model. */
struct reprise_usage {
    struct arena arena;
    struct reprise_usage_row *row;
    size_t n;
};

/* Answers of several sessions while they are read. */
struct counting {
    struct usage_set set;
    uint32_t sessions;
};

static enum err_code count_records(struct counting *c, const struct usage_list *list, struct err *e)
{
    for (size_t i = 0; i < list->n; i++)
        if (usage_set_add(&c->set, c->sessions, &list->record[i]))
            return err_nomem(e);
    c->sessions++;
    return ERR_OK;
}

static enum err_code library_count_session(const struct session_row *row,
                                           const struct usage_list *list, void *arg, struct err *e)
{
    (void)row;
    return count_records(arg, list, e);
}

static void library_usage_leave_out(const struct err *trouble, void *arg)
{
    (void)trouble, (void)arg;
}

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

static enum err_code make_rows(const struct usage_set *set, struct reprise_usage *out,
                               struct err *e)
{
    struct usage_sum *sum = calloc(set->models.n + 1, sizeof *sum);

    out->row = arena_zalloc(&out->arena, (set->models.n + 1) * sizeof *out->row);
    if (!sum || !out->row) {
        free(sum);
        return err_nomem(e);
    }
    for (size_t i = 0; i < set->models.n; i++)
        sum[i].first_ms = sum[i].last_ms = TIME_NONE;
    for (size_t i = 0; i < set->n; i++)
        usage_sum_add(&sum[set->answer[i].model], &set->answer[i], set->answer[i].cost);
    for (size_t i = 0; i < set->models.n; i++)
        if (!usage_sum_is_empty(&sum[i]))
            out->row[out->n++] =
                library_row_of(&sum[i], call_copy(&out->arena, set->models.text[i]));
    free(sum);
    if (out->n)
        qsort(out->row, out->n, sizeof *out->row, library_compare_rows);
    return out->arena.failed ? err_nomem(e) : ERR_OK;
}

/* ---- calls ---- */

static int library_usage_finish(struct call *c, enum err_code rc, struct counting *counted,
                                struct reprise_usage *usage, struct reprise_usage **out,
                                struct reprise_error *error)
{
    if (!rc && usage_set_finish(&counted->set))
        rc = err_nomem(&c->err);
    if (!rc)
        rc = make_rows(&counted->set, usage, &c->err);
    usage_set_fini(&counted->set);
    if (rc)
        reprise_usage_free(usage);
    else
        *out = usage;
    return call_end(c, rc, error);
}

static enum err_code library_read_all(const struct reprise *r, const struct reprise_query *sessions,
                                      struct arena *a, struct counting *counted, struct err *e)
{
    struct listing_query q;
    enum err_code rc = call_query(sessions, a, &q, e);

    return rc ? rc
              : usage_each(r->store, r->n, &q, library_count_session, library_usage_leave_out,
                           counted, e);
}

int reprise_sum_usage(const struct reprise *r, const struct reprise_query *sessions,
                      struct reprise_usage **out, struct reprise_error *error)
{
    if (!r || !out)
        return call_refuse(error);

    struct reprise_usage *usage = calloc(1, sizeof *usage);
    struct counting counted = { .sessions = 0 };
    struct call c;

    call_begin(&c);
    enum err_code rc =
        usage ? library_read_all(r, sessions, &usage->arena, &counted, &c.err) : err_nomem(&c.err);

    return library_usage_finish(&c, rc, &counted, usage, out, error);
}

static enum err_code library_read_one(const struct reprise_session *s, struct counting *counted,
                                      struct err *e)
{
    struct arena a = { 0 };
    struct session_ref now;
    struct usage_list list;
    enum err_code rc = session_now(s, &a, &now, e);

    if (!rc)
        rc = usage_list_read(&now, NULL, &list, e);
    if (!rc) {
        rc = count_records(counted, &list, e);
        usage_list_fini(&list);
    }
    arena_fini(&a);
    return rc;
}

int reprise_session_usage(const struct reprise_session *s, struct reprise_usage **out,
                          struct reprise_error *error)
{
    if (!s || !out)
        return call_refuse(error);

    struct reprise_usage *usage = calloc(1, sizeof *usage);
    struct counting counted = { .sessions = 0 };
    struct call c;

    call_begin(&c);
    enum err_code rc = usage ? library_read_one(s, &counted, &c.err) : err_nomem(&c.err);

    return library_usage_finish(&c, rc, &counted, usage, out, error);
}

size_t reprise_usage_count(const struct reprise_usage *usage)
{
    return usage ? usage->n : 0;
}

const struct reprise_usage_row *reprise_usage_at(const struct reprise_usage *usage, size_t i)
{
    return usage && i < usage->n ? &usage->row[i] : NULL;
}

void reprise_usage_free(struct reprise_usage *usage)
{
    if (usage)
        arena_fini(&usage->arena);
    free(usage);
}
