#include <stdint.h>
#include <string.h>

#include "lite/json/json.h"
#include "store/api/message_page.h"
#include "store/api/store.h"
#include "tui/commands/command.h"
#include "tui/commands/sessions.h"

/* What of a tool's input is shown on its line. */
enum { INPUT_BYTES = 120 };

static enum err_code write_lines(const char *first, const char *others, struct slice text,
                                 struct out *out, struct err *e)
{
    struct slice line;
    bool torn;
    enum err_code rc = ERR_OK;

    for (const char *lead = first; rc == ERR_OK && slice_line(&text, &line, &torn); lead = others) {
        rc = out_add(out, slice_of(lead), e);
        if (rc == ERR_OK)
            rc = out_text(out, line, e);
        if (rc == ERR_OK)
            rc = out_add(out, SLICE("\n"), e);
    }
    return rc;
}

static enum err_code write_labelled(const char *label, struct slice text, struct out *out,
                                    struct err *e)
{
    enum err_code rc = out_addf(out, e, "%s", label);

    if (rc == ERR_OK)
        rc = out_text(out, text, e);
    return rc ? rc : out_add(out, SLICE("\n"), e);
}

static enum err_code write_call(const struct block *b, struct out *out, struct err *e)
{
    struct slice input = { b->input.p, b->input.n < INPUT_BYTES ? b->input.n : INPUT_BYTES };
    enum err_code rc = out_add(out, SLICE("* "), e);

    if (rc == ERR_OK)
        rc = out_text(out, b->name, e);
    if (rc == ERR_OK)
        rc = out_add(out, SLICE(" "), e);
    if (rc == ERR_OK)
        rc = out_text(out, input, e);
    return rc ? rc : out_add(out, input.n < b->input.n ? SLICE("...\n") : SLICE("\n"), e);
}

static enum err_code write_block(const struct block *b, struct out *out, struct err *e)
{
    switch (b->kind) {
    case BLOCK_PROMPT:
    case BLOCK_COMMAND: return write_lines("> ", "  ", b->text, out, e);
    case BLOCK_TEXT: return write_lines("", "", b->text, out, e);
    case BLOCK_THINKING: return write_lines("~ ", "~ ", b->text, out, e);
    case BLOCK_TOOL_CALL: return write_call(b, out, e);
    case BLOCK_TOOL_RESULT: return b->failed ? write_lines("! ", "! ", b->text, out, e) : ERR_OK;
    case BLOCK_IMAGE: return write_labelled("[image] ", b->name, out, e);
    case BLOCK_DOCUMENT: return write_labelled("[document] ", b->name, out, e);
    case BLOCK_NOTE: return ERR_OK;
    case BLOCK_SEAM: return write_labelled("--- ", b->text, out, e);
    case BLOCK_RAW:
        return write_labelled(json_valid(b->text) ? "[unknown line] " : "[damaged line] ", b->text,
                              out, e);
    }
    return ERR_OK;
}

static bool is_of_tools(const struct block *b)
{
    return b->kind == BLOCK_TOOL_CALL || b->kind == BLOCK_TOOL_RESULT;
}

static enum err_code write_message(const struct store *st, const struct transcript *t, size_t i,
                                   bool spoken, struct out *out, struct err *e)
{
    struct buf row = { 0 };
    struct block_list blocks = { 0 };
    size_t before = out->buf.n;
    enum err_code rc = transcript_read(t, i, &row, e);

    if (rc == ERR_OK)
        rc = st->ops->blocks(st, buf_slice(&row), &blocks, e);
    for (size_t k = 0; rc == ERR_OK && k < blocks.n; k++)
        if (!spoken || !is_of_tools(&blocks.block[k]))
            rc = write_block(&blocks.block[k], out, e);
    if (rc == ERR_OK && out->buf.n > before)
        rc = out_add(out, SLICE("\n"), e);
    transcript_blocks_fini(&blocks);
    buf_fini(&row);
    return rc ? rc : out_row(out, e);
}

static enum err_code write_page(const struct invocation *in, const struct store *st,
                                const struct transcript *t, struct out *out, struct err *e)
{
    const struct options *o = &in->options;
    size_t first = (size_t)o->offset < t->n ? (size_t)o->offset : t->n;
    size_t limit = (size_t)o->limit;
    size_t end = limit && limit < t->n - first ? first + limit : t->n;
    enum err_code rc = ERR_OK;

    if (option_given(o, OPTION_TAIL) && (size_t)o->tail < end - first)
        first = end - (size_t)o->tail;
    for (size_t i = first; rc == ERR_OK && i < end; i++)
        rc = write_message(st, t, i, option_given(o, OPTION_SPOKEN), out, e);
    return rc;
}

static void leave_out(struct transcript *t)
{
    size_t n = 0;

    for (size_t i = 0; i < t->n; i++)
        if (!(t->message[i].flags & MESSAGE_LEFT_OUT))
            t->message[n++] = t->message[i];
    t->n = n;
}

static enum err_code write_messages_text(struct invocation *in, const struct session_ref *ref,
                                         struct arena *a, struct err *e)
{
    const struct store *st = ref->store;
    const char *agent = in->options.agent;
    struct session_ref which = *ref;
    struct transcript *t = NULL;
    enum err_code rc = ERR_OK;

    if (agent)
        rc = st->ops->subagent(st, ref, slice_of(agent), a, &which, e);
    if (rc == ERR_OK)
        rc = st->ops->load(st, &which, NULL, &t, e);
    if (rc == ERR_OK && !option_given(&in->options, OPTION_AS_SDK))
        leave_out(t);
    if (rc == ERR_OK)
        rc = write_page(in, st, t, &in->out, e);
    transcript_free(t);
    return rc;
}

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
    const char *why = store_unsupported_reason(ref->store->ops, CAN_HAVE_AGENTS);

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
                                                     : write_messages_text(in, &ref, &s.arena, e);
    sessions_close(&s);
    return rc;
}
