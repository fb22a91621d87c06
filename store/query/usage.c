#include "store/query/usage.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lite/base/array.h"
#include "lite/base/cleanup.h"

/* ---- one answer once ---- */

static int64_t total_of(const int64_t tokens[USAGE_KINDS])
{
    int64_t sum = 0;

    for (size_t i = 0; i < USAGE_KINDS; i++)
        if (__builtin_add_overflow(sum, tokens[i], &sum))
            return INT64_MAX;
    return sum;
}

/* Finds the text, or adds a copy. *is_new: it was added. */
static enum err_code query_usage_add_text(struct slice_set *set, struct arena *a, struct slice text,
                                          uint32_t *number, bool *is_new)
{
    *number = slice_set_find(set, text);
    *is_new = *number == SLICE_SET_NONE;
    if (!*is_new)
        return ERR_OK;
    text = arena_copy(a, text);
    return text.p ? slice_set_add(set, text, number) : ERR_NOMEM;
}

static void count_better(struct usage_answer *counted, const struct usage_answer *candidate)
{
    const int64_t more = total_of(candidate->tokens), total = total_of(counted->tokens);
    uint32_t other = counted->other;
    bool more_complete = counted->copied && !candidate->copied;

    if (candidate->aside != counted->aside)
        more_complete = counted->aside;
    else if (more != total)
        more_complete = more > total;
    else if (isnan(candidate->cost) != isnan(counted->cost))
        more_complete = isnan(counted->cost);
    if (!more_complete)
        return;
    *counted = *candidate;
    counted->other = other;
}

static enum err_code append_answer(struct usage_set *set, const struct usage_answer *answer)
{
    if (set->n >= UINT32_MAX - 1 || !array_reserve(set->answer, set->cap, set->n + 1))
        return ERR_NOMEM;
    set->answer[set->n++] = *answer;
    return ERR_OK;
}

/* Counts an answer whose ids are not known yet together. */
static enum err_code query_usage_add_answer(struct usage_set *set, struct slice id, uint32_t exact,
                                            struct usage_answer *answer)
{
    uint32_t number;
    bool is_new;

    TRY(query_usage_add_text(&set->ids, &set->arena, id, &number, &is_new));
    if (!array_reserve(set->first_of_id, set->ids_cap, set->ids.n))
        return ERR_NOMEM;
    if (is_new)
        set->first_of_id[number] = UINT32_MAX;

    /* The counted answer with this id and any request, if it or the candidate is aside: side
     * questions repeat answers of the conversation under requests of their own. */
    bool aside = answer->aside;

    uint32_t i = set->first_of_id[number];

    while (i != UINT32_MAX && !aside && !set->answer[i].aside)
        i = set->answer[i].other;
    struct usage_answer *known = i == UINT32_MAX ? NULL : &set->answer[i];

    if (known) {
        set->first_exact[exact] = (uint32_t)(known - set->answer);
        count_better(known, answer);
        return ERR_OK;
    }
    answer->other = set->first_of_id[number];
    set->first_exact[exact] = set->first_of_id[number] = (uint32_t)set->n;
    return append_answer(set, answer);
}

static enum err_code add_known(struct usage_set *set, const struct usage_record *u,
                               struct usage_answer *answer)
{
    const struct slice part[] = { u->answer, { "\n", 1 }, u->request };
    struct arena a = { 0 };
    size_t n = u->answer.n + 1 + u->request.n;
    char *both = arena_concat(&a, part, sizeof part / sizeof *part);
    uint32_t exact = 0;
    bool is_new = false;
    enum err_code rc = both ? query_usage_add_text(&set->exact, &set->arena,
                                                   (struct slice){ both, n }, &exact, &is_new)
                            : ERR_NOMEM;

    arena_fini(&a);
    if (!rc && !array_reserve(set->first_exact, set->exact_cap, set->exact.n))
        rc = ERR_NOMEM;
    if (!rc && is_new)
        return query_usage_add_answer(set, u->answer, exact, answer);
    if (!rc)
        count_better(&set->answer[set->first_exact[exact]], answer);
    return rc;
}

enum err_code usage_set_add(struct usage_set *set, uint32_t session, const struct usage_record *u)
{
    uint32_t model, run = UINT32_MAX;
    bool is_new;

