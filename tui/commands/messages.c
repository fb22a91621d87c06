#include <poll.h>
#include <stdint.h>
#include <stdlib.h>

#include "lite/base/cleanup.h"
#include "lite/json/json.h"
#include "store/api/store.h"
#include "store/api/transcript.h"
#include "store/query/conversation_end.h"
#include "store/query/message_page.h"
#include "store/show/plain.h"
#include "tui/commands/command.h"
#include "tui/commands/session.h"

/* ---- text ---- */

enum {
    INPUT_BYTES = 120, /* shown of the input of a tool */
    AROUND = 11        /* messages of --around without --limit */
};

static void write_lines(const char *first, const char *others, struct slice text, struct out *o)
{
    struct slice line;
    bool torn;

    for (const char *lead = first; slice_line(&text, &line, &torn); lead = others) {
        out_add(o, slice_of(lead));
        out_line(o, "", line);
    }
}

static void command_messages_write_block(const struct block *b, struct out *o)
{
    switch (b->kind) {
    case BLOCK_PROMPT:
    case BLOCK_COMMAND: write_lines("> ", "  ", b->text, o); break;
    case BLOCK_TEXT: write_lines("", "", b->text, o); break;
    case BLOCK_THINKING: write_lines("~ ", "~ ", b->text, o); break;
    case BLOCK_TOOL_CALL: {
        struct slice input = { b->input.p, b->input.n < INPUT_BYTES ? b->input.n : INPUT_BYTES };

        out_addf(o, "* ");
        out_text(o, b->name);
        out_addf(o, " ");
        out_text(o, input);
        out_addf(o, input.n < b->input.n ? "...\n" : "\n");
    } break;
    case BLOCK_TOOL_RESULT:
        if (b->failed)
            write_lines("! ", "! ", b->text, o);
        break;
    case BLOCK_IMAGE: out_line(o, "[image] ", b->name); break;
    case BLOCK_DOCUMENT: out_line(o, "[document] ", b->name); break;
    case BLOCK_NOTE: /* the output of a person's own command */
        if (slice_eq(b->name, SLICE("output")))
            write_lines(b->failed ? "! " : "  ", b->failed ? "! " : "  ", b->text, o);
        break;
    case BLOCK_SEAM: out_line(o, "--- ", b->text); break;
    case BLOCK_RAW:
        out_line(o, json_valid(b->text) ? "[unknown line] " : "[damaged line] ", b->text);
        break;
    }
}

static bool is_of_tools(const struct block *b)
{
    return b->kind == BLOCK_TOOL_CALL || b->kind == BLOCK_TOOL_RESULT;
}

/* How a message is written as text. */
struct message_style {
    bool spoken; /* without calls and results */
    bool plain;  /* below its id, with which commands and programs name it */
};

static enum err_code command_messages_write_message(const struct store *st,
                                                    const struct transcript *t, size_t i,
                                                    struct message_style how, struct out *o,
                                                    struct err *e)
{
    AUTO_BUF row = { 0 };
    CLEANUP(transcript_blocks_fini) struct block_list blocks = { 0 };
    size_t before = o->buf.n, head;
    struct slice id;

    TRY(transcript_read(t, i, &row, e));
    TRY(st->ops->blocks(st, buf_slice(&row), &blocks, e));
    id = plain_message_id(buf_slice(&row), &t->message[i], &blocks.arena);
    if (how.plain) {
        out_addf(o, "[");
        out_text(o, id);
        out_addf(o, "]\n");
    }
    head = o->buf.n;
    for (size_t k = 0; k < blocks.n; k++)
        if (!how.spoken || !is_of_tools(&blocks.block[k]))
            command_messages_write_block(&blocks.block[k], o);

    /* A message whose blocks are all left out has no id in the answer, either. */
    if (o->buf.n > head)
        out_addf(o, "\n");
    else
        o->buf.n = before;
    return out_row_named(o, id, e);
}

/* ---- which messages ---- */

/* The stream of SDK messages is read like the transcript of a sub-agent. */
static const char *command_messages_agent_of(const struct invocation *in)
{
    return option_given(&in->options, OPTION_TRANSCRIPT) ? "transcript" : in->options.agent;
}

/* The messages to write. If the store cannot select them itself (--spoken, --tail), all messages
 * are read twice, once to count and once to write, except for the newest ones, which are kept until
 * all are read. */
