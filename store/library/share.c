#include <stdio.h>

#include "store/api/plugin.h"
#include "store/api/restore.h"
#include "store/library/call.h"
#include "store/maintenance/session_change.h"
#include "store/redact/redact.h"

/* ---- from the store ---- */

static enum err_code library_check_kept(const struct retrieved *r, struct err *e)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->item[i].state == RETRIEVE_LOCAL_NEWER && !r->item[i].planned)
            return err_set(e, ERR_STALE, r->item[i].path,
                           "retrieve: the transcript on this machine is newer");
    return ERR_OK;
}

/* The last item is the session itself. */
static void copy_retrieved(const struct retrieved *r, const struct change *c,
                           struct reprise_retrieve_result *out)
{
    const char *path = r->n ? r->item[r->n - 1].path : NULL;

    for (size_t i = 0; i < r->n; i++)
        out->files += r->item[i].planned;
    snprintf(out->path, sizeof out->path, "%s", path ? path : "");
    snprintf(out->change, sizeof out->change, "%s", c->n ? c->id : "");
}

static enum err_code retrieve(const struct reprise_session *s, uint32_t flags, struct change *c,
                              struct reprise_retrieve_result *done, struct err *e)
{
    const struct retrieve_request req = { .overwrite = flags & REPRISE_RETRIEVE_REPLACE };
    const struct store_env env = call_env(s->stores);
    struct session_ref now;
    struct retrieved r;

    if (flags & ~(uint32_t)REPRISE_RETRIEVE_REPLACE)
        return err_set(e, ERR_USAGE, "", "retrieve: unknown flag");
    enum err_code rc = session_now(s, &c->arena, &now, e);

    if (!rc)
        rc = session_change_retrieve(&env, &now, &req, c, &r, e);
    if (rc)
        return rc;
    copy_retrieved(&r, c, done);
    rc = library_check_kept(&r, e);
    retrieved_fini(&r);
    return rc;
}

int reprise_retrieve(const struct reprise_session *s, uint32_t flags,
                     struct reprise_retrieve_result *result, struct reprise_error *error)
{
    if (!s)
        return call_refuse(error);

    struct reprise_retrieve_result done = { .size = sizeof done };
    struct change *c = NULL;
    struct call call;

    call_begin(&call);
    enum err_code rc = call_check_result(result, &call.err);

    if (!rc)
        rc = (c = change_new("retrieve")) ? retrieve(s, flags, c, &done, &call.err)
                                          : err_nomem(&call.err);
    if (!rc && result)
        rc = call_result(&done, sizeof done, result, &call.err);
    change_free(c);
    return call_end(&call, rc, error);
}

/* ---- to the store ---- */

static enum err_code push(const struct reprise_session *s, const struct reprise *to, uint32_t flags,
                          struct reprise_push_result *done, struct err *e)
{
    struct redact_counts counts = { .n = 0 };
    const struct plugin_push how = { .dry_run = flags & REPRISE_PUSH_DRY_RUN,
                                     .force = flags & REPRISE_PUSH_FORCE,
                                     .redacted = flags & REPRISE_PUSH_REDACT ? &counts : NULL,
                                     .requests = flags & REPRISE_PUSH_REQUESTS };
    struct plugin_pushed pushed;
    struct arena a = { 0 };
    struct session_ref now;

    if (flags & ~(uint32_t)(REPRISE_PUSH_DRY_RUN | REPRISE_PUSH_FORCE | REPRISE_PUSH_REDACT |
                            REPRISE_PUSH_REQUESTS))
        return err_set(e, ERR_USAGE, "", "push: unknown flag");
    if (to->n != 1 || !to->store[0]->ops->remote)
        return err_set(e, ERR_USAGE, "", "push: needs one store, which a plug-in keeps");
    enum err_code rc = session_now(s, &a, &now, e);

    if (!rc)
        rc = plugin_push_session(to->store[0], &now, &how, &pushed, e);
    if (!rc)
        *done = (struct reprise_push_result){ .size = sizeof *done,
                                              .rows = pushed.rows,
                                              .left_out = pushed.left_out,
                                              .is_new = pushed.is_new };
    redact_counts_fini(&counts);
    arena_fini(&a);
    return rc;
}

int reprise_push(const struct reprise_session *s, const struct reprise *to, uint32_t flags,
                 struct reprise_push_result *result, struct reprise_error *error)
{
    if (!s || !to)
        return call_refuse(error);

    struct reprise_push_result done;
    struct call call;

    call_begin(&call);
    enum err_code rc = call_check_result(result, &call.err);

    if (!rc)
        rc = push(s, to, flags, &done, &call.err);
    if (!rc && result)
        rc = call_result(&done, sizeof done, result, &call.err);
    return call_end(&call, rc, error);
}
