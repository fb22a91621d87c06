#include "store/export/export.h"

#include "tui/jobs/jobs_internal.h"

/* Writes a session to a file. */

enum err_code jobs_export(const struct effect *q, const struct reply *r, struct err *e)
{
    struct export_request request = q->export;
    struct export_summary sum;

    request.cancel = r->cancelled;
    enum err_code rc = export_file(&q->refs->ref[0], &request, q->text.p, q->replaces, &sum, e);

    if (!rc)
        jobs_post(r, q,
                  (struct msg){ .kind = MSG_EXPORTED,
                                .u.exported = { .bytes = (int64_t)sum.bytes,
                                                .secrets = redact_counts_total(&sum.redacted),
                                                .unread = sum.unread } });
    export_summary_fini(&sum);
    return rc;
}
