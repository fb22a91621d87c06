#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/library/call.h"
#include "store/maintenance/session_change.h"

/* ---- names and marks ---- */

/* It is planned when no other change is under way, so that several threads take turns. Stores that do not consist of
 * files do not use the log. */
static enum err_code change_session(const struct reprise_session *s,
                                    const struct session_change *what, struct reprise_change *out,
                                    struct err *e)
{
    const struct scope everywhere = { .all = true };
    const struct store_env env = call_env(s->stores);
    struct reprise_change done = { .size = sizeof done };
    CLEANUP(change_free_at) struct change *c = NULL;
    CLEANUP(change_log_close_at) struct change_log *log = NULL;
    struct session_ref now;
    bool at_once = false;

    TRY(call_check_result(out, e));
    NEED(c = change_new(session_change_name(what->kind)));
    if (!store_changes_at_once(s->ref.store->ops))
        TRY(change_log_open(&env, &log, e));
    c->at_ms = env.now_ms; /* an archive mark takes effect from now */
    TRY(session_now(s, &c->arena, &now, e));
    TRY(session_change_plan(&now, &everywhere, what, c, &at_once, e));
    if (c->n)
        TRY(change_run(log, c, e));
    if (c->n || at_once) {
        snprintf(done.id, sizeof done.id, "%s", c->n ? c->id : "");
        snprintf(done.text, sizeof done.text, "%s", c->text ? c->text : "");
    }
    return call_result(&done, sizeof done, out, e);
}

int reprise_rename(const struct reprise_session *s, const char *title,
                   struct reprise_change *change, struct reprise_error *error)
{
    if (!s || !title)
        return call_refuse(error);

    const struct session_change what = { .kind = SESSION_RENAME, .text = call_text(title) };

    CALL_RETURN(error, change_session(s, &what, change, e));
}

int reprise_tag(const struct reprise_session *s, const char *tag, struct reprise_change *change,
                struct reprise_error *error)
{
    if (!s)
        return call_refuse(error);

    const struct session_change what = { .kind = SESSION_TAG, .text = call_text(tag) };

    CALL_RETURN(error, change_session(s, &what, change, e));
}

int reprise_archive(const struct reprise_session *s, int archived, struct reprise_change *change,
                    struct reprise_error *error)
{
    if (!s)
        return call_refuse(error);

    const struct session_change what = { .kind = archived ? SESSION_ARCHIVE : SESSION_UNARCHIVE };

    CALL_RETURN(error, change_session(s, &what, change, e));
}

int reprise_resume_at(const struct reprise_session *s, const char *message,
                      struct reprise_change *change, struct reprise_error *error)
{
    if (!s)
        return call_refuse(error);

    const struct session_change what = { .kind = SESSION_RESUME_AT, .text = call_text(message) };

    CALL_RETURN(error, change_session(s, &what, change, e));
}

static enum err_code tombstone_of(const char *message, uint32_t flags, struct session_change *out,
                                  struct err *e)
{
    *out = (struct session_change){ .kind = SESSION_TOMBSTONE,
                                    .text = call_text(message),
                                    .cut = flags & REPRISE_TOMBSTONE_CUT };
    return flags & ~(uint32_t)REPRISE_TOMBSTONE_CUT
               ? err_set(e, ERR_USAGE, "", "tombstone: unknown flag")
               : ERR_OK;
}

/* The change is planned as reprise_tombstone() does, and not made. */
static enum err_code list_leaving(const struct reprise_session *s, const char *message,
                                  uint32_t flags, struct reprise_texts *texts, struct err *e)
{
    const struct scope everywhere = { .all = true };
    CLEANUP(change_free_at) struct change *c = NULL;
    struct left_out left = { .n = 0 };
    struct session_change what;
    struct session_ref now;

    TRY(tombstone_of(message, flags, &what, e));
    NEED(c = change_new(session_change_name(what.kind)));
    TRY(session_now(s, &c->arena, &now, e));
    TRY(session_change_plan(&now, &everywhere, &what, c, NULL, e));
    enum err_code rc = c->n ? session_change_left_out(&now, c, what.text, &left, e) : ERR_OK;

    for (size_t i = 0; !rc && i < left.n; i++)
        rc = texts_add(texts, left.id[i], e);
    arena_fini(&left.arena);
    return rc;
}

int reprise_tombstone_leaves(const struct reprise_session *s, const char *message, uint32_t flags,
                             struct reprise_texts **out, struct reprise_error *error)
{
    if (!s || !message || !out)
        return call_refuse(error);
    TEXTS_RETURN(out, error, list_leaving(s, message, flags, texts, e));
}

static enum err_code library_tombstone(const struct reprise_session *s, const char *message,
                                       uint32_t flags, struct reprise_change *change, struct err *e)
{
    struct session_change what;

    TRY(tombstone_of(message, flags, &what, e));
    return change_session(s, &what, change, e);
}

int reprise_tombstone(const struct reprise_session *s, const char *message, uint32_t flags,
                      struct reprise_change *change, struct reprise_error *error)
{
    if (!s || !message)
        return call_refuse(error);

    CALL_RETURN(error, library_tombstone(s, message, flags, change, e));
}

int reprise_reappend(const struct reprise_session *s, struct reprise_change *change,
                     struct reprise_error *error)
{
    if (!s)
        return call_refuse(error);

    const struct session_change what = { .kind = SESSION_REAPPEND };

    CALL_RETURN(error, change_session(s, &what, change, e));
}

/* ---- copies ---- */

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

static enum err_code fork_session(const struct reprise_session *s,
                                  const struct reprise_fork_request *request,
                                  struct reprise_fork_result *out, struct reprise_session **copy,
                                  struct err *e)
{
    const struct store_env env = call_env(s->stores);
    struct reprise_fork_result done = { .size = sizeof done };
    struct reprise_fork_request q;
    CLEANUP(change_free_at) struct change *c = NULL;
    struct fork_request req;
    struct session_ref now;
    struct fork_result made;

    /* A result whose size is not set is refused before anything changes. */
    TRY(call_check_result(out, e));
    TRY(call_options(request, &q, sizeof q, e));
    if (q.flags & ~(uint32_t)REPRISE_FORK_FILES || q.reserved)
        return err_set(e, ERR_USAGE, "", "fork: unknown flag");
    if (q.id && !q.id[0])
        return err_set(e, ERR_USAGE, "", "fork: invalid session id");
    req = (struct fork_request){ .id = call_text(q.id),
                                 .at = call_text(q.at),
                                 .title = call_text(q.title),
                                 .with_files = q.flags & REPRISE_FORK_FILES };

    NEED(c = change_new("fork"));
    TRY(session_now(s, &c->arena, &now, e));
    TRY(session_change_fork(&env, &now, &req, c, &made, e));
    snprintf(done.id, sizeof done.id, "%.*s", SLICE_ARG(made.id));
    snprintf(done.system, sizeof done.system, "%s",
             made.system ? made.system : s->ref.store->ops->name);
    snprintf(done.path, sizeof done.path, "%s", made.path);
    snprintf(done.change, sizeof done.change, "%s", c->id);
    if (copy)
        open_copy(s, &made, copy);
    return call_result(&done, sizeof done, out, e);
}

int reprise_fork(const struct reprise_session *s, const struct reprise_fork_request *request,
                 struct reprise_fork_result *result, struct reprise_session **out,
                 struct reprise_error *error)
{
    if (!s)
        return call_refuse(error);
    CALL_RETURN(error, fork_session(s, request, result, out, e));
}