    TRY(query_usage_add_text(&set->models, &set->arena, u->model, &model, &is_new));
    if (u->total || u->run.n) {
        /* The number of a run's total for a model. A run without a name is one of the session. */
        char unnamed[16];
        struct arena a = { 0 };
        struct slice part[] = { u->run, SLICE("\n"), u->model };

        if (!u->run.n) {
            snprintf(unnamed, sizeof unnamed, "#%u", (unsigned)session);
            part[0] = slice_of(unnamed);
        }

        const char *both = arena_concat(&a, part, 3);
        enum err_code rc =
            both ? query_usage_add_text(&set->runs, &set->arena,
                                        (struct slice){ both, part[0].n + 1 + u->model.n }, &run,
                                        &is_new)
                 : ERR_NOMEM;

        arena_fini(&a);
        if (!rc && !array_reserve(set->total, set->total_cap, set->runs.n))
            rc = ERR_NOMEM;
        if (!rc && is_new)
            set->total[run] = (struct usage_answer){ .time_ms = TIME_NONE, .cost = (double)NAN };
        TRY(rc);
    }

    /* The answer as the set keeps it. */
    struct usage_answer answer = (struct usage_answer){
        .time_ms = u->time_ms,
        .tokens = { [USAGE_INPUT] = u->input,
                    [USAGE_OUTPUT] = u->output,
                    [USAGE_CACHE_WRITE] = u->cache_write,
                    [USAGE_CACHE_READ] = u->cache_read },
        .cost = u->cost,
        .message = u->message.n ? id128_of(u->message) : (struct id128){ 0 },
        .session = session,
        .model = model,
        .other = UINT32_MAX,
        .copied = u->copied,
        .aside = u->aside,
        .total = UINT32_MAX,
    };

    if (u->total) {
        if (is_new || total_of(answer.tokens) > total_of(set->total[run].tokens))
            set->total[run] = answer;
        return ERR_OK;
    }
    answer.total = run;
    return u->answer.n ? add_known(set, u, &answer) : append_answer(set, &answer);
}

enum err_code usage_set_finish(struct usage_set *set)
{
    static const double dust = 1e-9; /* what is left of a sum of fractions */
    size_t answers = set->n;

    for (size_t i = 0; i < answers; i++) {
        const struct usage_answer *answer = &set->answer[i];
        struct usage_answer *rest = answer->total == UINT32_MAX ? NULL : &set->total[answer->total];

        for (size_t k = 0; rest && k < USAGE_KINDS; k++)
            rest->tokens[k] -=
                rest->tokens[k] > answer->tokens[k] ? answer->tokens[k] : rest->tokens[k];
        if (rest && !isnan(answer->cost))
            rest->cost -= answer->cost;
    }
    for (size_t i = 0; i < set->runs.n; i++) {
        struct usage_answer rest = set->total[i];

        rest.unrecorded = true;
        rest.cost = rest.cost > dust                             ? rest.cost
                    : total_of(rest.tokens) && !isnan(rest.cost) ? 0
                                                                 : (double)NAN;
        if ((total_of(rest.tokens) > 0 || rest.cost > 0) && append_answer(set, &rest))
            return ERR_NOMEM;
    }
    return ERR_OK;
}

void usage_set_fini(struct usage_set *set)
{
    free(set->answer);
    free(set->total);
    slice_set_fini(&set->runs);
    free(set->first_exact);
    free(set->first_of_id);
    slice_set_fini(&set->models);
    slice_set_fini(&set->exact);
    slice_set_fini(&set->ids);
    arena_fini(&set->arena);
    *set = (struct usage_set){ 0 };
}

/* ---- sums ---- */