struct answer {
    struct out *out;
    bool spoken, counting;
    bool results_again; /* those of calls before a cursor: they do not count */
    store_messages_fn *read;
    size_t seen;     /* messages that count so far, in this pass */
    size_t from, to; /* which of them are written */
    /* the message of --before or --at: its id, in the arena, and its place */
    struct slice cursor;
    struct arena *arena;
    size_t at;
};

static struct message_query query_of(const struct invocation *in)
{
    const struct options *o = &in->options;

    return (struct message_query){
        .session = slice_of(in->argv[0]),
        .agent = option_text(command_messages_agent_of(in)),
        .system_messages = option_given(o, OPTION_SYSTEM_MESSAGES),
        .as_sdk = option_given(o, OPTION_AS_SDK),
    };
}

/* The message at which the output ends (--before excludes it, --at includes it), or which is in its middle (--around). */
static const char *command_messages_last_of(const struct options *o)
{
    return option_given(o, OPTION_BEFORE) ? o->before : o->around ? o->around : o->at;
}

/* --plain: one form for all agents. */
static bool wants_plain(const struct options *o)
{
    return option_given(o, OPTION_PLAIN);
}

/* Returns true if the newest messages, or those before a cursor, are kept while reading once. */
static bool wants_newest(const struct options *o)
{
    bool tail = option_given(o, OPTION_TAIL), limit = option_given(o, OPTION_LIMIT);

    if (option_given(o, OPTION_OFFSET) || option_given(o, OPTION_AT) || o->around || tail == limit)
        return false;
    if (tail)
        return o->tail <= MESSAGE_PAGE_MOST && !command_messages_last_of(o);
    return option_given(o, OPTION_BEFORE) && o->limit > 0 && o->limit <= MESSAGE_PAGE_MOST;
}

/* The page that the options ask for. */
static struct message_page message_page_of(const struct invocation *in)
{
    const struct options *o = &in->options;
    bool bounded = wants_newest(o);

    return (struct message_page){
        .query = query_of(in),
        .spoken = option_given(o, OPTION_SPOKEN),
        .read = wants_plain(o) ? plain_messages : NULL,
        .most = !bounded ? 0 : (size_t)(option_given(o, OPTION_TAIL) ? o->tail : o->limit),
    };
}

/* Finds the message at which the answer ends, if it is given. */
static enum err_code find_cursor(const struct invocation *in, const struct session_ref *ref,
                                 struct message_page *p, struct answer *a, struct err *e)
{
    const struct options *o = &in->options;
    const char *wanted = o->after ? o->after : command_messages_last_of(o);

    if (wanted && conversation_place(slice_of(wanted)) >= 0)
        p->read = plain_messages; /* no other form names messages by their places */
    if (o->after) {               /* the whole id is near the end, and no more is read */
        const struct conversation_end want = { .at = slice_of(wanted) };
        CLEANUP(transcript_free_at) struct transcript *t = NULL;
        struct session_ref which = *ref;
        size_t at;

        if (p->query.agent.n)
            TRY(ref->store->ops->subagent(ref->store, ref, p->query.agent, a->arena, &which, e));
        TRY(conversation_end_load(&which, &want, &t, &at, e));
        if (at < t->n) {
            a->cursor = want.at;
            return ERR_OK;
        }
    }
    return wanted ? message_page_find(p, ref, slice_of(wanted), a->arena, &a->cursor, &a->at, e)
                  : ERR_OK;
}

/* The part of n messages that the options select, or of those up to the place of a cursor. Before a cursor --limit
 * counts upwards from there. */
static void command_messages_page_of(const struct options *o, size_t n, const size_t *cursor,
                                     size_t *from, size_t *to)
{
    const struct message_query q = { .has_limit = true, .limit = o->limit, .offset = o->offset };
    size_t most = o->limit > 0 ? (size_t)o->limit : o->around ? AROUND : SIZE_MAX;

    if (cursor && o->around) {
        *from = *cursor > most / 2 ? *cursor - most / 2 : 0;
        *to = *from + most;
    } else if (cursor && option_given(o, OPTION_BEFORE)) {
        *to = *cursor;
        *from = *cursor > most ? *cursor - most : 0;
        if ((size_t)o->offset > *from)
            *from = (size_t)o->offset < *cursor ? (size_t)o->offset : *cursor;
    } else {
        transcript_page(&q, cursor ? *cursor + 1 : n, from, to);
    }
    if (option_given(o, OPTION_TAIL) && (size_t)o->tail < *to - *from)
        *from = *to - (size_t)o->tail;
}

