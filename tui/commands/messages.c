#include <string.h>

#include "lite/json.h"
#include "tui/commands/command.h"
#include "tui/commands/sessions.h"
#include "tui/commands/talk.h"

struct answer {
    struct out *out;
    size_t n;
    bool spoken;
};

static bool is_said(struct slice json)
{
    struct slice type;

    json_get(json, "type", &type);
    return json_string_is(type, "user") || json_string_is(type, "assistant");
}

static enum err_code write_json(struct slice json, void *arg, struct err *e)
{
    struct answer *a = arg;

    if (a->spoken && !is_said(json))
        return ERR_OK;
    enum err_code rc = out_add(a->out, a->n++ ? SLICE(",\n") : SLICE("["), e);

    if (rc == ERR_OK)
        rc = out_add(a->out, json, e);
    return rc ? rc : out_row(a->out, e);
}

static enum err_code answer_json(const struct invocation *in, const struct session_ref *ref,
                                 struct out *out, struct err *e)
{
    const struct options *o = &in->options;
    struct answer a = { .out = out, .spoken = option_given(o, OPTION_SPOKEN) };
    const struct message_query q = {
        .session = { in->argv[0], strlen(in->argv[0]) },
        .agent = { o->agent, o->agent ? strlen(o->agent) : 0 },
        .system_messages = option_given(o, OPTION_SYSTEM_MESSAGES),
        .has_limit = option_given(o, OPTION_LIMIT),
        .limit = o->limit,
        .offset = o->offset,
    };

    if (!ref->store->ops->messages)
        return err_set(e, ERR_UNSUPPORTED, in->argv[0], "read messages: %s cannot",
                       ref->store->ops->name);
    enum err_code rc = ref->store->ops->messages(ref->store, ref, &q, write_json, &a, e);

    return rc ? rc : out_add(out, a.n ? SLICE("]\n") : SLICE("[]\n"), e);
}

enum err_code messages_run(struct invocation *in, struct err *e)
{
    struct sessions s;
    struct session_ref ref;
    enum err_code rc = sessions_of_operand(in, &s, &ref, e);

    if (rc)
        return rc;
    rc = option_given(&in->options, OPTION_JSON) ? answer_json(in, &ref, &in->out, e)
                                                 : talk_write(in, &ref, &s.arena, e);
    sessions_close(&s);
    return rc;
}
