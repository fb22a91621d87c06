#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/library/call.h"
#include "store/maintenance/session_change.h"

/* ---- names and marks ---- */

static void library_copy_change(const struct change *c, bool done, struct reprise_change *out)
{
    if (!done)
        return;
    snprintf(out->id, sizeof out->id, "%s", c->n ? c->id : "");
    snprintf(out->text, sizeof out->text, "%s", c->text ? c->text : "");
}

static enum err_code plan_and_do(const struct reprise_session *s, const struct session_change *what,
                                 struct change_log *log, struct change *c,
                                 struct reprise_change *done, struct err *e)
{
    const struct scope everywhere = { .all = true };
    struct session_ref now;
    bool at_once = false;
    enum err_code rc = session_now(s, &c->arena, &now, e);

    if (!rc)
        rc = session_change_plan(&now, &everywhere, what, c, &at_once, e);
    if (!rc && c->n)
        rc = change_run(log, c, e);
    if (!rc)
        library_copy_change(c, c->n || at_once, done);
    return rc;
}

/* It is planned when no other change is under way, so that several threads take turns. Stores that do not consist of
 * files do not use the log. */
static enum err_code do_in_turn(const struct reprise_session *s, const struct session_change *what,
                                struct change *c, struct reprise_change *done, struct err *e)
{
    const struct store_env env = call_env(s->stores);
    struct change_log *log = NULL;
    enum err_code rc = s->ref.store->ops->remote ? ERR_OK : change_log_open(&env, &log, e);

    c->at_ms = env.now_ms; /* an archive mark takes effect from now */
    if (!rc)
        rc = plan_and_do(s, what, log, c, done, e);
    change_log_close(log);
    return rc;
}

static enum err_code change_session(const struct reprise_session *s,
                                    const struct session_change *what, struct reprise_change *out,
                                    struct err *e)
{
    struct reprise_change done = { .size = sizeof done };
    enum err_code rc = call_check_result(out, e);

    if (rc)
        return rc;
    struct change *c = change_new(session_change_name(what->kind));

    rc = c ? do_in_turn(s, what, c, &done, e) : err_nomem(e);
    change_free(c);
    return rc || !out ? rc : call_result(&done, sizeof done, out, e);
}

static int change_in_call(const struct reprise_session *s, const struct session_change *what,
                          struct reprise_change *change, struct reprise_error *error)
{
    struct call c;

    call_begin(&c);
    return call_end(&c, change_session(s, what, change, &c.err), error);
}

int reprise_rename(const struct reprise_session *s, const char *title,
                   struct reprise_change *change, struct reprise_error *error)
{
    if (!s || !title)
        return call_refuse(error);

    const struct session_change what = { .kind = SESSION_RENAME, .text = call_text(title) };

    return change_in_call(s, &what, change, error);
}

int reprise_tag(const struct reprise_session *s, const char *tag, struct reprise_change *change,
                struct reprise_error *error)
{
    if (!s)
        return call_refuse(error);

    const struct session_change what = { .kind = SESSION_TAG, .text = call_text(tag) };

    return change_in_call(s, &what, change, error);
}

int reprise_archive(const struct reprise_session *s, int archived, struct reprise_change *change,
                    struct reprise_error *error)
{
    if (!s)
        return call_refuse(error);

    const struct session_change what = { .kind = archived ? SESSION_ARCHIVE : SESSION_UNARCHIVE };

    return change_in_call(s, &what, change, error);
}

int reprise_resume_at(const struct reprise_session *s, const char *message,
                      struct reprise_change *change, struct reprise_error *error)
{
    if (!s)
        return call_refuse(error);

    const struct session_change what = { .kind = SESSION_RESUME_AT, .text = call_text(message) };

    return change_in_call(s, &what, change, error);
}

/* The change is planned as reprise_tombstone() does, and not made. */
static enum err_code list_leaving(const struct reprise_session *s,
                                  const struct session_change *what, struct change *c,
                                  struct reprise_texts *out, struct err *e)
{
    const struct scope everywhere = { .all = true };
    struct left_out left = { .n = 0 };
    struct session_ref now;
    enum err_code rc = session_now(s, &c->arena, &now, e);

    if (!rc)
        rc = session_change_plan(&now, &everywhere, what, c, NULL, e);
    if (!rc && c->n)
        rc = session_change_left_out(&now, c, what->text, &left, e);
    for (size_t i = 0; !rc && i < left.n; i++)
        rc = texts_add(out, left.id[i], e);
    arena_fini(&left.arena);
    return rc;
}

static struct session_change tombstone_of(const char *message, uint32_t flags)
{
    return (struct session_change){ .kind = SESSION_TOMBSTONE,
                                    .text = call_text(message),
                                    .cut = flags & REPRISE_TOMBSTONE_CUT };
}

int reprise_tombstone_leaves(const struct reprise_session *s, const char *message, uint32_t flags,
                             struct reprise_texts **out, struct reprise_error *error)
{
    if (!s || !message || !out)
        return call_refuse(error);

    const struct session_change what = tombstone_of(message, flags);
    struct change *c = change_new(session_change_name(what.kind));
    struct reprise_texts *texts = texts_new();
    struct call k;