/* Returns true if a page from a message, or from the end, is what --max-bytes cuts: its end is not that of a --limit. */
static bool command_messages_page_is_found(const struct options *o)
{
    return command_messages_last_of(o) || option_given(o, OPTION_TAIL);
}

/* The first messages after a cursor. */
static void command_messages_page_after(const struct options *o, size_t begin, size_t n,
                                        size_t *from, size_t *to)
{
    const size_t limit = o->limit > 0 ? (size_t)o->limit : n;

    *from = begin;
    *to = n - begin < limit ? n : begin + limit;
}

/* ---- JSON ---- */

static enum err_code write_message_json(struct slice json, void *arg, struct err *e)
{
    struct answer *a = arg;

    if (a->spoken && !message_page_is_spoken(json))
        return ERR_OK;
    const bool again = a->results_again && json_get_is(json, "role", "tool");
    const size_t at = a->seen;

    a->seen += !again;
    if (a->counting || at < a->from || at >= a->to)
        return ERR_OK;
    struct slice id = SLICE("");

    out_json_row(a->out);
    out_add(a->out, json);
    if (a->out->most)
        json_get_text(json, a->read == plain_messages ? "id" : "uuid", a->arena, &id);
    const enum err_code rc = out_row_named(a->out, id, e);

    if (again && a->out->page && (!rc || !a->out->fitted))
        a->out->page++;
    return rc;
}

/* Finds the part that the options select by counting messages; q then requests all of them. */
static enum err_code count_part(const struct options *o, const struct session_ref *ref,
                                struct message_query *q, struct answer *a, struct err *e)
{
    const struct message_query part = *q;

    q->has_limit = false;
    q->offset = 0;
    a->counting = true;
    enum err_code rc = a->read(ref->store, ref, q, write_message_json, a, e);

    transcript_page(&part, a->seen, &a->from, &a->to);
    if (option_given(o, OPTION_TAIL) && (uint64_t)o->tail < a->to - a->from)
        a->from = a->to - (size_t)o->tail;
    a->counting = false;
    a->seen = 0;
    return rc;
}

static enum err_code write_messages_json(const struct invocation *in, const struct session_ref *ref,
                                         struct arena *arena, struct out *out, struct err *e)
{
    const struct options *o = &in->options;
    struct answer a = { .out = out,
                        .spoken = option_given(o, OPTION_SPOKEN),
                        .to = SIZE_MAX,
                        .arena = arena,
                        .read = wants_plain(o) ? plain_messages : ref->store->ops->messages };
    struct message_query q = query_of(in);
    struct message_page page = message_page_of(in);
    enum err_code rc = find_cursor(in, ref, &page, &a, e);

    if (page.read)
        a.read = page.read;

    /* A page that ends at a known message is read backwards, without counting the messages before it. */
    if (!rc && page.most) {
        page.found = &out->page;
        rc = message_page_read(&page, ref, a.cursor, write_message_json, &a, e);
        if (!rc)
            out_json_rows_end(out);
        return rc;
    }

    /* The plain reader finds the cursor itself. */
    if (!rc && o->after) {
        command_messages_page_after(o, 0, SIZE_MAX, &a.from, &a.to);
        a.results_again = a.read == plain_messages;
        if (a.results_again)
            q.after = a.cursor;
    } else if (!rc && command_messages_last_of(o)) {
        command_messages_page_of(o, 0, &a.at, &a.from, &a.to);
    } else if (!rc) {
        q.has_limit = option_given(o, OPTION_LIMIT);
        q.limit = o->limit;
        q.offset = o->offset;

        /* A mere limit is left to the reader; any other part is found by counting the messages first. */
        if (a.spoken || option_given(o, OPTION_TAIL) || (wants_plain(o) && q.has_limit) || q.offset)
            rc = count_part(o, ref, &q, &a, e);
    }

    if (command_messages_page_is_found(o) || (o->after && o->limit > 0))
        out->page = a.to - a.from;
    if (!rc)
        rc = o->after && a.read != plain_messages
                 ? message_page_after(&page, ref, a.cursor, write_message_json, &a, e)
                 : a.read(ref->store, ref, &q, write_message_json, &a, e);
    if (!rc)
        out_json_rows_end(out);
    return rc;
}

/* ---- as they are stored ---- */

/* Writes every row of the log that is a JSON document, including rows that are not messages, one
 * per line. */
