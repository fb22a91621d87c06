#include "lite/json/jsonout.h"
#include "store/rewind/plan/origin.h"
#include "tui/commands/write/change.h"

static enum err_code write_reappend_answer(struct invocation *in, const struct session_ref *ref,
                                           size_t appended, struct err *e)
{
    struct jsonout j;

    if (!option_given(&in->options, OPTION_JSON))
        return out_addf(&in->out, e, "%zu row%s appended\n", appended, appended == 1 ? "" : "s");
    jsonout_init(&j, &in->out.buf);
    jsonout_open(&j, '{');
    jsonout_member(&j, "sessionId", ref->id);
    jsonout_key(&j, "appended");
    jsonout_int(&j, (int64_t)appended);
    jsonout_close(&j, '}');
    return j.rc ? err_nomem(e) : out_add(&in->out, SLICE("\n"), e);
}

enum err_code reappend_run(struct invocation *in, struct err *e)
{
    struct sessions s;
    struct session_ref ref;
    struct change *c = change_new("reappend");
    size_t appended = 0;
    enum err_code rc = sessions_of_operand(in, &s, &ref, e);

    if (rc) {
        change_free(c);
        return rc;
    }
    if (!c)
        rc = err_nomem(e);
    if (!rc)
        rc = ref.store->ops->reappend ? ERR_OK
                                      : unsupported_error(&ref, CAN_REAPPEND, "re-append", e);
    if (!rc) {
        c->text = "metadata appended again";
        rc = origin_add_session(c, &ref, e);
    }
    if (!rc)
        rc = ref.store->ops->reappend(ref.store, &ref, c, &appended, e);
    if (!rc && c->n)
        rc = change_do(&in->world->env, c, e);
    in->done = !rc && c && c->n;
    if (!rc)
        rc = write_reappend_answer(in, &ref, appended, e);
    change_free(c);
    sessions_close(&s);
    return rc;
}
