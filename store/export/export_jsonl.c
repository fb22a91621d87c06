#include <fcntl.h>

#include "lite/io/file.h"
#include "store/export/export_internal.h"

/* The rows as they are: a whole file byte by byte, including rows that are not messages and a torn last one, or the
 * rows of the messages of a branch or a part. With redaction, each row without a secret keeps its bytes. */

enum { PIECE = 256 * 1024 };

struct rows {
    struct export_out *o;
    const struct export_request *req;
    struct redact_counts *counts; /* NULL: nothing is redacted */
    struct buf redacted;
    bool torn; /* what was written does not end with a newline */
};

static void export_jsonl_add_bytes(struct rows *r, struct slice bytes)
{
    if (bytes.n == 0)
        return;
    export_out_add(r->o, bytes);
    r->torn = bytes.p[bytes.n - 1] != '\n';
}

static void export_jsonl_add_rows(struct rows *r, struct slice rows)
{
    if (!r->counts) {
        export_jsonl_add_bytes(r, rows);
        return;
    }
    r->redacted.n = 0;
    if (redact_json_rows(rows, &r->redacted, r->counts))
        r->o->rc = ERR_NOMEM;
    export_jsonl_add_bytes(r, buf_slice(&r->redacted));
}

static enum err_code export_jsonl_copy_file(struct rows *r, const char *path, struct err *e)
{
    struct file f;

    TRY(file_open(AT_FDCWD, path, FILE_FOLLOW, &f, e));

    /* The file is copied in pieces. */
    struct buf bytes = { 0 };
    size_t got = PIECE;
    int64_t at = 0;
    enum err_code rc = ERR_OK;

    while (!rc && !r->o->rc && got == PIECE) {
        if (export_is_cancelled(r->req))
            rc = err_set(e, ERR_CANCELLED, "", "export");
        else if (buf_reserve(&bytes, PIECE))
            rc = err_nomem(e);
        else
            rc = file_read(&f, at, bytes.p + bytes.n, PIECE, &got, e);
        if (rc)
            break;
        at += (int64_t)got;
        bytes.n += got;
        if (r->counts) {
            /* Pass on the whole lines of the bytes that were read and keep the rest. At the end
             * of the file it passes on everything. */
            bool at_end = got < PIECE;
            const char *nl = bytes.n ? memrchr(bytes.p, '\n', bytes.n) : NULL;
            size_t n = at_end ? bytes.n : nl ? (size_t)(nl + 1 - bytes.p) : 0;
            struct slice rest = { bytes.p, n }, line;
            bool torn;

            while (!r->o->rc && slice_line(&rest, &line, &torn)) {
                export_jsonl_add_rows(r, line);
                export_jsonl_add_bytes(r, torn ? (struct slice){ NULL, 0 } : SLICE("\n"));
            }
            memmove(bytes.p, bytes.p + n, bytes.n - n);
            bytes.n -= n;
        } else {
            export_jsonl_add_bytes(r, buf_slice(&bytes));
            bytes.n = 0;
        }
    }
    buf_fini(&bytes);

    file_close(&f);
    return rc ? err_at(e, rc, path) : ERR_OK;
}

static enum err_code copy_whole(struct rows *r, const struct session_ref *ref, struct err *e)
{
    struct export_part p;
    enum err_code rc;

    if (ref->store->ops->row_keys && ref->path.n > 6 &&
        memcmp(ref->path.p + ref->path.n - 6, ".jsonl", 6) == 0)
        return export_jsonl_copy_file(r, ref->path.p, e);
    rc = export_part_open(&p, ref, r->req, true, e);
    if (rc)
        return rc;
    if (p.t->bytes.p)
        export_jsonl_add_rows(r, buf_slice(&p.t->bytes));
    else
        rc = export_jsonl_copy_file(r, p.t->path, e);
    export_part_close(&p);
    return rc;
}

static enum err_code copy_part(struct rows *r, const struct session_ref *ref,
                               struct export_summary *sum, struct err *e)
{
    struct export_part p;
    struct buf row = { 0 };
    enum err_code rc = export_part_open(&p, ref, r->req, false, e);

    for (size_t i = p.from; !rc && !r->o->rc && i < p.to; i++) {
        rc = export_is_cancelled(r->req) ? err_set(e, ERR_CANCELLED, "", "export")
                                         : transcript_read(p.t, i, &row, e);
        if (!rc) {
            export_jsonl_add_rows(r, buf_slice(&row));
            export_jsonl_add_bytes(r, SLICE("\n"));
            sum->messages++;
        }
    }
    buf_fini(&row);
    export_part_close(&p);
    return rc;
}

enum err_code export_jsonl(struct export_out *o, const struct session_ref *ref,
                           const struct export_request *req, bool whole, struct export_summary *sum,
                           struct err *e)
{
    struct rows r = { .o = o, .req = req, .counts = req->redact ? &sum->redacted : NULL };
    bool part = !whole && export_is_part(req);
    enum err_code rc = part ? copy_part(&r, ref, sum, e) : copy_whole(&r, ref, e);

    if (!rc && r.torn && (whole || req->subagents))
        export_out_lit(o, "\n"); /* another file may follow */
    buf_fini(&r.redacted);
    return rc;
}