static enum err_code write_raw(struct invocation *in, const struct session_ref *ref,
                               struct arena *a, struct err *e)
{
    const struct options *o = &in->options;
    const struct store *st = ref->store;
    struct session_ref which = *ref;
    struct transcript *t = NULL;
    const char *agent = command_messages_agent_of(in);
    enum err_code rc = agent ? st->ops->subagent(st, ref, slice_of(agent), a, &which, e) : ERR_OK;
    size_t n = 0, from, to;

    if (!rc)
        rc = st->ops->load(st, &which, NULL, &t, e);

    /* The rows that are JSON are moved together, so that the options count no others. */
    for (size_t i = 0; !rc && i < t->n; i++)
        if (!(t->message[i].flags & MESSAGE_BROKEN))
            t->message[n++] = t->message[i];
    const struct message_query part = { .has_limit = option_given(o, OPTION_LIMIT),
                                        .limit = o->limit,
                                        .offset = o->offset };

    transcript_page(&part, n, &from, &to);
    if (option_given(o, OPTION_TAIL) && (uint64_t)o->tail < to - from)
        from = to - (size_t)o->tail;

    for (size_t i = from; !rc && i < to; i++) {
        AUTO_BUF row = { 0 };

        rc = transcript_read(t, i, &row, e);
        if (!rc && in->out.wants_json)
            out_json_row(&in->out);
        if (!rc) {
            out_add(&in->out, buf_slice(&row));
            out_addf(&in->out, in->out.wants_json ? "" : "\n");
            rc = out_row(&in->out, e);
        }
    }
    if (!rc && in->out.wants_json)
        out_json_rows_end(&in->out);
    transcript_free(t);
    return rc;
}

/* ---- while it grows ---- */

static enum err_code follow_write_json(struct slice json, void *arg, struct err *e)
{
    struct answer *a = arg;

    if (a->spoken && !message_page_is_spoken(json))
        return ERR_OK;
    out_add(a->out, json);
    out_addf(a->out, "\n");
    return out_row(a->out, e);
}

/* Writes the messages after one of them, or the new ones, until the program is ended: as text, or as an object on each
 * line. */
static enum err_code follow_messages(struct invocation *in, const struct session_ref *ref,
                                     struct arena *arena, struct err *e)
{
    enum { FOLLOW_CHECK_MS = 250 };
    const struct options *o = &in->options;
    const struct message_style how = { option_given(o, OPTION_SPOKEN), wants_plain(o) };
    const struct message_query q = query_of(in);
    CLEANUP(conversation_cursor_fini) struct conversation_cursor c = { .path = NULL };
    struct message_page page = message_page_of(in);
    struct answer a = { .out = &in->out, .spoken = how.spoken, .arena = arena };
    struct session_ref which = *ref;

    TRY(find_cursor(in, ref, &page, &a, e));
    if (q.agent.n)
        TRY(ref->store->ops->subagent(ref->store, ref, q.agent, arena, &which, e));

    /* Each message is an object on its own line, because an array would never end. */
    in->out.json_lines = true;
    TRY(conversation_cursor_set(&c, &which, a.cursor, NULL, e));
    for (;; poll(NULL, 0, FOLLOW_CHECK_MS)) {
        CLEANUP(transcript_free_at) struct transcript *t = NULL;
        size_t from;

        TRY(conversation_read_on(&c, &which, NULL, &t, &from, e));
        if (t && in->out.wants_json)
            TRY(plain_rows(ref->store, &q, t, from, follow_write_json, &a, e));
        for (size_t i = from; t && !in->out.wants_json && i < t->n; i++)
            TRY(command_messages_write_message(ref->store, t, i, how, &in->out, e));
        TRY(out_flush(&in->out, e));
    }
}

/* In a system without sub-agents, no name of a sub-agent is found. */
static enum err_code command_messages_check_agent(const struct session_ref *ref, const char *agent,
                                                  struct err *e)
{
    const char *why = store_unsupported_reason(ref->store->ops, CAN_HAVE_AGENTS);

    if (!agent || ref->store->ops->subagent)
        return ERR_OK;
    return err_set(e, ERR_NOT_FOUND, agent, "read messages: %s",
                   why ? why : "sessions of this agent have no sub-agents");
}

