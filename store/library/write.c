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

enum err_code call_create_request(const struct reprise *r,
                                  const struct reprise_create_request *given,
                                  struct host_create *out, struct err *e)
{
    struct reprise_create_request q;

    TRY(call_options(given, &q, sizeof q, e));
    if (r->n != 1)
        return err_set(e, ERR_USAGE, "", "create: needs one store to be open, not %zu", r->n);
    *out = (struct host_create){ .id = call_text(q.id),
                                 .cwd = call_text(q.directory),
                                 .model = call_text(q.model),
                                 .title = call_text(q.title),
                                 .parent = call_text(q.parent),
                                 .dialect = call_text(q.dialect) };
    return ERR_OK;
}

static enum err_code library_create(const struct reprise *r,
                                    const struct reprise_create_request *request,
                                    struct reprise_session **out, struct err *e)
{
    struct host_create req;
    struct host_created made;
    AUTO_ARENA a = { 0 };

    TRY(call_create_request(r, request, &req, e));
    TRY(host_create(r->store[0], &req, &a, &made, e));

    /* The session is found by its exact id, because a name as a person types it could mean another
     * one. */
    const struct scope everywhere = { .all = true };
    const struct store *st = r->store[0];
    struct reprise_session *s = calloc(1, sizeof *s);

    if (!s)
        return err_nomem(e);
    s->stores = r;
    s->warning = arena_copy_text(&s->arena, made.warning);
    enum err_code rc = s->arena.failed ? err_nomem(e)
                       : host_unpersisted(st)
                           ? name_unkept(st, made.id, &s->arena, &s->ref, e)
                           : st->ops->find(st, &everywhere, made.id, &s->arena, &s->ref, e);

    return session_handle_finish(s, rc, out, e);
}

int reprise_create(const struct reprise *r, const struct reprise_create_request *request,
                   struct reprise_session **out, struct reprise_error *error)
{
    if (!r || !out)
        return call_refuse(error);
    CALL_RETURN(error, library_create(r, request, out, e));
}

/* ---- append ---- */

enum err_code call_append(call_append_fn *to, const void *session, struct slice text,
                          uint32_t flags, struct reprise_texts **ids, struct err *e)
{
    const uint32_t known = REPRISE_APPEND_STREAM | REPRISE_APPEND_SAVE;
    struct host_append req = { .transcript = flags & REPRISE_APPEND_STREAM,
                               .save = flags & REPRISE_APPEND_SAVE };
    struct host_appended done;
    struct slice *row;
    AUTO_ARENA a = { 0 };

    if (flags & ~known)
        return err_set(e, ERR_USAGE, "", "append: unknown flag");
    TRY(host_rows(text, &a, &row, &req.n, e));
    req.row = row;
    TRY(to(session, &req, &a, &done, e));
    if (!ids)
        return ERR_OK;
    struct reprise_texts *texts = texts_new();
    enum err_code rc = texts ? ERR_OK : err_nomem(e);

    for (size_t i = 0; i < done.n && !rc; i++)
        rc = texts_add(texts, done.id[i], e);
    return texts_finish(texts, rc, ids);
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
    if (!s || (!rows && length > 0) || length > CALL_TEXT_MOST)
        return call_refuse(error);

    const struct slice text = { rows, length };

    CALL_RETURN(error, call_append(library_append_to, s, text, flags, ids, e));
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

static enum err_code library_set(const struct reprise_session *s, const char *const *settings,
                                 size_t n, struct err *e)
{
    struct host_setting *setting;
    AUTO_ARENA a = { 0 };

    TRY(call_settings(settings, n, &a, &setting, e));
    return host_set(s->ref.store, &s->ref, setting, n, e);
}

int reprise_set(const struct reprise_session *s, const char *const *settings, size_t n,
                struct reprise_error *error)
{
    if (!s || (!settings && n > 0))
        return call_refuse(error);
    CALL_RETURN(error, library_set(s, settings, n, e));
}

/* ---- checkpoint ---- */

static enum err_code library_check_names(const char *const *files, size_t n, struct err *e)
{
    for (size_t i = 0; i < n; i++)
        if (!files[i])
            return err_set(e, ERR_USAGE, "", "checkpoint: the name of a file is NULL");
    return ERR_OK;
}

static enum err_code save(const struct reprise_session *s,
                          const struct reprise_checkpoint_request *request,
                          struct reprise_checkpoint_result *out, struct err *e)
{
    struct reprise_checkpoint_request q;
    struct reprise_checkpoint_result result = { 0 };
    struct host_checkpointed done;
    AUTO_ARENA a = { 0 };

    TRY(call_options(request, &q, sizeof q, e));
    TRY(call_check_result(out, e));
    if (!q.files && q.files_count > 0)
        return err_set(e, ERR_USAGE, "", "checkpoint: the list of files is NULL");
    TRY(library_check_names(q.files, q.files_count, e));
    const struct host_checkpoint req = { .message = call_text(q.message),
                                         .file = q.files,
                                         .files = q.files_count,
                                         .label = call_text(q.label),
                                         .task = call_text(q.task),
                                         .agent = call_text(q.agent) };

    TRY(host_checkpoint(s->ref.store, &s->ref, &req, &a, &done, e));
    snprintf(result.id, sizeof result.id, "%.*s", SLICE_ARG(done.id));
    snprintf(result.warning, sizeof result.warning, "%s", done.warning ? done.warning : "");
    result.files = done.files;
    result.fresh = done.fresh;
    return call_result(&result, sizeof result, out, e);
}

int reprise_checkpoint(const struct reprise_session *s,
                       const struct reprise_checkpoint_request *request,
                       struct reprise_checkpoint_result *result, struct reprise_error *error)
{
    if (!s || !request)
        return call_refuse(error);
    CALL_RETURN(error, save(s, request, result, e));
}

static enum err_code library_checkpoint_end(const struct reprise_session *s,
                                            const char *const *files, size_t n, struct err *e)
{
    TRY(library_check_names(files, n, e));
    return s->ref.path.n && !host_unpersisted(s->ref.store) ? host_work_record(&s->ref, files, n, e)
                                                            : ERR_OK;
}

int reprise_checkpoint_end(const struct reprise_session *s, const char *const *files, size_t n,
                           struct reprise_error *error)
{
    if (!s || (!files && n > 0))
        return call_refuse(error);
    CALL_RETURN(error, library_checkpoint_end(s, files, n, e));
}
