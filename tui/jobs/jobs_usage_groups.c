#include <stdlib.h>

#include "tui/data/usage_groups.h"
#include "tui/jobs/jobs.h"

/* The answers of all sessions of the scope. */

struct usage_reading {
    struct usage_groups *groups;
    const atomic_bool *cancelled;
};

static enum err_code usage_reading_add(const struct session_row *row, const struct usage_list *list,
                                       void *arg, struct err *e)
{
    struct usage_reading *r = arg;

    if (atomic_load(r->cancelled))
        return err_set(e, ERR_CANCELLED, "", "count tokens");
    return list->n ? usage_groups_add(r->groups, &row->ref, row, list, e) : ERR_OK;
}

static void usage_reading_skip(const struct err *e, void *arg)
{
    struct usage_reading *r = arg;

    (void)e;
    r->groups->unread++;
}

enum err_code jobs_usage_groups(struct job_context *d, const struct effect *q,
                                const struct reply *r, struct err *e)
{
    struct usage_groups *g = calloc(1, sizeof *g);
    struct usage_reading reading = { g, r->cancelled };
    struct listing_query query = { .since_ms = TIME_NONE, .before_ms = TIME_NONE };
    enum err_code rc = g ? jobs_scope(d, q->scope, &query.scope, e) : err_nomem(e);

    query.scope.cancel = r->cancelled;
    if (!rc)
        rc = usage_each(d->store, d->stores, &query, usage_reading_add, usage_reading_skip,
                        &reading, e);
    if (!rc && usage_set_finish(&g->set))
        rc = err_nomem(e);
    if (rc)
        usage_groups_free(g);
    else
        jobs_post(r, q, (struct msg){ .kind = MSG_USAGE_GROUPS, .u.usage_groups = g });
    return rc;
}