static enum err_code write_messages(struct invocation *in, struct sessions *s,
                                    const struct session_ref *ref, struct err *e)
{
    enum err_code rc = command_messages_check_agent(ref, command_messages_agent_of(in), e);
    size_t at, first, end;

    if (!rc && !ref->store->ops->messages)
        rc = err_set(e, ERR_UNSUPPORTED, in->argv[0],
                     "read messages: not supported for %s sessions", ref->store->ops->name);
    if (rc)
        return rc;
    if (option_given(&in->options, OPTION_FOLLOW))
        return follow_messages(in, ref, &s->arena, e);
    if (option_given(&in->options, OPTION_RAW))
        return write_raw(in, ref, &s->arena, e);

    if (in->out.wants_json)
        return write_messages_json(in, ref, &s->arena, &in->out, e);
    /* Prompts begin with "> ", messages of the agent are printed as they are, a tool call takes
     * one line. */
    const struct store *st = ref->store;
    const char *agent = command_messages_agent_of(in);
    struct session_ref which = *ref;
    const struct options *o = &in->options;
    const struct message_style how = { option_given(o, OPTION_SPOKEN), wants_plain(o) };

    CLEANUP(transcript_free_at) struct transcript *t = NULL;
    struct answer cursor = { .arena = &s->arena };
    struct message_page page = message_page_of(in);

    TRY(find_cursor(in, ref, &page, &cursor, e));
    if (agent)
        TRY(st->ops->subagent(st, ref, slice_of(agent), &s->arena, &which, e));
    if (option_given(o, OPTION_AS_SDK)) {
        TRY(which.store->ops->load(which.store, &which, NULL, &t, e));
        at = cursor.cursor.n ? conversation_find(t, cursor.cursor) : t->n;
    } else {
        const struct conversation_end want = { .at = cursor.cursor,
                                               .least = o->after          ? 0
                                                        : wants_newest(o) ? page.most
                                                                          : SIZE_MAX };

        TRY(conversation_end_load(&which, &want, &t, &at, e));
    }
    if (o->after)
        command_messages_page_after(o, at < t->n ? at + 1 : t->n, t->n, &first, &end);
    else /* the rows include some that are no messages, so the cursor is looked up by its id */
        command_messages_page_of(o, t->n, at < t->n ? &at : NULL, &first, &end);
    if (command_messages_page_is_found(o))
        in->out.page = end - first;
    for (size_t i = first; i < end && i < t->n; i++)
        TRY(command_messages_write_message(st, t, i, how, &in->out, e));
    return ERR_OK;
}

enum err_code messages_run(struct invocation *in, struct err *e)
{
    /* Some options exclude each other. */
    const struct options *o = &in->options;
    const option_bits part = OPTION_BIT(BEFORE) | OPTION_BIT(AT) | OPTION_BIT(TAIL) |
                             OPTION_BIT(OFFSET) | OPTION_BIT(AROUND);
    const option_bits other = OPTION_BIT(RAW) | OPTION_BIT(AS_SDK);
    const struct {
        option_bits option, excludes;
        const char *name, *why;
    } rules[] = {
        { OPTION_BIT(PLAIN), other, "--plain", "not together with --raw or --as-sdk" },
        { OPTION_BIT(AFTER), part | other, "--after",
          "not together with --before, --at, --tail, --offset, --around, --raw or --as-sdk" },
        { OPTION_BIT(AROUND), (part & ~OPTION_BIT(AROUND)) | other, "--around",
          "not together with --before, --at, --after, --tail, --offset, --raw or --as-sdk" },
        { OPTION_BIT(MAX_BYTES), OPTION_BIT(RAW) | OPTION_BIT(FOLLOW), "--max-bytes",
          "not together with --raw or --follow" },
        { OPTION_BIT(FOLLOW), part | other | OPTION_BIT(LIMIT), "--follow",
          "not together with --before, --at, --tail, --offset, --around, --limit, --raw or "
          "--as-sdk" },
    };

    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if ((o->given & rules[i].option) && (o->given & rules[i].excludes))
            return err_set(e, ERR_USAGE, rules[i].name, "%s", rules[i].why);
    if (option_given(o, OPTION_FOLLOW) && option_given(o, OPTION_JSON) && !wants_plain(o))
        return err_set(e, ERR_USAGE, "--follow", "prints JSON with --plain only");

    if (option_given(&in->options, OPTION_TAIL) && in->options.tail == 0)
        return err_set(e, ERR_USAGE, "--tail", "read options: must be at least 1");
    if (in->options.agent && !*in->options.agent)
        return err_set(e, ERR_NOT_FOUND, in->argv[0], "read messages: the sub-agent's id is empty");
    return command_with_session(in, write_messages, e);
}
