#include <stdlib.h>
#include <string.h>

#include "store/host/host_session.h"
#include "store/library/call.h"

struct reprise_writer {
    struct host_session *session;
    char *id; /* with a NUL */
    reprise_failed_fn *failed;
    void *arg;
};

static void library_report_failure(const struct err *failure, void *arg)
{
    const struct reprise_writer *w = arg;
    struct reprise_error error;

    call_describe_error(failure, &error);
    w->failed(&error, w->arg);
}

static enum err_code library_writer_read_options(struct reprise_writer *w,
                                                 const struct reprise_writer_options *given,
                                                 struct host_session_options *out, struct err *e)
{
    static const enum host_durable durable[] = {
        [REPRISE_DURABLE_BATCH] = HOST_DURABLE_BATCH,
        [REPRISE_DURABLE_ROW] = HOST_DURABLE_ROW,
        [REPRISE_DURABLE_FLUSH] = HOST_DURABLE_FLUSH,
    };
    struct reprise_writer_options o;

    TRY(call_options(given, &o, sizeof o, e));
    if (o.flags & ~(uint32_t)REPRISE_WRITER_BACKGROUND || o.durable < 0 ||
        o.durable > REPRISE_DURABLE_FLUSH)
        return err_set(e, ERR_USAGE, "", "open for writing: unknown flag or durability");
    w->failed = o.failed;
    w->arg = o.arg;
    *out = (struct host_session_options){
        .background = o.flags & REPRISE_WRITER_BACKGROUND,
        .durable = durable[o.durable],
        .interval_ms = o.interval_ms,
        .batch_rows = (size_t)o.batch_rows,
        .batch_bytes = (size_t)o.batch_bytes,
        .queue_rows = (size_t)o.queue_rows,
        .queue_bytes = (size_t)o.queue_bytes,
        .failed = o.failed ? library_report_failure : NULL,
        .arg = w,
    };
    return ERR_OK;
}

/* Returns the writer, or frees it after a failure. */
static enum err_code library_writer_finish(struct reprise_writer *w, enum err_code rc,
                                           struct reprise_writer **out, struct err *e)
{
    if (!rc) {
        struct slice id = host_session_id(w->session);

        w->id = strndup(id.p, id.n);
        rc = w->id ? ERR_OK : err_nomem(e);
    }
    if (!rc) {
        *out = w;
        return ERR_OK;
    }
    host_session_close(w->session, NULL);
    free(w);
    return rc;
}

static enum err_code library_open_session(const struct reprise_session *s,
                                          const struct reprise_writer_options *options,
                                          struct reprise_writer **out, struct err *e)
{
    struct reprise_writer *w = calloc(1, sizeof *w);
    struct host_session_options o;
    struct session_ref now;
    struct arena a = { 0 };

    if (!w)
        return err_nomem(e);
    enum err_code rc = library_writer_read_options(w, options, &o, e);

    if (!rc)
        rc = session_now(s, &a, &now, e);
    if (!rc)
        rc = host_session_open(now.store, &now, &o, &w->session, e);
    arena_fini(&a);
    return library_writer_finish(w, rc, out, e);
}

int reprise_writer_open(const struct reprise_session *s,
                        const struct reprise_writer_options *options, struct reprise_writer **out,
                        struct reprise_error *error)
{
    if (!s || !out)
        return call_refuse(error);
    CALL_RETURN(error, library_open_session(s, options, out, e));
}

static enum err_code create_session(const struct reprise *r,
                                    const struct reprise_create_request *request,
                                    const struct reprise_writer_options *options,
                                    struct reprise_writer **out, struct err *e)
{
    struct reprise_writer *w = calloc(1, sizeof *w);
    struct host_session_options o;
    struct host_create req;

    if (!w)
        return err_nomem(e);
    enum err_code rc = library_writer_read_options(w, options, &o, e);

    if (!rc)
        rc = call_create_request(r, request, &req, e);
    if (!rc)
        rc = host_session_create(r->store[0], &req, &o, &w->session, e);
    return library_writer_finish(w, rc, out, e);
}

int reprise_writer_create(const struct reprise *r, const struct reprise_create_request *request,
                          const struct reprise_writer_options *options, struct reprise_writer **out,
                          struct reprise_error *error)
{
    if (!r || !out)
        return call_refuse(error);
    CALL_RETURN(error, create_session(r, request, options, out, e));
}

const char *reprise_writer_id(const struct reprise_writer *w)
{
    return w ? w->id : NULL;
}

static enum err_code library_writer_append_to(const void *writer, const struct host_append *req,
                                              struct arena *a, struct host_appended *done,
                                              struct err *e)
{
    const struct reprise_writer *w = writer;

    return host_session_append(w->session, req, a, done, e);
}

int reprise_writer_append(struct reprise_writer *w, const char *rows, size_t length, uint32_t flags,
                          struct reprise_texts **ids, struct reprise_error *error)
{
    if (!w || (!rows && length > 0) || length > CALL_TEXT_MOST)
        return call_refuse(error);

    const struct slice text = { rows, length };

    CALL_RETURN(error, call_append(library_writer_append_to, w, text, flags, ids, e));
}

static enum err_code library_writer_set(struct reprise_writer *w, const char *const *settings,
                                        size_t n, struct err *e)
{
    struct host_setting *setting;
    AUTO_ARENA a = { 0 };

    TRY(call_settings(settings, n, &a, &setting, e));
    return host_session_set(w->session, setting, n, e);
}

int reprise_writer_set(struct reprise_writer *w, const char *const *settings, size_t n,
                       struct reprise_error *error)
{
    if (!w || (!settings && n > 0))
        return call_refuse(error);
    CALL_RETURN(error, library_writer_set(w, settings, n, e));
}

int reprise_writer_flush(struct reprise_writer *w, struct reprise_error *error)
{
    if (!w)
        return call_refuse(error);
    CALL_RETURN(error, host_session_flush(w->session, e));
}

int reprise_writer_count(struct reprise_writer *w, struct reprise_writer_counts *out,
                         struct reprise_error *error)
{
    if (!w || !out)
        return call_refuse(error);

    struct host_session_counts n;
    struct call c;

    call_begin(&c);
    host_session_counts(w->session, &n);
    const struct reprise_writer_counts counts = { .written = n.written,
                                                  .present = n.present,
                                                  .left_out = n.left_out,
                                                  .lost = n.lost,
                                                  .batches = n.batches,
                                                  .queued = n.queued,
                                                  .remade = n.remade };

    return call_end(&c, call_result(&counts, sizeof counts, out, &c.err), error);
}

int reprise_writer_close(struct reprise_writer *w, struct reprise_error *error)
{
    struct call c;

    if (!w)
        return REPRISE_OK;
    call_begin(&c);
    enum err_code rc = host_session_close(w->session, &c.err);

    free(w->id);
    free(w);
    return call_end(&c, rc, error);
}
