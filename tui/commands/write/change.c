#include "tui/commands/write/change.h"

#include <string.h>

#include "lite/json/jsonout.h"
#include "store/rewind/plan/origin.h"

/* What was done to the sessions: one change, done or not at all, and taken back at once. */
struct change_run {
    struct session_ref *ref; /* lives with the sessions */
    int n;
    struct change *c;
};

static enum err_code plan_each(struct invocation *in, struct sessions *s, struct change_run *k,
                               change_plan_fn *plan, struct err *e)
{
    enum err_code rc = sessions_find_all(s, in->argv, (size_t)k->n, &k->ref, e);

    for (int i = 0; i < k->n && !rc; i++) {
        bool once = false;

        rc = sessions_is_first(s, &k->ref[i], &once, e);
        if (!rc && !once)
            continue;
        if (!rc)
            rc = origin_add_session(k->c, &k->ref[i], e);
        if (!rc)
            rc = plan(in, s, &k->ref[i], k->c, e);
    }
    return rc;
}

/* ---- the answer ---- */

/* As a list shows the session from now on: what was asked for may have been cleaned before it was written. */
static enum err_code json_session(struct invocation *in, struct sessions *s,
                                  const struct session_ref *ref, const struct change *c,
                                  struct err *e)
{
    struct session_row *row = session_row_new();
    struct jsonout j;

    if (!row)
        return err_nomem(e);
    jsonout_init(&j, &in->out.buf);
    jsonout_open(&j, '{');
    jsonout_member(&j, "sessionId", ref->id);
    if (ref->store->ops->describe(ref->store, &s->scope, ref, row, NULL) == ERR_OK) {
        jsonout_member(&j, "summary", row->summary);
        jsonout_member(&j, "customTitle", row->custom_title);
        jsonout_member(&j, "tag", row->tag);
        if (row->flags & SESSION_ARCHIVED) {
            jsonout_key(&j, "archived");
            jsonout_bool(&j, true);
        }
    }
    if (c->n)
        jsonout_member(&j, "change", slice_of(c->id));
    jsonout_close(&j, '}');
    session_row_free(row);
    return j.rc ? err_nomem(e) : ERR_OK;
}

static enum err_code write_changes_json(struct invocation *in, struct sessions *s,
                                        const struct change_run *k, struct err *e)
{
    enum err_code rc = k->n > 1 ? out_add(&in->out, SLICE("["), e) : ERR_OK;

    for (int i = 0; i < k->n && !rc; i++) {
        if (i > 0)
            rc = out_add(&in->out, SLICE(","), e);
        if (!rc)
            rc = json_session(in, s, &k->ref[i], k->c, e);
    }
    return rc ? rc : out_add(&in->out, k->n > 1 ? SLICE("]\n") : SLICE("\n"), e);
}

static enum err_code write_changes_text(struct invocation *in, const struct change_run *k,
                                        struct err *e)
{
    if (k->c->n == 0)
        return out_add(&in->out, SLICE("nothing to change\n"), e);
    enum err_code rc = out_text(&in->out, slice_of(k->c->text), e);

    if (!rc && k->c->sessions_n > 1)
        rc = out_addf(&in->out, e, ": %zu sessions", k->c->sessions_n);
    return rc ? rc : out_add(&in->out, SLICE(" (undo with: reprise undo)\n"), e);
}

enum err_code change_sessions(struct invocation *in, const char *kind, int ids,
                              change_plan_fn *plan, struct err *e)
{
    struct sessions s;
    struct change_run k = { .n = ids ? ids : in->argc, .c = change_new(kind) };
    enum err_code rc = sessions_open(in, true, &s, e);

    if (rc) {
        change_free(k.c);
        return rc;
    }
    if (!k.c)
        rc = err_set(e, ERR_NOMEM, "", "%s: out of memory", kind);
    if (!rc)
        rc = plan_each(in, &s, &k, plan, e);
    if (!rc && k.c->n)
        rc = change_do(&in->world->env, k.c, e);
    in->done = !rc && k.c->n;
    if (!rc)
        rc = option_given(&in->options, OPTION_JSON) ? write_changes_json(in, &s, &k, e)
                                                     : write_changes_text(in, &k, e);
    change_free(k.c);
    sessions_close(&s);
    return rc;
}
