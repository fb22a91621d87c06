#include "lite/jsonout.h"
#include "tui/commands/command.h"
#include "tui/commands/sessions.h"

static enum err_code write_json(const struct slice *ids, size_t n, struct out *out, struct err *e)
{
    struct jsonout j;

    jsonout_init(&j, &out->buf);
    jsonout_open(&j, '[');
    for (size_t i = 0; i < n; i++)
        jsonout_text(&j, ids[i]);
    jsonout_close(&j, ']');
    if (j.rc)
        return err_set(e, j.rc, "", "write the answer: out of memory");
    return out_add(out, SLICE("\n"), e);
}

static enum err_code write_text(const struct slice *ids, size_t n, struct out *out, struct err *e)
{
    enum err_code rc = ERR_OK;

    for (size_t i = 0; rc == ERR_OK && i < n; i++) {
        rc = out_text(out, ids[i], e);
        if (rc == ERR_OK)
            rc = out_add(out, SLICE("\n"), e);
    }
    return rc;
}

enum err_code subagents_run(struct invocation *in, struct err *e)
{
    struct sessions s;
    struct session_ref ref;
    struct slice *ids = NULL;
    size_t n = 0;
    enum err_code rc = sessions_of_operand(in, &s, &ref, e);

    if (rc)
        return rc;
    if (ref.store->ops->subagents)
        rc = ref.store->ops->subagents(ref.store, &ref, &s.arena, &ids, &n, e);
    if (rc == ERR_OK)
        rc = option_given(&in->options, OPTION_JSON) ? write_json(ids, n, &in->out, e)
                                                     : write_text(ids, n, &in->out, e);
    sessions_close(&s);
    return rc;
}
