#include <stdio.h>

#include "store/api/plugin.h"
#include "store/api/restore.h"
#include "store/library/call.h"
#include "store/maintenance/session_change.h"
#include "store/redact/redact.h"

/* ---- from the store ---- */

static enum err_code retrieve(const struct reprise_session *s, uint32_t flags,
                              struct reprise_retrieve_result *result, struct err *e)
{
    const struct retrieve_request req = { .overwrite = flags & REPRISE_RETRIEVE_REPLACE };
    const struct store_env env = call_env(s->stores);
    struct reprise_retrieve_result done = { .size = sizeof done };
    CLEANUP(change_free_at) struct change *c = NULL;
    CLEANUP(retrieved_fini) struct retrieved r = { .n = 0 };
    struct session_ref now;

    TRY(call_check_result(result, e));
    if (flags & ~(uint32_t)REPRISE_RETRIEVE_REPLACE)
        return err_set(e, ERR_USAGE, "", "retrieve: unknown flag");
    NEED(c = change_new("retrieve"));
    TRY(session_now(s, &c->arena, &now, e));
    TRY(session_change_retrieve(&env, &now, &req, c, &r, e));
    for (size_t i = 0; i < r.n; i++)
        if (r.item[i].state == RETRIEVE_LOCAL_NEWER && !r.item[i].planned)
            return err_set(e, ERR_STALE, r.item[i].path,
                           "retrieve: the transcript on this machine is newer");

    /* The last item is the session itself. */
    const char *path = r.n ? r.item[r.n - 1].path : NULL;

    for (size_t i = 0; i < r.n; i++)
        done.files += r.item[i].planned;
    snprintf(done.path, sizeof done.path, "%s", path ? path : "");
    snprintf(done.change, sizeof done.change, "%s", c->n ? c->id : "");
    return call_result(&done, sizeof done, result, e);
}

int reprise_retrieve(const struct reprise_session *s, uint32_t flags,
                     struct reprise_retrieve_result *result, struct reprise_error *error)
{
    if (!s)
        return call_refuse(error);
    CALL_RETURN(error, retrieve(s, flags, result, e));
}

/* ---- to the store ---- */

static enum err_code push(const struct reprise_session *s, const struct reprise *to, uint32_t flags,
                          struct reprise_push_result *result, struct err *e)
{
    CLEANUP(redact_counts_fini) struct redact_counts counts = { .n = 0 };
    const struct plugin_push how = { .dry_run = flags & REPRISE_PUSH_DRY_RUN,
                                     .force = flags & REPRISE_PUSH_FORCE,
                                     .redacted = flags & REPRISE_PUSH_REDACT ? &counts : NULL,
                                     .requests = flags & REPRISE_PUSH_REQUESTS };
    struct plugin_pushed pushed;
    AUTO_ARENA a = { 0 };
    struct session_ref now;

    TRY(call_check_result(result, e));
    if (flags & ~(uint32_t)(REPRISE_PUSH_DRY_RUN | REPRISE_PUSH_FORCE | REPRISE_PUSH_REDACT |
                            REPRISE_PUSH_REQUESTS))
        return err_set(e, ERR_USAGE, "", "push: unknown flag");
    if (to->n != 1 || !to->store[0]->ops->remote)
        return err_set(e, ERR_USAGE, "", "push: needs one store, which a plug-in keeps");
    TRY(session_now(s, &a, &now, e));
    TRY(plugin_push_session(to->store[0], &now, &how, &pushed, e));
    const struct reprise_push_result done = { .size = sizeof done,
                                              .rows = pushed.rows,
                                              .left_out = pushed.left_out,
                                              .is_new = pushed.is_new };

    return call_result(&done, sizeof done, result, e);
}

int reprise_push(const struct reprise_session *s, const struct reprise *to, uint32_t flags,
                 struct reprise_push_result *result, struct reprise_error *error)
{
    if (!s || !to)
        return call_refuse(error);
    CALL_RETURN(error, push(s, to, flags, result, e));
}