    call_begin(&k);
    enum err_code rc = c && texts ? ERR_OK : err_nomem(&k.err);

    if (!rc && flags & ~(uint32_t)REPRISE_TOMBSTONE_CUT)
        rc = err_set(&k.err, ERR_USAGE, "", "tombstone: unknown flag");
    if (!rc)
        rc = list_leaving(s, &what, c, texts, &k.err);
    change_free(c);
    return call_end(&k, texts_finish(texts, rc, out), error);
}

int reprise_tombstone(const struct reprise_session *s, const char *message, uint32_t flags,
                      struct reprise_change *change, struct reprise_error *error)
{
    if (!s || !message)
        return call_refuse(error);

    const struct session_change what = tombstone_of(message, flags);
    struct call c;

    call_begin(&c);
    enum err_code rc = flags & ~(uint32_t)REPRISE_TOMBSTONE_CUT
                           ? err_set(&c.err, ERR_USAGE, "", "tombstone: unknown flag")
                           : change_session(s, &what, change, &c.err);

    return call_end(&c, rc, error);
}

int reprise_reappend(const struct reprise_session *s, struct reprise_change *change,
                     struct reprise_error *error)
{
    if (!s)
        return call_refuse(error);

    const struct session_change what = { .kind = SESSION_REAPPEND };

    return change_in_call(s, &what, change, error);
}

/* ---- copies ---- */

static enum err_code library_read_request(const struct reprise_fork_request *given,
                                          struct fork_request *out, struct err *e)
{
    struct reprise_fork_request q;
    enum err_code rc = call_options(given, &q, sizeof q, e);

    if (!rc && (q.flags & ~(uint32_t)REPRISE_FORK_FILES || q.reserved))
        rc = err_set(e, ERR_USAGE, "", "fork: unknown flag");
    if (!rc && q.id && !q.id[0])
        rc = err_set(e, ERR_USAGE, "", "fork: invalid session id");
    if (!rc)
        *out = (struct fork_request){ .id = call_text(q.id),
                                      .at = call_text(q.at),
                                      .title = call_text(q.title),
                                      .with_files = q.flags & REPRISE_FORK_FILES };
    return rc;
}

/* The store of the copy; NULL: it is not open. */
static const struct store *library_store_of(const struct reprise_session *s, const char *system)
{
    const struct reprise *r = s->stores;

    if (!system)
        return s->ref.store;
    for (size_t i = 0; i < r->n; i++)
        if (strcmp(r->store[i]->ops->name, system) == 0)
            return r->store[i];
    return NULL;
}

/* The change is done, so a copy that cannot be found again has no handle, which is not an error. */
static void open_copy(const struct reprise_session *s, const struct fork_result *made,
                      struct reprise_session **out)
{
    const struct store *st = library_store_of(s, made->system);
    struct reprise_session *copy = st ? calloc(1, sizeof *copy) : NULL;

    *out = NULL;
    if (!copy)
        return;
    copy->stores = s->stores;
    copy->ref = (struct session_ref){ .store = st, .id = made->id, .path = slice_of(made->path) };
    session_handle_finish(copy, session_now(copy, &copy->arena, &copy->ref, NULL), out, NULL);
}

static enum err_code fork_into(const struct reprise_session *s, const struct fork_request *req,
                               struct change *c, struct reprise_fork_result *done,
                               struct reprise_session **out, struct err *e)
{
    const struct store_env env = call_env(s->stores);
    struct session_ref now;
    struct fork_result made;
    enum err_code rc = session_now(s, &c->arena, &now, e);

    if (!rc)
        rc = session_change_fork(&env, &now, req, c, &made, e);
    if (rc)
        return rc;
    snprintf(done->id, sizeof done->id, "%.*s", SLICE_ARG(made.id));
    snprintf(done->system, sizeof done->system, "%s",
             made.system ? made.system : s->ref.store->ops->name);
    snprintf(done->path, sizeof done->path, "%s", made.path);
    snprintf(done->change, sizeof done->change, "%s", c->id);
    if (out)
        open_copy(s, &made, out);
    return ERR_OK;
}

static enum err_code fork_session(const struct reprise_session *s,
                                  const struct reprise_fork_request *request,
                                  struct reprise_fork_result *out, struct reprise_session **copy,
                                  struct err *e)
{
    struct reprise_fork_result done = { .size = sizeof done };
    struct fork_request req;
    enum err_code rc = call_check_result(out, e);

    if (!rc)
        rc = library_read_request(request, &req, e);
    if (rc)
        return rc;
    struct change *c = change_new("fork");

    rc = c ? fork_into(s, &req, c, &done, copy, e) : err_nomem(e);
    change_free(c);
    return rc || !out ? rc : call_result(&done, sizeof done, out, e);
}

int reprise_fork(const struct reprise_session *s, const struct reprise_fork_request *request,
                 struct reprise_fork_result *result, struct reprise_session **out,
                 struct reprise_error *error)
{
    if (!s)
        return call_refuse(error);

    struct call c;

    call_begin(&c);
    return call_end(&c, fork_session(s, request, result, out, &c.err), error);
}