void usage_sum_add(struct usage_sum *sum, const struct usage_answer *a, double cost)
{
    bool tokens = total_of(a->tokens) > 0 && !a->unrecorded;

    if (sum->answers == 0 && !sum->has_cost)
        sum->first_ms = sum->last_ms = TIME_NONE;
    for (size_t i = 0; i < USAGE_KINDS; i++)
        if (__builtin_add_overflow(sum->tokens[i], a->tokens[i], &sum->tokens[i]))
            sum->tokens[i] = INT64_MAX;
    sum->answers += tokens;
    sum->unpriced += tokens && isnan(cost);
    sum->cost += isnan(cost) ? 0 : cost;
    sum->has_cost |= !isnan(cost);
    if (a->time_ms == TIME_NONE)
        return;
    if (sum->first_ms == TIME_NONE || a->time_ms < sum->first_ms)
        sum->first_ms = a->time_ms;
    if (sum->last_ms == TIME_NONE || a->time_ms > sum->last_ms)
        sum->last_ms = a->time_ms;
}

int64_t usage_sum_total(const struct usage_sum *sum)
{
    return total_of(sum->tokens);
}

bool usage_sum_is_empty(const struct usage_sum *sum)
{
    return total_of(sum->tokens) == 0 && !(sum->has_cost && sum->cost > 0);
}

/* ---- a session ---- */

static enum err_code keep_record(const struct usage_record *u, void *arg, struct err *e)
{
    struct usage_list *list = arg;
    struct usage_record *more = arena_grow(&list->arena, list->record, list->n, sizeof *more);

    if (!more)
        return err_nomem(e);
    list->record = more;
    more += list->n++;
    *more = *u;
    more->model = arena_copy(&list->arena, u->model);
    more->message = arena_copy(&list->arena, u->message);
    more->agent = arena_copy(&list->arena, u->agent);
    more->answer = arena_copy(&list->arena, u->answer);
    more->request = arena_copy(&list->arena, u->request);
    more->run = arena_copy(&list->arena, u->run);
    return list->arena.failed ? err_nomem(e) : ERR_OK;
}

enum err_code usage_list_read(const struct session_ref *ref, const atomic_bool *cancel,
                              struct usage_list *out, struct err *e)
{
    const struct store_ops *ops = ref->store->ops;
    CLEANUP(usage_list_fini) struct usage_list list = { .n = 0 };

    if (!ops->usage)
        return err_set(e, ERR_UNSUPPORTED, ref->path.p, "%s records no tokens", ops->name);

    TRY(ops->usage(ref->store, ref, cancel, keep_record, &list, e));
    if (usage_list_share_totals(&list))
        return err_nomem(e);
    HAND_OVER(out, list);
    return ERR_OK;
}

void usage_list_fini(struct usage_list *list)
{
    arena_fini(&list->arena);
    *list = (struct usage_list){ .n = 0 };
}

/* Sessions are read in a ring, as describe_pool.c describes them: slot i % RING has session i until it is handed over,
 * in order, on the calling thread. All counters are under the lock; a slot belongs to the thread that claimed it until
 * it is ready. */
enum { RING = 32, THREADS = 8 };

struct usage_slot {
    struct session_row *row;
    struct usage_list list;
    bool wanted, ready;
    enum err_code rc;
    struct err err;
};

struct usage_pool {
    const struct listing_query *q;
    const struct session_ref *const *order;
    size_t n;

    pthread_mutex_t lock;
    pthread_cond_t made, room;
    size_t claimed, handed;
    atomic_bool stop;
    struct usage_slot slot[RING];

    pthread_t thread[THREADS];
    size_t threads;
};

static bool is_counted(const struct listing_query *q, const struct session_row *row)
{
    bool shown = row->hidden == HIDDEN_NOT || row->hidden == HIDDEN_EMPTY ||
                 row->hidden == HIDDEN_SIDECHAIN || row->hidden == HIDDEN_CONTINUED ||
                 row->hidden == HIDDEN_DUPLICATE || row->hidden == HIDDEN_COMMAND;

    return shown && session_tags_include(row->tag, q->tag) &&
           (!q->branch.n || slice_eq(q->branch, row->git_branch)) &&
           (!q->archived || (row->flags & SESSION_ARCHIVED));
}

