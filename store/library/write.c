#include <stdio.h>
#include <stdlib.h>

#include "store/api/host.h"
#include "store/library/call.h"

/* ---- create ---- */

/* By its id alone: a name that a person types could mean something else. */
static enum err_code make_handle(const struct reprise *r, struct slice id,
                                 struct reprise_session **out, struct err *e)
{
    const struct scope everywhere = { .all = true };
    const struct store *st = r->store[0];
    struct reprise_session *s = calloc(1, sizeof *s);

    if (!s)
        return err_nomem(e);
    s->stores = r;
    enum err_code rc = st->ops->find(st, &everywhere, id, &s->arena, &s->ref, e);

    return session_handle_finish(s, rc, out, e);
}

static enum err_code create(const struct reprise *r, const struct reprise_create_request *request,
                            struct reprise_session **out, struct err *e)
{
    struct reprise_create_request q;
    struct host_created made;
    struct arena a = { 0 };
    enum err_code rc = call_options(request, &q, sizeof q, e);

    if (!rc && r->n != 1)
        rc = err_set(e, ERR_USAGE, "", "create: needs one store to be open, not %zu", r->n);
    if (rc)
        return rc;
    const struct host_create req = { .id = call_text(q.id),
                                     .cwd = call_text(q.directory),
                                     .model = call_text(q.model),
                                     .title = call_text(q.title),
                                     .parent = call_text(q.parent) };

    rc = host_create(r->store[0], &req, &a, &made, e);
    if (!rc)
        rc = make_handle(r, made.id, out, e);
    arena_fini(&a);
    return rc;
}

int reprise_create(const struct reprise *r, const struct reprise_create_request *request,
                   struct reprise_session **out, struct reprise_error *error)
{
    struct call c;

    call_begin(&c);
    return call_end(&c, create(r, request, out, &c.err), error);
}

/* ---- append ---- */

static enum err_code copy_ids(const struct host_appended *done, struct reprise_texts **out,
                              struct err *e)
{
    struct reprise_texts *ids = texts_new();
    enum err_code rc = ids ? ERR_OK : err_nomem(e);

    for (size_t i = 0; i < done->n && !rc; i++)
        rc = texts_add(ids, done->id[i], e);
    if (rc)
        reprise_texts_free(ids);
    else
        *out = ids;
    return rc;
}

static enum err_code append(const struct reprise_session *s, struct slice text, uint32_t flags,
                            struct reprise_texts **ids, struct err *e)
{
    struct host_append req = { .transcript = flags & REPRISE_APPEND_STREAM };
    struct host_appended done;
    struct slice *row;
    struct arena a = { 0 };
    enum err_code rc = flags & ~(uint32_t)REPRISE_APPEND_STREAM
                           ? err_set(e, ERR_USAGE, "", "append: unknown flag")
                           : host_rows(text, &a, &row, &req.n, e);

    if (!rc) {
        req.row = row;
        rc = host_append(s->ref.store, &s->ref, &req, &a, &done, e);
    }
    if (!rc && ids)
        rc = copy_ids(&done, ids, e);
    arena_fini(&a);
    return rc;
}

int reprise_append(const struct reprise_session *s, const char *rows, size_t length, uint32_t flags,
                   struct reprise_texts **ids, struct reprise_error *error)
{
    struct call c;

    call_begin(&c);
    return call_end(&c, append(s, (struct slice){ rows, length }, flags, ids, &c.err), error);
}

/* ---- set ---- */

int reprise_set(const struct reprise_session *s, const char *key, const char *value,
                struct reprise_error *error)
{
    const struct host_setting setting = { call_text(key), call_text(value) };
    struct call c;

    call_begin(&c);
    return call_end(&c, host_set(s->ref.store, &s->ref, &setting, 1, &c.err), error);
}

/* ---- checkpoint ---- */

static enum err_code save(const struct reprise_session *s,
                          const struct reprise_checkpoint_request *request,
                          struct reprise_checkpoint_result *out, struct err *e)
{
    struct reprise_checkpoint_request q;
    struct reprise_checkpoint_result result = { 0 };
    struct host_checkpointed done;
    struct arena a = { 0 };
    enum err_code rc = call_options(request, &q, sizeof q, e);

    if (!rc && out) /* an unusable result must be noticed before anything is written */
        rc = call_result(&result, sizeof result, out, e);
    if (rc)
        return rc;
    const struct host_checkpoint req = { .message = call_text(q.message),
                                         .file = q.files,
                                         .files = q.files_count,
                                         .label = call_text(q.label) };

    rc = host_checkpoint(s->ref.store, &s->ref, &req, &a, &done, e);
    if (!rc && out) {
        snprintf(result.id, sizeof result.id, "%.*s", SLICE_ARG(done.id));
        snprintf(result.warning, sizeof result.warning, "%s", done.warning ? done.warning : "");
        result.files = done.files;
        result.fresh = done.fresh;
        rc = call_result(&result, sizeof result, out, e);
    }
    arena_fini(&a);
    return rc;
}

int reprise_checkpoint(const struct reprise_session *s,
                       const struct reprise_checkpoint_request *request,
                       struct reprise_checkpoint_result *result, struct reprise_error *error)
{
    struct call c;

    call_begin(&c);
    return call_end(&c, save(s, request, result, &c.err), error);
}
