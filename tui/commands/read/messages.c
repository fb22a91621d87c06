#include <stdint.h>
#include <string.h>

#include "lite/json/json.h"
#include "store/api/message_page.h"
#include "tui/commands/command.h"
#include "tui/commands/read/messages_text.h"
#include "tui/commands/sessions.h"

/* What goes out of all that the store hands over. A part that the store cannot count itself (of what was said only,
 * from the end) takes two walks: one that counts, one that writes. */
struct answer {
    struct out *out;
    size_t n; /* written */
    bool spoken, counting;
    size_t seen;     /* of what is to be counted, in this walk */
    size_t from, to; /* these of them are written */
};

static bool is_spoken_message(struct slice json)
{
    struct slice type;

    json_get(json, "type", &type);
    return json_string_is(type, "user") || json_string_is(type, "assistant");
}

static enum err_code write_message_json(struct slice json, void *arg, struct err *e)
{
    struct answer *a = arg;

    if (a->spoken && !is_spoken_message(json))
        return ERR_OK;
    size_t at = a->seen++;

    if (a->counting || at < a->from || at >= a->to)
        return ERR_OK;
    enum err_code rc = out_add(a->out, a->n++ ? SLICE(",\n") : SLICE("["), e);

    if (rc == ERR_OK)
        rc = out_add(a->out, json, e);
    return rc ? rc : out_row(a->out, e);
}

/* The part that the options mean, among what they leave; q then asks for everything. */
static enum err_code count_part(const struct options *o, const struct session_ref *ref,
                                struct message_query *q, struct answer *a, struct err *e)
{
    const struct message_query part = *q;

    q->has_limit = false;
    q->offset = 0;
    a->counting = true;
    enum err_code rc = ref->store->ops->messages(ref->store, ref, q, write_message_json, a, e);

    message_page_range(&part, a->seen, &a->from, &a->to);
    if (option_given(o, OPTION_TAIL) && (uint64_t)o->tail < a->to - a->from)
        a->from = a->to - (size_t)o->tail;
    a->counting = false;
    a->seen = 0;
    return rc;
}

static enum err_code write_messages_json(const struct invocation *in, const struct session_ref *ref,
                                         struct out *out, struct err *e)
{
    const struct options *o = &in->options;
    struct answer a = { .out = out, .spoken = option_given(o, OPTION_SPOKEN), .to = SIZE_MAX };
    struct message_query q = {
        .session = slice_of(in->argv[0]),
        .agent = { o->agent, o->agent ? strlen(o->agent) : 0 },
        .system_messages = option_given(o, OPTION_SYSTEM_MESSAGES),
        .as_sdk = option_given(o, OPTION_AS_SDK),
        .has_limit = option_given(o, OPTION_LIMIT),
        .limit = o->limit,
        .offset = o->offset,
    };
    enum err_code rc = ERR_OK;

    if (!ref->store->ops->messages)
        return err_set(e, ERR_UNSUPPORTED, in->argv[0], "read messages: %s cannot",
                       ref->store->ops->name);
    if (a.spoken || option_given(o, OPTION_TAIL))
        rc = count_part(o, ref, &q, &a, e);
    if (rc == ERR_OK)
        rc = ref->store->ops->messages(ref->store, ref, &q, write_message_json, &a, e);
    return rc ? rc : out_add(out, a.n ? SLICE("]\n") : SLICE("[]\n"), e);
}

/* Where there are none at all, none has this name. */
static enum err_code check_agent(const struct session_ref *ref, const char *agent, struct err *e)
{
    const char *why = unsupported_reason(ref->store->ops, CAN_HAVE_AGENTS);

    if (!agent || ref->store->ops->subagent)
        return ERR_OK;
    return err_set(e, ERR_NOT_FOUND, agent, "read messages: %s",
                   why ? why : "sessions of this system have no sub-agents");
}

enum err_code messages_run(struct invocation *in, struct err *e)
{
    struct sessions s;
    struct session_ref ref;

    if (option_given(&in->options, OPTION_TAIL) && in->options.tail == 0)
        return err_set(e, ERR_USAGE, "--tail", "read options: must be at least 1");
    if (in->options.agent && !*in->options.agent)
        return err_set(e, ERR_NOT_FOUND, in->argv[0], "read messages: the sub-agent's id is empty");
    enum err_code rc = sessions_of_operand(in, &s, &ref, e);

    if (rc)
        return rc;
    rc = check_agent(&ref, in->options.agent, e);
    if (!rc)
        rc = option_given(&in->options, OPTION_JSON) ? write_messages_json(in, &ref, &in->out, e)
                                                     : messages_text_write(in, &ref, &s.arena, e);
    sessions_close(&s);
    return rc;
}
