#include <stdint.h>
#include <stdlib.h>

#include "lite/json/json.h"
#include "store/api/store.h"
#include "store/api/transcript.h"
#include "store/query/message_page.h"
#include "tui/commands/command.h"
#include "tui/commands/session.h"

/* ---- text ---- */

enum { INPUT_BYTES = 120 }; /* shown of the input of a tool */

static void write_lines(const char *first, const char *others, struct slice text, struct out *o)
{
    struct slice line;
    bool torn;

    for (const char *lead = first; slice_line(&text, &line, &torn); lead = others) {
        out_add(o, slice_of(lead));
        out_text(o, line);
        out_addf(o, "\n");
    }
}

static void write_labelled(const char *label, struct slice text, struct out *o)
{
    out_add(o, slice_of(label));
    out_text(o, text);
    out_addf(o, "\n");
}

static void command_messages_write_call(const struct block *b, struct out *o)
{
    struct slice input = { b->input.p, b->input.n < INPUT_BYTES ? b->input.n : INPUT_BYTES };

    out_addf(o, "* ");
    out_text(o, b->name);
    out_addf(o, " ");
    out_text(o, input);
    out_addf(o, input.n < b->input.n ? "...\n" : "\n");
}

static void command_messages_write_block(const struct block *b, struct out *o)
{
    switch (b->kind) {
    case BLOCK_PROMPT:
    case BLOCK_COMMAND: write_lines("> ", "  ", b->text, o); break;
    case BLOCK_TEXT: write_lines("", "", b->text, o); break;
    case BLOCK_THINKING: write_lines("~ ", "~ ", b->text, o); break;
    case BLOCK_TOOL_CALL: command_messages_write_call(b, o); break;
    case BLOCK_TOOL_RESULT:
        if (b->failed)
            write_lines("! ", "! ", b->text, o);
        break;
    case BLOCK_IMAGE: write_labelled("[image] ", b->name, o); break;
    case BLOCK_DOCUMENT: write_labelled("[document] ", b->name, o); break;
    case BLOCK_NOTE: /* the output of a person's own command */
        if (slice_eq(b->name, SLICE("output")))
            write_lines(b->failed ? "! " : "  ", b->failed ? "! " : "  ", b->text, o);
        break;
    case BLOCK_SEAM: write_labelled("--- ", b->text, o); break;
    case BLOCK_RAW:
        write_labelled(json_valid(b->text) ? "[unknown line] " : "[damaged line] ", b->text, o);
        break;
    }
}

static bool is_of_tools(const struct block *b)
{
    return b->kind == BLOCK_TOOL_CALL || b->kind == BLOCK_TOOL_RESULT;
}

static enum err_code command_messages_write_message(const struct store *st,
                                                    const struct transcript *t, size_t i,
                                                    bool spoken, struct out *o, struct err *e)
{
    struct buf row = { 0 };
    struct block_list blocks = { 0 };
    size_t before = o->buf.n;
    enum err_code rc = transcript_read(t, i, &row, e);

    if (!rc)
        rc = st->ops->blocks(st, buf_slice(&row), &blocks, e);
    for (size_t k = 0; !rc && k < blocks.n; k++)
        if (!spoken || !is_of_tools(&blocks.block[k]))
            command_messages_write_block(&blocks.block[k], o);
    if (!rc && o->buf.n > before)
        out_addf(o, "\n");
    transcript_blocks_fini(&blocks);
    buf_fini(&row);
    return rc ? rc : out_row(o, e);
}

/* ---- which messages ---- */

/* The stream of SDK messages is read like the transcript of a sub-agent. */
static const char *command_messages_agent_of(const struct invocation *in)
{
    return option_given(&in->options, OPTION_TRANSCRIPT) ? "transcript" : in->options.agent;
}

enum {
    END_GROWS = 8,
    END_BYTES = 256 << 10,
    END_BYTES_NEAR = 2 << 20,
    END_BYTES_MOST = 64 << 20,
};

/* The messages to write. If the store cannot select them itself (--spoken, --tail), all messages
 * are read twice, once to count and once to write, except for the newest ones, which are kept until
 * all are read. */
struct answer {
    struct out *out;
    bool spoken, counting;
    size_t seen;     /* of those that count, in this pass */
    size_t from, to; /* of them, those to write */
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

/* The message at which the output ends: --before excludes it, --at includes it. */
static const char *command_messages_last_of(const struct options *o)
{
    return option_given(o, OPTION_BEFORE) ? o->before : o->at;
}

/* Returns true if the newest messages, or those before a cursor, are kept while reading once. */
static bool wants_newest(const struct options *o)
{
    bool tail = option_given(o, OPTION_TAIL), limit = option_given(o, OPTION_LIMIT);

    if (option_given(o, OPTION_OFFSET) || option_given(o, OPTION_AT) || tail == limit)
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
        .most = !bounded ? 0 : (size_t)(option_given(o, OPTION_TAIL) ? o->tail : o->limit),
    };
}

