#include "tui/screens/list.h"

/* A closer look at rows that are described: what a session weighs with all that lies beside its transcript, and a title
 * or tag that stands in the middle of a long one. Both cost more than a row may, so they come last: when nothing else
 * is asked, and what is on the screen first. Weights are asked for where they are shown: for the screen, and for all
 * only when the list is in their order. */
enum { WEIGH_ROWS = 64, DEEP_ROWS = 8 };

static bool wants_weight(const struct entry *e)
{
    return e->row && !e->stale && !e->gone && !e->weighed;
}

static bool wants_deep(const struct entry *e)
{
    return e->row && !e->stale && !e->gone && !e->deep && session_wants_title(e->row);
}

static void add(struct list *l, struct ref_list *refs, uint32_t i, bool deep)
{
    struct entry *e = &l->roster.entry[i];

    if (deep ? !wants_deep(e) : !wants_weight(e))
        return;
    if (!ref_list_add(refs, &e->ref, i))
        return;
    if (deep)
        e->deep = true;
    else
        e->weighed = true;
}

static void choose_refs(struct list *l, struct ref_list *refs, bool deep)
{
    const size_t most = deep ? DEEP_ROWS : WEIGH_ROWS;
    const bool all = deep || l->sort == SORT_SIZE;
    size_t *next = deep ? &l->next_deep : &l->next_weight;

    for (size_t i = l->top; i < l->filter.hits && i < l->top + WEIGH_ROWS && refs->n < most; i++)
        add(l, refs, l->filter.hit[i], deep);
    while (all && refs->n < most && *next < l->roster.n)
        add(l, refs, (uint32_t)(*next)++, deep);
}

static void ask(struct list *l, bool deep, struct effects *fx)
{
    struct describe_job *job = deep ? &l->deep_job : &l->weigh_job;
    struct ref_list *refs = job->generation == 0 ? ref_list_new() : NULL;

    if (!refs)
        return;
    choose_refs(l, refs, deep);
    if (refs->n == 0) {
        ref_list_free(refs);
        return;
    }
    struct effect *e = effect_add(fx, deep ? EFFECT_DEEP : EFFECT_WEIGHTS, ASKER_LIST);

    e->scope = l->scope;
    e->refs = refs;
    *job = (struct describe_job){ .generation = e->generation, .left = refs->n };
}

void list_look_closer(struct list *l, struct effects *fx)
{
    if (l->listing != 0 || l->roster.stale > 0 || filter_pending(&l->filter))
        return;
    ask(l, false, fx);
    ask(l, true, fx);
}

static void end_job(struct describe_job *job, struct effects *fx)
{
    if (job->generation != 0)
        effect_add(fx, EFFECT_CANCEL, ASKER_LIST)->generation = job->generation;
    *job = (struct describe_job){ 0 };
}

void list_closer_forget(struct list *l, struct effects *fx)
{
    end_job(&l->weigh_job, fx);
    end_job(&l->deep_job, fx);
    l->next_weight = l->next_deep = 0;
}

/* The file may have changed since: then it is described anew, and what was found is about the past. */
static void take_deep(struct list *l, struct described *d)
{
    struct entry *e = &l->roster.entry[d->entry];

    if (!d->row || e->stale || e->gone || !e->row)
        return;
    filter_set(&l->filter, d->entry, d->row->hidden == HIDDEN_NOT ? d->row : NULL);
    if (d->row->hidden == HIDDEN_NOT)
        list_widen(&l->widths, d->row);
    roster_set_row(&l->roster, d->entry, d->row);
    e->deep = true;
    d->row = NULL;
}

static void take_weight(struct list *l, const struct described *d)
{
    const struct entry *e = &l->roster.entry[d->entry];

    if (!e->stale && !e->gone && d->code == ERR_OK)
        roster_set_bytes(&l->roster, d->entry, d->bytes);
}

bool list_closer_msg(struct list *l, const struct msg *msg)
{
    bool deep = msg->kind == MSG_DEEP;
    struct describe_job *job = deep ? &l->deep_job : &l->weigh_job;
    struct described_list *rows = msg->u.described;
    bool mine = job->generation != 0 && job->generation == msg->generation, found = false;

    for (size_t i = 0; mine && i < rows->n; i++) {
        found |= deep ? rows->item[i].row != NULL : l->sort == SORT_SIZE;
        if (deep)
            take_deep(l, &rows->item[i]);
        else
            take_weight(l, &rows->item[i]);
    }
    if (mine) {
        job->left -= rows->n < job->left ? rows->n : job->left;
        if (job->left == 0)
            *job = (struct describe_job){ 0 };
    }
    described_list_free(rows);
    return found;
}

bool list_closer_failed(struct list *l, unsigned generation)
{
    struct describe_job *const jobs[] = { &l->weigh_job, &l->deep_job };

    for (size_t i = 0; i < 2; i++)
        if (jobs[i]->generation != 0 && jobs[i]->generation == generation) {
            *jobs[i] = (struct describe_job){ 0 }; /* its rows stay as they are */
            return true;
        }
    return false;
}
