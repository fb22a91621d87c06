#include "tui/data/usage_groups.h"

#include <stdlib.h>
#include <string.h>

#include "lite/base/array.h"
#include "lite/base/cleanup.h"
#include "tui/config/config.h"
#include "tui/text/human.h"

enum err_code usage_groups_add(struct usage_groups *g, const struct session_ref *ref,
                               const struct session_row *row, const struct usage_list *list,
                               struct err *e)
{
    struct counted_session *more =
        arena_grow(&g->arena, g->session, g->sessions, sizeof *g->session);

    NEED(more);
    g->session = more;
    more += g->sessions++;
    *more = (struct counted_session){ .title = SLICE(""), .project = SLICE("") };
    if (row) {
        more->title = arena_copy(&g->arena, session_row_title(row));
        more->project = arena_copy(&g->arena, row->cwd.n ? row->cwd : ref->folder);
    }
    if (!session_ref_copy(&g->arena, ref, &more->ref) || g->arena.failed)
        return err_nomem(e);
    for (size_t i = 0; i < list->n; i++)
        if (usage_set_add(&g->set, (uint32_t)g->sessions - 1, &list->record[i]))
            return err_nomem(e);
    return ERR_OK;
}

static struct slice usage_key_of(const struct usage_groups *g, enum usage_by by,
                                 const struct usage_answer *answer, char *text)
{
    const struct counted_session *s = &g->session[answer->session];

    switch (by) {
    case BY_DAY: return slice_of(human_day(answer->time_ms, text));
    case BY_WEEK: return slice_of(human_week(answer->time_ms, text));
    case BY_MONTH: return slice_of(human_month(answer->time_ms, text));
    case BY_SESSION: return s->ref.path;
    case BY_MODEL: return g->set.models.text[answer->model];
    case BY_AGENT: return slice_of(s->ref.store->ops->name);
    case BY_PROJECT: break;
    }
    return s->project;
}

static enum err_code usage_group_of(struct usage_groups *g, enum usage_by by,
                                    const struct usage_answer *answer, struct usage_group **out,
                                    struct err *e)
{
    char text[HUMAN_DATE];
    struct slice key = usage_key_of(g, by, answer, text);
    uint32_t number = slice_set_find(&g->keys, key);

    if (number == SLICE_SET_NONE) {
        key = arena_copy(&g->arena, key);
        if (!key.p || slice_set_add(&g->keys, key, &number) ||
            !array_reserve(g->group, g->cap, g->groups + 1))
            return err_nomem(e);
        g->group[g->groups++] = (struct usage_group){ .key = key, .session = answer->session };
    }
    *out = &g->group[number];
    return ERR_OK;
}

static bool usage_is_counted(const struct usage_groups *g, const struct usage_grouping *how,
                             const struct usage_answer *answer)
{
    const int64_t ms = answer->time_ms;
    char text[HUMAN_DATE];

    if (how->within && !slice_eq(how->within->key, usage_key_of(g, how->within_by, answer, text)))
        return false;
    if (ms == TIME_NONE)
        return how->since_ms == TIME_NONE && how->before_ms == TIME_NONE;
    return (how->since_ms == TIME_NONE || ms >= how->since_ms) &&
           (how->before_ms == TIME_NONE || ms < how->before_ms);
}

static int usage_compare_keys(const void *x, const void *y)
{
    const struct usage_group *a = x, *b = y;

    return slice_compare(a->key, b->key);
}

/* The one with more tokens first. */
static int usage_compare_totals(const void *x, const void *y)
{
    const struct usage_group *a = x, *b = y;
    int64_t n = usage_sum_total(&a->sum), m = usage_sum_total(&b->sum);

    return n != m ? (n < m) - (n > m) : usage_compare_keys(x, y);
}

/* The one with the newer answer first. */
static int usage_compare_times(const void *x, const void *y)
{
    const struct usage_group *a = x, *b = y;
    int64_t n = a->sum.last_ms, m = b->sum.last_ms;

    return n != m ? (n < m) - (n > m) : usage_compare_keys(x, y);
}

enum err_code usage_groups_make(struct usage_groups *g, const struct usage_grouping *how,
                                struct err *e)
{
    size_t n = 0;

    slice_set_fini(&g->keys);
    g->keys = (struct slice_set){ 0 };
    g->groups = 0;
    g->all = (struct usage_sum){ 0 };

    for (size_t i = 0; i < g->set.n; i++) {
        const struct usage_answer *answer = &g->set.answer[i];
        struct usage_group *group;

        if (!usage_is_counted(g, how, answer))
            continue;
        const double cost =
            how->config ? config_cost(how->config, answer, g->set.models.text[answer->model])
                        : answer->cost;

        TRY(usage_group_of(g, how->by, answer, &group, e));
        usage_sum_add(&group->sum, answer, cost);
        usage_sum_add(&g->all, answer, cost);
    }

    /* A group is empty if all its answers have no tokens and no cost; only now are all of them added. */
    for (size_t i = 0; i < g->groups; i++)
        if (!usage_sum_is_empty(&g->group[i].sum))
            g->group[n++] = g->group[i];
    g->groups = n;

    /* Days and months are in the order of time; sessions by their last answer; all others by their total. */
    if (n)
        qsort(g->group, n, sizeof *g->group,
              how->by <= BY_MONTH     ? usage_compare_keys
              : how->by == BY_SESSION ? usage_compare_times
                                      : usage_compare_totals);
    return ERR_OK;
}

void usage_groups_fini(struct usage_groups *g)
{
    usage_set_fini(&g->set);
    slice_set_fini(&g->keys);
    free(g->group);
    arena_fini(&g->arena);
}

void usage_groups_free(struct usage_groups *g)
{
    if (g)
        usage_groups_fini(g);
    free(g);
}
