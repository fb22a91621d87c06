#include "lite/json/jsonout.h"
#include "tui/commands/command.h"
#include "tui/commands/session_line.h"
#include "tui/commands/sessions.h"
#include "tui/text/size.h"

enum { TYPE_COLUMNS = 12, TASK_COLUMNS = 32 };

static enum err_code write_subagents_json(const struct slice *ids, size_t n, struct out *out,
                                          struct err *e)
{
    struct jsonout j;

    jsonout_init(&j, &out->buf);
    jsonout_open(&j, '[');
    for (size_t i = 0; i < n; i++)
        jsonout_text(&j, ids[i]);
    jsonout_close(&j, ']');
    if (j.rc)
        return err_nomem(e);
    return out_add(out, SLICE("\n"), e);
}

static enum err_code write_line(const struct subagent *x, struct out *out, struct err *e)
{
    char size[SIZE_TEXT];

    size_text(x->bytes, size);
    enum err_code rc = out_text(out, x->id, e);

    if (!rc)
        rc = out_addf(out, e, "  %-10s %8s  ", subagent_end_word(x->end), size);
    if (!rc)
        rc = session_line_column(x->type, TYPE_COLUMNS, out, e);
    if (!rc)
        rc = out_add(out, SLICE("  "), e);
    if (!rc)
        rc = session_line_column(x->task, TASK_COLUMNS, out, e);
    if (!rc)
        rc = out_add(out, SLICE("  "), e);
    if (!rc)
        rc = out_text(out, x->outcome, e);
    return rc ? rc : out_add(out, SLICE("\n"), e);
}

static enum err_code write_subagents_text(const struct session_ref *ref, struct out *out,
                                          struct err *e)
{
    struct subagent_list list = { .n = 0 };
    enum err_code rc = ref->store->ops->describe_subagents
                           ? ref->store->ops->describe_subagents(ref->store, ref, NULL, &list, e)
                           : ERR_OK;

    for (size_t i = 0; !rc && i < list.n; i++)
        rc = write_line(&list.agent[i], out, e);
    subagent_list_fini(&list);
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
    if (option_given(&in->options, OPTION_JSON) && ref.store->ops->subagents)
        rc = ref.store->ops->subagents(ref.store, &ref, &s.arena, &ids, &n, e);
    if (rc == ERR_OK)
        rc = option_given(&in->options, OPTION_JSON) ? write_subagents_json(ids, n, &in->out, e)
                                                     : write_subagents_text(&ref, &in->out, e);
    sessions_close(&s);
    return rc;
}
