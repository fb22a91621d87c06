#include "tui/commands/change.h"

#include "lite/jsonout.h"

enum err_code change_supported(const struct session_ref *ref, bool can, const char *what,
                               struct err *e)
{
    return can ? ERR_OK
               : err_set(e, ERR_UNSUPPORTED, ref->path.p, "%s: %s sessions cannot", what,
                         ref->store->ops->name);
}

static enum err_code change_one(struct invocation *in, struct sessions *s,
                                const struct session_ref *ref, const char *kind,
                                change_plan_fn *plan, struct err *e)
{
    struct change *c = change_new(kind);
    enum err_code rc = c ? change_session(c, ref->store->ops->name, ref->id, e)
                         : err_set(e, ERR_NOMEM, ref->path.p, "%s: out of memory", kind);

    if (!rc)
        rc = plan(in, s, ref, c, e);
    if (!rc && c->n)
        rc = change_do(&in->world->env, c, e);
    change_free(c);
    return rc;
}

static enum err_code answer(struct invocation *in, const struct session_ref *ref, bool several,
                            bool first, struct err *e)
{
    struct jsonout j;

    if (!option_given(&in->options, OPTION_JSON))
        return ERR_OK;
    enum err_code rc = several ? out_add(&in->out, first ? SLICE("[") : SLICE(","), e) : ERR_OK;

    jsonout_init(&j, &in->out.buf);
    jsonout_open(&j, '{');
    jsonout_member(&j, "sessionId", ref->id);
    jsonout_close(&j, '}');
    return rc ? rc : j.rc ? err_set(e, ERR_NOMEM, "", "write the answer: out of memory") : ERR_OK;
}

enum err_code change_sessions(struct invocation *in, const char *kind, int ids,
                              change_plan_fn *plan, struct err *e)
{
    struct sessions s;
    int n = ids ? ids : in->argc;
    enum err_code rc = sessions_open(in, true, &s, e);

    if (rc)
        return rc;
    for (int i = 0; i < n && !rc; i++) {
        struct session_ref ref;

        rc = sessions_find(&s, in->argv[i], &ref, e);
        if (!rc)
            rc = change_one(in, &s, &ref, kind, plan, e);
        if (!rc)
            rc = answer(in, &ref, n > 1, i == 0, e);
    }
    if (!rc && option_given(&in->options, OPTION_JSON))
        rc = out_add(&in->out, n > 1 ? SLICE("]\n") : SLICE("\n"), e);
    sessions_close(&s);
    return rc;
}