static void *usage_worker(void *arg)
{
    struct usage_pool *p = arg;

    pthread_mutex_lock(&p->lock);
    while (!atomic_load(&p->stop) && p->claimed < p->n) {
        if (p->claimed >= p->handed + RING) {
            pthread_cond_wait(&p->room, &p->lock);
            continue;
        }
        size_t i = p->claimed++;

        pthread_mutex_unlock(&p->lock);

        /* The slot belongs to this thread until it is ready, so it is filled without the lock. */
        const struct session_ref *ref = p->order[i];
        const struct store_ops *ops = ref->store->ops;
        struct usage_slot *s = &p->slot[i % RING];

        s->wanted = false;
        s->rc = ops->usage ? ops->describe(ref->store, &p->q->scope, ref, s->row, &s->err) : ERR_OK;
        if (ops->usage && !s->rc && is_counted(p->q, s->row)) {
            s->rc = usage_list_read(ref, &p->stop, &s->list, &s->err);
            s->wanted = !s->rc;
            /* A sub-agent's answers are counted in the session that it worked for, if that has them. */
            for (size_t k = 0; s->wanted && s->row->hidden == HIDDEN_SIDECHAIN && k < s->list.n;
                 k++)
                s->list.record[k].aside = s->list.record[k].copied = true;
        }

        pthread_mutex_lock(&p->lock);
        p->slot[i % RING].ready = true;
        pthread_cond_signal(&p->made);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static enum err_code read_in_order(struct usage_pool *p, usage_session_fn *fn,
                                   unreadable_fn *trouble, void *arg, struct err *e)
{
    enum err_code rc = ERR_OK;

    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->made, NULL);
    pthread_cond_init(&p->room, NULL);
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    const size_t want = cores < 1 ? 1 : cores > THREADS ? THREADS : (size_t)cores;

    for (size_t i = 0; i < RING && i < p->n && !rc; i++)
        if (!(p->slot[i].row = session_row_new()))
            rc = err_nomem(e);
    while (!rc && p->threads < want && p->threads < p->n &&
           pthread_create(&p->thread[p->threads], NULL, usage_worker, p) == 0)
        p->threads++;
    if (!rc && !p->threads && p->n)
        rc = err_set(e, ERR_IO, NULL, "no thread could be started");
    if (!rc) {
        /* The sessions are handed over in the order of the listing. */
        while (!rc && p->handed < p->n) {
            struct usage_slot *s = &p->slot[p->handed % RING];

            pthread_mutex_lock(&p->lock);
            while (!p->slot[p->handed % RING].ready)
                pthread_cond_wait(&p->made, &p->lock);
            pthread_mutex_unlock(&p->lock);

            if (s->rc == ERR_NOMEM)
                rc = err_nomem(e);
            else if (s->rc && s->rc != ERR_NOT_FOUND)
                trouble(&s->err, arg);
            else if (s->wanted)
                rc = fn(s->row, &s->list, arg, e);
            if (s->wanted)
                usage_list_fini(&s->list);
            pthread_mutex_lock(&p->lock);
            s->ready = s->wanted = false;
            p->handed++;
            pthread_cond_broadcast(&p->room);
            pthread_mutex_unlock(&p->lock);
        }
    }
    /* The flag is set under the lock, so that no thread misses it between its check and its wait. */
    pthread_mutex_lock(&p->lock);
    atomic_store(&p->stop, true);
    pthread_cond_broadcast(&p->room);
    pthread_mutex_unlock(&p->lock);
    for (size_t i = 0; i < p->threads; i++)
        pthread_join(p->thread[i], NULL);
    for (size_t i = 0; i < RING; i++) {
        if (p->slot[i].wanted)
            usage_list_fini(&p->slot[i].list);
        session_row_free(p->slot[i].row);
    }

    pthread_cond_destroy(&p->room);
    pthread_cond_destroy(&p->made);
    pthread_mutex_destroy(&p->lock);
    return rc;
}

enum err_code usage_each(struct store *const stores[], size_t n, const struct listing_query *q,
                         usage_session_fn *fn, unreadable_fn *trouble, void *arg, struct err *e)
{
    struct listing *listing = NULL;
    struct usage_pool *p = calloc(1, sizeof *p);
    enum err_code rc = p ? listing_open(stores, n, q, &listing, e) : err_nomem(e);

    if (!rc) {
        p->q = q;
        p->order = listing_refs(listing, &p->n);
        rc = read_in_order(p, fn, trouble, arg, e);
    }
    listing_close(listing);
    free(p);
    return rc;
}