/* Finds the message at which the answer ends, if it is given. */
static enum err_code find_cursor(const struct invocation *in, const struct session_ref *ref,
                                 struct message_page *p, struct answer *a, struct err *e)
{
    const char *wanted = command_messages_last_of(&in->options);

    return wanted ? message_page_find(p, ref, slice_of(wanted), a->arena, &a->cursor, &a->at, e)
                  : ERR_OK;
}

/* The part of n messages that the options select, or of those up to the place of a cursor. Before a cursor --limit
 * counts upwards from there. */
static void command_messages_page_of(const struct options *o, size_t n, const size_t *cursor,
                                     size_t *from, size_t *to)
{
    const struct message_query q = { .has_limit = true, .limit = o->limit, .offset = o->offset };
    size_t most = o->limit > 0 ? (size_t)o->limit : SIZE_MAX;

    if (cursor && option_given(o, OPTION_BEFORE)) {
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

/* The rows of the transcript include some that are not messages, so the cursor is looked up by its id. */
static void page_of_rows(const struct options *o, const struct transcript *t, struct slice cursor,
                         size_t *from, size_t *to)
{
    size_t at = 0;

    while (cursor.n && at < t->n && !id128_eq(t->message[at].id, id128_of(cursor)))
        at++;
    command_messages_page_of(o, t->n, cursor.n && at < t->n ? &at : NULL, from, to);
}

/* Drops the messages that a resume leaves out. */
static void drop_left_out(struct transcript *t)
{
    size_t n = 0;

    for (size_t i = 0; i < t->n; i++)
        if (!(t->message[i].flags & MESSAGE_LEFT_OUT))
            t->message[n++] = t->message[i];
    t->n = n;
}

static bool is_row_of(const struct transcript *t, struct slice cursor)
{
    for (size_t i = 0; i < t->n; i++)
        if (id128_eq(t->message[i].id, id128_of(cursor)))
            return true;
    return false;
}

/* Passes a part of the conversation on if it has the whole page; else *out stays NULL. The first messages of such a
 * part are not reliable. */
static void use_if_complete(const struct options *o, struct transcript *t, struct slice cursor,
                            struct transcript **out)
{
    enum { UNCERTAIN = 64 };
    size_t from, to;

    drop_left_out(t);
    page_of_rows(o, t, cursor, &from, &to);
    if (!t->partial || (from > UNCERTAIN && (!cursor.n || is_row_of(t, cursor))))
        *out = t;
    else
        transcript_free(t);
}

/* Reads only as much of the end of a session on a server as the page needs. */
static enum err_code load_end(const struct options *o, const struct session_ref *ref,
                              struct slice cursor, struct transcript **out, struct err *e)
{
    const struct store *st = ref->store;
    bool around = cursor.n && st->ops->around;
    size_t most = around ? END_BYTES_NEAR : END_BYTES_MOST;
    enum err_code rc = ERR_OK;
    struct transcript *t;

    for (size_t bytes = END_BYTES; !rc && !*out && bytes <= most; bytes *= END_GROWS) {
        rc = st->ops->tail(st, ref, bytes, NULL, &t, e);
        if (!rc)
            use_if_complete(o, t, cursor, out);
    }
    for (size_t bytes = END_BYTES; around && !rc && !*out && bytes <= END_BYTES_MOST;
         bytes *= END_GROWS) {
        rc = st->ops->around(st, ref, cursor, bytes, NULL, &t, e);
        if (!rc)
            use_if_complete(o, t, cursor, out);
    }
    return rc;
}

static enum err_code write_page(const struct invocation *in, const struct store *st,
                                const struct transcript *t, struct slice cursor, struct out *out,
                                struct err *e)
{
    const struct options *o = &in->options;
    enum err_code rc = ERR_OK;
    size_t first, end;

    page_of_rows(o, t, cursor, &first, &end);
    for (size_t i = first; !rc && i < end; i++)
        rc = command_messages_write_message(st, t, i, option_given(o, OPTION_SPOKEN), out, e);
    return rc;
}

/* Prompts begin with "> ", messages of the agent are printed as they are, a tool call takes one line. */
static enum err_code write_messages_text(struct invocation *in, const struct session_ref *ref,
                                         struct arena *a, struct err *e)
{
    const struct store *st = ref->store;
    const char *agent = command_messages_agent_of(in);
    struct session_ref which = *ref;
    struct transcript *t = NULL;
    struct answer cursor = { .arena = a };
    struct message_page page = message_page_of(in);
    enum err_code rc = find_cursor(in, ref, &page, &cursor, e);

    if (!rc && agent)
        rc = st->ops->subagent(st, ref, slice_of(agent), a, &which, e);
    if (!rc) {
        /* The conversation, or its end if that is enough. */
        bool end = which.store->ops->remote && !option_given(&in->options, OPTION_AS_SDK) &&
                   wants_newest(&in->options);

        rc = end ? load_end(&in->options, &which, cursor.cursor, &t, e) : ERR_OK;
        if (!rc && !t)
            rc = which.store->ops->load(which.store, &which, NULL, &t, e);
    }
    if (!rc && !option_given(&in->options, OPTION_AS_SDK))
        drop_left_out(t);
    if (!rc)
        rc = write_page(in, st, t, cursor.cursor, &in->out, e);
    transcript_free(t);
    return rc;
}

/* ---- JSON ---- */

static enum err_code write_message_json(struct slice json, void *arg, struct err *e)
{
    struct answer *a = arg;

    if (a->spoken && !message_page_is_spoken(json))
        return ERR_OK;
    size_t at = a->seen++;

    if (a->counting || at < a->from || at >= a->to)
        return ERR_OK;
    out_json_row(a->out);
    out_add(a->out, json);
    return out_row(a->out, e);
}

/* Finds the part that the options select by counting messages; q then requests all of them. */
static enum err_code count_part(const struct options *o, const struct session_ref *ref,
                                struct message_query *q, struct answer *a, struct err *e)
{
    const struct message_query part = *q;

    q->has_limit = false;
    q->offset = 0;
    a->counting = true;
    enum err_code rc = ref->store->ops->messages(ref->store, ref, q, write_message_json, a, e);

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
    struct answer a = {
        .out = out, .spoken = option_given(o, OPTION_SPOKEN), .to = SIZE_MAX, .arena = arena
    };
    struct message_query q = query_of(in);
    struct message_page page = message_page_of(in);
    enum err_code rc = find_cursor(in, ref, &page, &a, e);

    if (!rc && page.most) {
        rc = message_page_read(&page, ref, a.cursor, write_message_json, &a, e);
        if (!rc)
            out_json_rows_end(out);
        return rc;
    }
    if (!rc && command_messages_last_of(o)) {
        command_messages_page_of(o, 0, &a.at, &a.from, &a.to);
    } else if (!rc) {
        q.has_limit = option_given(o, OPTION_LIMIT);
        q.limit = o->limit;
        q.offset = o->offset;
        if (a.spoken || option_given(o, OPTION_TAIL))
            rc = count_part(o, ref, &q, &a, e);
    }
    if (!rc)
        rc = ref->store->ops->messages(ref->store, ref, &q, write_message_json, &a, e);
    if (!rc)
        out_json_rows_end(out);
    return rc;
}

/* ---- as they are stored ---- */

static enum err_code write_row_json(const struct transcript *t, size_t i, bool json, struct out *o,
                                    struct err *e)
{
    struct buf row = { 0 };
    enum err_code rc = transcript_read(t, i, &row, e);

    if (!rc && json)
        out_json_row(o);
    if (!rc) {
        out_add(o, buf_slice(&row));
        out_addf(o, json ? "" : "\n");
        rc = out_row(o, e);
    }
    buf_fini(&row);
    return rc;
}

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
    for (size_t i = 0; !rc && i < t->n; i++)
        if (!(t->message[i].flags & MESSAGE_BROKEN))
            t->message[n++] = t->message[i];
    const struct message_query part = { .has_limit = option_given(o, OPTION_LIMIT),
                                        .limit = o->limit,
                                        .offset = o->offset };

    transcript_page(&part, n, &from, &to);
    if (option_given(o, OPTION_TAIL) && (uint64_t)o->tail < to - from)
        from = to - (size_t)o->tail;
    for (size_t i = from; !rc && i < to; i++)
        rc = write_row_json(t, i, in->out.wants_json, &in->out, e);
    if (!rc && in->out.wants_json)
        out_json_rows_end(&in->out);
    transcript_free(t);
    return rc;
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

    if (!rc && !ref->store->ops->messages)
        rc = err_set(e, ERR_UNSUPPORTED, in->argv[0],
                     "read messages: not supported for %s sessions", ref->store->ops->name);
    if (rc)
        return rc;
    if (option_given(&in->options, OPTION_RAW))
        return write_raw(in, ref, &s->arena, e);
    return in->out.wants_json ? write_messages_json(in, ref, &s->arena, &in->out, e)
                              : write_messages_text(in, ref, &s->arena, e);
}

enum err_code messages_run(struct invocation *in, struct err *e)
{
    if (option_given(&in->options, OPTION_TAIL) && in->options.tail == 0)
        return err_set(e, ERR_USAGE, "--tail", "read options: must be at least 1");
    if (in->options.agent && !*in->options.agent)
        return err_set(e, ERR_NOT_FOUND, in->argv[0], "read messages: the sub-agent's id is empty");
    return command_with_session(in, write_messages, e);
}
