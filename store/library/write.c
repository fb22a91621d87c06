#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/api/host.h"
#include "store/library/call.h"
#include "store/rewind/record/host_work.h"

/* ---- create ---- */

/* A session of a store that keeps nothing is not on disk, and writing to it writes nothing. */
static enum err_code name_unkept(const struct store *st, struct slice id, struct arena *a,
                                 struct session_ref *ref, struct err *e)
{
    *ref = (struct session_ref){
        .store = st, .id = arena_copy(a, id), .path = arena_copy(a, SLICE("")), .folder = SLICE("")
    };
    return ref->id.p && ref->path.p ? ERR_OK : err_nomem(e);
}

/* The session is found by its exact id, because a name as a person types it could mean another
 * one. */
static enum err_code make_handle(const struct reprise *r, struct slice id,
                                 struct reprise_session **out, struct err *e)
{
    const struct scope everywhere = { .all = true };
    const struct store *st = r->store[0];
    struct reprise_session *s = calloc(1, sizeof *s);

    if (!s)
        return err_nomem(e);
    s->stores = r;
    enum err_code rc = host_unpersisted(st)
                           ? name_unkept(st, id, &s->arena, &s->ref, e)
                           : st->ops->find(st, &everywhere, id, &s->arena, &s->ref, e);

    return session_handle_finish(s, rc, out, e);
}

enum err_code call_create_request(const struct reprise *r,
                                  const struct reprise_create_request *given,
                                  struct host_create *out, struct err *e)
{
    struct reprise_create_request q;
    enum err_code rc = call_options(given, &q, sizeof q, e);

    if (!rc && r->n != 1)
        rc = err_set(e, ERR_USAGE, "", "create: needs one store to be open, not %zu", r->n);
    if (!rc)
        *out = (struct host_create){ .id = call_text(q.id),
                                     .cwd = call_text(q.directory),
                                     .model = call_text(q.model),
                                     .title = call_text(q.title),
                                     .parent = call_text(q.parent),
                                     .dialect = call_text(q.dialect) };
    return rc;
}

static enum err_code library_create(const struct reprise *r,
                                    const struct reprise_create_request *request,
                                    struct reprise_session **out, struct err *e)
{
    struct host_create req;
    struct host_created made;
    struct arena a = { 0 };
    enum err_code rc = call_create_request(r, request, &req, e);

    if (!rc)
        rc = host_create(r->store[0], &req, &a, &made, e);
    if (!rc)
        rc = make_handle(r, made.id, out, e);
    arena_fini(&a);
    return rc;
}

int reprise_create(const struct reprise *r, const struct reprise_create_request *request,
                   struct reprise_session **out, struct reprise_error *error)
{
    if (!r || !out)
        return call_refuse(error);

    struct call c;

    call_begin(&c);
    return call_end(&c, library_create(r, request, out, &c.err), error);
}

/* ---- append ---- */

static enum err_code library_copy_ids(const struct host_appended *done, struct reprise_texts **out,
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

enum err_code call_append(call_append_fn *to, const void *session, struct slice text,
                          uint32_t flags, struct reprise_texts **ids, struct err *e)
{
    const uint32_t known = REPRISE_APPEND_STREAM | REPRISE_APPEND_SAVE;
    struct host_append req = { .transcript = flags & REPRISE_APPEND_STREAM,
                               .save = flags & REPRISE_APPEND_SAVE };
    struct host_appended done;
    struct slice *row;
    struct arena a = { 0 };
    enum err_code rc = flags & ~known ? err_set(e, ERR_USAGE, "", "append: unknown flag")
                                      : host_rows(text, &a, &row, &req.n, e);

    if (!rc) {
        req.row = row;
        rc = to(session, &req, &a, &done, e);
    }
    if (!rc && ids)
        rc = library_copy_ids(&done, ids, e);
    arena_fini(&a);
    return rc;
}

static enum err_code library_append_to(const void *session, const struct host_append *req,
                                       struct arena *a, struct host_appended *done, struct err *e)
{
    const struct reprise_session *s = session;

    return host_append(s->ref.store, &s->ref, req, a, done, e);
}

int reprise_append(const struct reprise_session *s, const char *rows, size_t length, uint32_t flags,
                   struct reprise_texts **ids, struct reprise_error *error)
{
    if (!s || (!rows && length > 0))
        return call_refuse(error);

    const struct slice text = { rows, length };
    struct call c;

    call_begin(&c);
    return call_end(&c, call_append(library_append_to, s, text, flags, ids, &c.err), error);
}

/* ---- set ---- */

enum err_code call_settings(const char *const *texts, size_t n, struct arena *a,
                            struct host_setting **out, struct err *e)
{
    struct host_setting *setting = arena_zalloc(a, (n + 1) * sizeof *setting);

    if (!setting)
        return err_nomem(e);
    for (size_t i = 0; i < n; i++) {
        const char *sign = texts[i] ? strchr(texts[i], '=') : NULL;

        if (!sign || sign == texts[i])
            return err_set(e, ERR_USAGE, texts[i] ? texts[i] : "", "set: expected KEY=VALUE");
        setting[i].key = (struct slice){ texts[i], (size_t)(sign - texts[i]) };
        setting[i].value = slice_of(sign + 1);
    }
    *out = setting;
    return ERR_OK;
}

int reprise_set(const struct reprise_session *s, const char *const *settings, size_t n,
                struct reprise_error *error)
{
    if (!s || (!settings && n > 0))
        return call_refuse(error);

    struct host_setting *setting = NULL;
    struct arena a = { 0 };
    struct call c;

    call_begin(&c);
    enum err_code rc = call_settings(settings, n, &a, &setting, &c.err);

    if (!rc)
        rc = host_set(s->ref.store, &s->ref, setting, n, &c.err);
    arena_fini(&a);
    return call_end(&c, rc, error);
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

    if (!rc)
        rc = call_check_result(out, e);
    if (!rc && !q.files && q.files_count > 0)
        rc = err_set(e, ERR_USAGE, "", "checkpoint: the list of files is NULL");
    for (size_t i = 0; !rc && i < q.files_count; i++)
        if (!q.files[i])
            rc = err_set(e, ERR_USAGE, "", "checkpoint: the name of a file is NULL");
    if (rc)
        return rc;
    const struct host_checkpoint req = { .message = call_text(q.message),
                                         .file = q.files,
                                         .files = q.files_count,
                                         .label = call_text(q.label),
                                         .task = call_text(q.task),
                                         .agent = call_text(q.agent) };

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
    if (!s || !request)
        return call_refuse(error);

    struct call c;

    call_begin(&c);
    return call_end(&c, save(s, request, result, &c.err), error);
}

int reprise_checkpoint_end(const struct reprise_session *s, const char *const *files, size_t n,
                           struct reprise_error *error)
{
    if (!s || (!files && n > 0))
        return call_refuse(error);

    struct call c;
    enum err_code rc = ERR_OK;

    call_begin(&c);
    for (size_t i = 0; i < n && !rc; i++)
        if (!files[i])
            rc = err_set(&c.err, ERR_USAGE, "", "checkpoint: the name of a file is NULL");
    if (!rc && s->ref.path.n && !host_unpersisted(s->ref.store))
        rc = host_work_record(&s->ref, files, n, &c.err);
    return call_end(&c, rc, error);
}
