#include "store/export/export.h"

#include "tui/jobs/jobs_internal.h"

/* Writes a session to a file, or several into a directory. */

static enum err_code write_one(const struct effect *q, const struct export_request *request,
                               size_t i, struct export_summary *sum, struct err *e)
{
    char path[EXPORT_PATH];

    if (q->refs->n == 1)
        return export_file(&q->refs->ref[0], request, q->text.p, q->replaces, sum, e);
    return export_into(&q->refs->ref[i], request, q->text.p, false, path, sum, e);
}

/* If a session cannot be written, the others still are. */
enum err_code jobs_export(const struct effect *q, const struct reply *r, struct err *e)
{
    struct export_request request = q->export;
    struct msg done = { .kind = MSG_EXPORTED };
    enum err_code failure = ERR_OK;

    request.cancel = r->cancelled;
    for (size_t i = 0; i < q->refs->n && failure != ERR_CANCELLED; i++) {
        struct export_summary sum;
        struct err why = { 0 };
        enum err_code rc = write_one(q, &request, i, &sum, &why);

        done.u.exported.files += rc == ERR_OK;
        done.u.exported.failed += rc != ERR_OK;
        done.u.exported.bytes += rc ? 0 : (int64_t)sum.bytes;
        done.u.exported.secrets += rc ? 0 : redact_counts_total(&sum.redacted);
        done.u.exported.unread += rc ? 0 : sum.unread;
        if (rc && (!failure || rc == ERR_CANCELLED)) {
            failure = rc;
            *e = why;
        }
        export_summary_fini(&sum);
    }
    if (failure && (failure == ERR_CANCELLED || done.u.exported.files == 0))
        return failure;
    jobs_post(r, q, done);
    return ERR_OK;
}
