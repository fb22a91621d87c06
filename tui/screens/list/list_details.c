#include "tui/screens/list/list.h"

/* A closer look at rows that are described: what a session weighs with all that lies beside its transcript, and a title
 * or tag that stands in the middle of a long one. Both cost more than a row may, so they come last: when nothing else
 * is asked, and what is on the screen first. Weights are asked for where they are shown: for the screen, and for all
 * only when the list is in their order. */
enum { WEIGH_ROWS = 64, DEEP_ROWS = 8 };

static bool wants_disk_usage(const struct session_entry *e)
{
    return e->row && !e->stale && !e->gone && !e->has_disk_usage;
}

static bool wants_full_scan(const struct session_entry *e)
{
    return e->row && !e->stale && !e->gone && !e->deep && session_wants_title(e->row);
}

static void add_details_ref(struct list *l, struct ref_list *refs, uint32_t i, bool deep)
{
    struct session_entry *e = &l->sessions.entry[i];

    if (deep ? !wants_full_scan(e) : !wants_disk_usage(e))
        return;
    if (!ref_list_add(refs, &e->ref, i))
        return;
    if (deep)
        e->deep = true;
    else
        e->has_disk_usage = true;
}

static void choose_details_refs(struct list *l, struct ref_list *refs, bool deep)
{
    const size_t most = deep ? DEEP_ROWS : WEIGH_ROWS;
    const bool all = deep || l->sort == SORT_SIZE;
    size_t *next = deep ? &l->next_full_scan : &l->next_disk_usage;

    for (size_t i = l->top; i < l->filter.hits && i < l->top + WEIGH_ROWS && refs->n < most; i++)
        add_details_ref(l, refs, l->filter.hit[i], deep);
    while (all && refs->n < most && *next < l->sessions.n)
        add_details_ref(l, refs, (uint32_t)(*next)++, deep);
}

static void request_details(struct list *l, bool deep, struct effects *fx)
{
    struct describe_job *job = deep ? &l->full_scan_job : &l->disk_usage_job;
    struct ref_list *refs = job->generation == 0 ? ref_list_new() : NULL;

    if (!refs)
        return;
    choose_details_refs(l, refs, deep);
    if (refs->n == 0) {
        ref_list_free(refs);
        return;
    }
    struct effect *e = effect_add(fx, deep ? EFFECT_FULL_SCAN : EFFECT_DISK_USAGE, REQUESTER_LIST);

    e->scope = l->scope;
    e->refs = refs;
    *job = (struct describe_job){ .generation = e->generation, .left = refs->n };
}

void list_details_request(struct list *l, struct effects *fx)
{
    if (l->listing != 0 || l->sessions.stale > 0 || filter_pending(&l->filter))
        return;
    request_details(l, false, fx);
    request_details(l, true, fx);
}

static void end_job(struct describe_job *job, struct effects *fx)
{
    if (job->generation != 0)
        effect_add(fx, EFFECT_CANCEL, REQUESTER_LIST)->generation = job->generation;
    *job = (struct describe_job){ 0 };
}

void list_details_cancel(struct list *l, struct effects *fx)
{
    end_job(&l->disk_usage_job, fx);
    end_job(&l->full_scan_job, fx);
    l->next_disk_usage = l->next_full_scan = 0;
}

/* The file may have changed since: then it is described anew, and what was found is about the past. */
static void set_full_scan(struct list *l, struct described *d)
{
    struct session_entry *e = &l->sessions.entry[d->entry];

    if (!d->row || e->stale || e->gone || !e->row)
        return;
    filter_set(&l->filter, d->entry, d->row->hidden == HIDDEN_NOT ? d->row : NULL);
    if (d->row->hidden == HIDDEN_NOT)
        list_widths_include(&l->widths, d->row);
    session_table_set_row(&l->sessions, d->entry, d->row);
    e->deep = true;
    d->row = NULL;
}

static void set_disk_usage(struct list *l, const struct described *d)
{
    const struct session_entry *e = &l->sessions.entry[d->entry];

    if (!e->stale && !e->gone && d->code == ERR_OK)
        session_table_set_bytes(&l->sessions, d->entry, d->bytes);
}

bool list_details_msg(struct list *l, const struct msg *msg)
{
    bool deep = msg->kind == MSG_FULL_SCAN;
    struct describe_job *job = deep ? &l->full_scan_job : &l->disk_usage_job;
    struct described_list *rows = msg->u.described;
    bool mine = job->generation != 0 && job->generation == msg->generation, found = false;

    for (size_t i = 0; mine && i < rows->n; i++) {
        found |= deep ? rows->item[i].row != NULL : l->sort == SORT_SIZE;
        if (deep)
            set_full_scan(l, &rows->item[i]);
        else
            set_disk_usage(l, &rows->item[i]);
    }
    if (mine) {
        job->left -= rows->n < job->left ? rows->n : job->left;
        if (job->left == 0)
            *job = (struct describe_job){ 0 };
    }
    described_list_free(rows);
    return found;
}

bool list_details_failed(struct list *l, unsigned generation)
{
    struct describe_job *const jobs[] = { &l->disk_usage_job, &l->full_scan_job };

    for (size_t i = 0; i < 2; i++)
        if (jobs[i]->generation != 0 && jobs[i]->generation == generation) {
            *jobs[i] = (struct describe_job){ 0 }; /* its rows stay as they are */
            return true;
        }
    return false;
}
