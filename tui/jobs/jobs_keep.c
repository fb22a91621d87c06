#include <stdio.h>
#include <string.h>

#include "store/journal/change.h"
#include "store/keep/keep.h"
#include "store/maintenance/trash.h"
#include "tui/jobs/jobs.h"

/* Copies of sessions, and putting them back (store/keep/). */

static enum err_code jobs_keep_one(struct keep *k, const struct session_ref *ref,
                                   struct change_result *out, struct err *e)
{
    struct keep_result x;

    if (keep_store_is(ref->store))
        return ERR_OK;
    TRY(keep_session(k, ref, &x, e));
    if (x.state == KEEP_REFUSED)
        return err_set(e, x.code, "", "keep: %s", x.why);
    if (x.state == KEEP_UNCHANGED)
        return ERR_OK;
    out->bytes += x.bytes;
    NEED(name_list_add(&out->sessions, ref->id));
    return ERR_OK;
}

static enum err_code jobs_put_back(const struct store_env *env, struct change_log *log,
                                   const struct session_ref *ref, struct change_result *out,
                                   struct err *e)
{
    static const struct scope everywhere = { .all = true };
    AUTO_ARENA a = { 0 };
    CLEANUP(session_row_free_at) struct session_row *row = NULL;
    struct trash_request request;

    NEED(row = session_row_new());
    TRY(ref->store->ops->describe(ref->store, &everywhere, ref, row, e));
    TRY(trash_request_make_back(ref, session_row_title(row), &a, &request, e));
    TRY(trash_put_back(log, env, &request, e));
    NEED(name_list_add(&out->sessions, ref->id));
    return ERR_OK;
}

enum err_code jobs_keep(const struct job_context *d, const struct effect *q,
                        struct change_result *out, struct err *e)
{
    static const struct keep_limits none = { 0 };
    CLEANUP(change_log_close_at) struct change_log *log = NULL;
    struct store_env then = *d->env;

    then.now_ms = q->at_ms;
    if (q->request == CHANGE_KEEP) {
        const struct keep_limits *limits = d->config ? &d->config->keep_limits : &none;
        const struct ref_list *refs = q->refs;

        CLEANUP(keep_close_at) struct keep *k = NULL;
        enum err_code rc = ERR_OK;

        TRY(keep_open(&then, limits, false, &k, e));
        for (size_t i = 0; i < refs->n && !rc; i++)
            rc = jobs_keep_one(k, &refs->ref[i], out, e);
        if (keep_finish(k, rc ? NULL : e) && !rc)
            rc = e->code;
        return rc;
    }
    TRY(change_log_open(&then, &log, e));
    for (size_t i = 0; i < q->refs->n; i++)
        TRY(jobs_put_back(&then, log, &q->refs->ref[i], out, e));
    return ERR_OK;
}
