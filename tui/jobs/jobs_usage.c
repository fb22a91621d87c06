#include <stdlib.h>

#include "lite/base/array.h"
#include "lite/base/cleanup.h"
#include "lite/base/utf8.h"
#include "store/query/usage.h"
#include "tui/jobs/jobs.h"

/* The tokens of one session, the turns of its conversation, and the tokens of each. */

struct turn_walk {
    const struct job_context *context;
    const struct conversation *c;
    struct usage_set *set;
    struct conversation_usage *out;
    struct idset ids;  /* the ids of the messages */
    uint32_t *message; /* owned; ... and which ones they are */
};

enum { PROMPT_MOST = 400 }; /* bytes of a prompt that are of use in one line */

/* A prompt begins a turn; rows of the person with a tool's result do not. */
static enum err_code add_turn(struct turn_walk *w, size_t i, struct buf *row)
{
    const struct conversation *c = w->c;
    const struct message *m = &c->transcript->message[i];
    struct conversation_usage *out = w->out;
    struct block_list list = { .n = 0 };
    enum err_code rc = ERR_OK;

    if (m->kind != MESSAGE_USER || m->flags & (MESSAGE_META | MESSAGE_SUMMARY) ||
        transcript_read(c->transcript, i, row, NULL) ||
        c->store->ops->blocks(c->store, buf_slice(row), &list, NULL))
        return ERR_OK;
    for (size_t b = 0; b < list.n && !rc; b++) {
        struct slice text = utf8_js_trim(list.block[b].text);

        if (list.block[b].kind != BLOCK_PROMPT && list.block[b].kind != BLOCK_COMMAND)
            continue;
        text.n = text.n < PROMPT_MOST ? text.n : PROMPT_MOST;
        text = arena_copy(&out->prompts, text);
        if (!text.p || !array_reserve(out->head, out->heads_cap, out->heads + 1))
            rc = ERR_NOMEM;
        else
            out->head[out->heads++] = (struct turn_head){ i, text };

        /* A message begins one turn, even if it has several prompts. */
        break;
    }
    transcript_blocks_fini(&list);
    return rc;
}

static enum err_code find_turns(struct turn_walk *w, const atomic_bool *cancelled, struct err *e)
{
    const struct transcript *t = w->c->transcript;
    struct buf row = { 0 };
    enum err_code rc = ERR_OK;

    w->message = calloc(t->n + 1, sizeof *w->message);
    NEED(w->message);
    for (size_t i = 0; !rc && i < t->n; i++) {
        uint32_t number;

        if (atomic_load_explicit(cancelled, memory_order_relaxed))
            rc = err_set(e, ERR_CANCELLED, NULL, "sum up tokens");
        else if (idset_add(&w->ids, t->message[i].id, &number) || add_turn(w, i, &row))
            rc = err_nomem(e);
        if (!rc)
            w->message[number] = (uint32_t)i;
    }
    buf_fini(&row);
    return rc;
}

/* The turn that was running; if several have the same time, the last one. SIZE_MAX: the answer is on another branch, or
 * its place is unknown. Unrecorded calls have no turn. */
static size_t turn_of_answer(const struct turn_walk *w, const struct usage_answer *a)
{
    const struct message *message = w->c->transcript->message;
    const struct turn_head *head = w->out->head;
    const bool by_time = id128_none(a->message);
    uint32_t number = by_time ? IDSET_NONE : idset_find(&w->ids, a->message);
    size_t i = w->out->heads;

    if (a->unrecorded || (by_time ? a->time_ms == TIME_NONE : number == IDSET_NONE))
        return SIZE_MAX;
    while (i > 0 && (by_time ? message[head[i - 1].message].time_ms > a->time_ms
                             : head[i - 1].message > w->message[number]))
        i--;
    return i - 1;
}

static int compare_turns(const void *x, const void *y)
{
    int64_t a = ((const struct turn_usage *)x)->end, b = ((const struct turn_usage *)y)->end;

    return (a > b) - (a < b);
}

static enum err_code sum_turns(struct turn_walk *w, const atomic_bool *cancelled, struct err *e)
{
    enum err_code rc = find_turns(w, cancelled, e);

    const size_t turns = w->out->heads;

    if (!rc && !(w->out->turn = calloc(turns + 1, sizeof *w->out->turn)))
        rc = err_nomem(e);
    for (size_t i = 0; !rc && i < w->set->n; i++) {
        size_t turn = turn_of_answer(w, &w->set->answer[i]);

        if (turn < turns)
            usage_sum_add(&w->out->turn[turn].sum, &w->set->answer[i], w->set->answer[i].cost);
    }
    if (!rc) {
        /* The numbers of the turns are no longer needed, so those without usage are removed and the rest is sorted. */
        struct conversation_usage *u = w->out;
        const struct transcript *t = w->c->transcript;

        for (size_t i = 0; i < turns; i++) {
            size_t end = i + 1 < turns ? u->head[i + 1].message : t->n;

            u->turn[i].end = t->message[end - 1].offset;
            if (!usage_sum_is_empty(&u->turn[i].sum))
                u->turn[u->n++] = u->turn[i];
        }

        /* A turn is found by the offset of its last message, which need not grow from turn to turn. */
        if (u->n)
            qsort(u->turn, u->n, sizeof *u->turn, compare_turns);
    }

    idset_fini(&w->ids);
    free(w->message);
    return rc;
}

static enum err_code sum_session(const struct job_context *d, const struct usage_list *list,
                                 struct usage_set *set, struct conversation_usage *out,
                                 struct err *e)
{
    for (size_t i = 0; i < list->n; i++)
        if (usage_set_add(set, 0, &list->record[i]))
            return err_nomem(e);
    if (usage_set_finish(set))
        return err_nomem(e);
    for (size_t i = 0; i < set->n; i++) {
        struct usage_answer *a = &set->answer[i];

        if (d->config)
            a->cost = config_cost(d->config, a, set->models.text[a->model]);
        usage_sum_add(&out->sum, a, a->cost);
    }
    return ERR_OK;
}

enum err_code jobs_usage(const struct job_context *d, const struct effect *q, const struct reply *r,
                         struct err *e)
{
    const struct session_ref *ref = &q->refs->ref[0];
    struct conversation_usage *out = calloc(1, sizeof *out);
    struct usage_list list = { .n = 0 };
    struct usage_set set = { .n = 0 };
    enum err_code rc = out ? ERR_OK : err_nomem(e);

    if (!rc && ref->store->ops->usage)
        rc = usage_list_read(ref, r->cancelled, &list, e);
    if (!rc)
        rc = sum_session(d, &list, &set, out, e);
    if (!rc && q->conversation) {
        struct turn_walk w = { .context = d, .c = q->conversation, .set = &set, .out = out };

        rc = sum_turns(&w, r->cancelled, e);
    }
    usage_list_fini(&list);
    usage_set_fini(&set);
    if (rc)
        conversation_usage_free(out);
    else
        jobs_post(r, q, (struct msg){ .kind = MSG_USAGE, .u.token_usage = out });
    return rc;
}
