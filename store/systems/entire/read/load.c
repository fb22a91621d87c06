#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/array.h"
#include "lite/base/time.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/api/edit.h"
#include "store/systems/common/edits/tool_edits.h"
#include "store/systems/entire/entire.h"
#include "store/systems/entire/read/conversation.h"

/* Reads the conversation in the agent's own format. A transcript of Claude Code is read by that system, so that what is
 * shown, searched and counted is the same as in the agent's own session; for any other agent only the rows, their
 * speakers and their texts are known (plain_transcript.c). Either way, a copy from git is a blob: it is always unpacked
 * whole, into a buffer that the transcript then owns, or into an unnamed file whose path must not reach the user. */

/* ---- other agents ---- */

#define AUTO_TRANSCRIPT CLEANUP(transcript_free_at) struct transcript

/* ---- Claude Code ---- */

static enum err_code load_claude(const struct store *st, const struct session_ref *ref,
                                 struct entire_conversation *conversation,
                                 const atomic_bool *cancel, struct transcript **out, struct err *e)
{
    struct session_ref lent = entire_conversation_claude_ref(conversation, ref);
    AUTO_TRANSCRIPT *t = NULL;
    char *path;

    TRY(claude_ops.load(st, &lent, cancel, &t, e));
    /* The transcript keeps the bytes of a blob after the unnamed file is closed. */
    if (conversation->from == CONVERSATION_CHECKPOINT) {
        NEED(buf_reserve(&conversation->bytes, 1) == ERR_OK);
        NEED(path = strdup(ref->path.p));
        free(t->path);
        t->path = path;
        HAND_OVER(&t->bytes, conversation->bytes);
    }
    HAND_OVER(out, t);
    return ERR_OK;
}

static enum err_code load_conversation(const struct store *st, const struct session_ref *ref,
                                       struct entire_conversation *conversation,
                                       const atomic_bool *cancel, struct transcript **out,
                                       struct err *e)
{
    struct plain_rows rows;
    struct slice row;
    bool broken;

    if (conversation->claude)
        return load_claude(st, ref, conversation, cancel, out, e);
    /* The transcript takes ownership of the bytes. */
    AUTO_TRANSCRIPT *t = calloc(1, sizeof *t);
    size_t cap = 0;

    TRY(entire_conversation_bytes(conversation, e));
    NEED(t && (t->path = strdup(ref->path.p)) && !buf_reserve(&conversation->bytes, 1));
    HAND_OVER(&t->bytes, conversation->bytes);
    t->size = (int64_t)t->bytes.n;
    t->torn_tail = t->bytes.n && t->bytes.p[t->bytes.n - 1] != '\n';
    plain_rows_open(&rows, buf_slice(&t->bytes));
    while (plain_rows_next(&rows, &row, &broken)) {
        AUTO_ARENA a = { 0 };

        NEED(array_reserve(t->message, cap, t->n + 1));
        struct slice id = broken ? SLICE("") : plain_id(row, &a);

        t->message[t->n++] = (struct message){
            .offset = row.p - t->bytes.p,
            .length = row.n > UINT32_MAX ? UINT32_MAX : (uint32_t)row.n,
            .line = (uint32_t)t->lines++,
            .time_ms = broken ? TIME_NONE : plain_time(row),
            .id = id.n ? id128_of(id) : (struct id128){ 0, 0 },
            .kind = (uint8_t)(broken ? MESSAGE_OTHER : plain_kind(row)),
            .flags = broken ? MESSAGE_BROKEN : 0,
        };
        t->broken += broken;
    }
    /* A last line that is cut short is not a message. */
    t->unfinished = t->torn_tail && t->n && t->message[t->n - 1].flags == MESSAGE_BROKEN;
    if (t->unfinished) {
        t->unfinished_at = t->message[--t->n].offset;
        t->broken--;
    }
    HAND_OVER(out, t);
    return ERR_OK;
}

enum err_code entire_load(const struct store *st, const struct session_ref *ref,
                          const atomic_bool *cancel, struct transcript **out, struct err *e)
{
    AUTO_CONVERSATION conversation = ENTIRE_CONVERSATION_NONE;

    TRY(entire_conversation_open(st, ref, &conversation, e));
    enum err_code rc = load_conversation(st, ref, &conversation, cancel, out, e);

    return entire_conversation_error(&conversation, ref, rc, e);
}

enum err_code entire_tail(const struct store *st, const struct session_ref *ref, size_t bytes,
                          const atomic_bool *cancel, struct transcript **out, struct err *e)
{
    AUTO_CONVERSATION conversation = ENTIRE_CONVERSATION_NONE;

    TRY(entire_conversation_open(st, ref, &conversation, e));
    if (!conversation.claude || conversation.from != CONVERSATION_LIVE)
        return load_conversation(st, ref, &conversation, cancel, out, e);
    struct session_ref lent = entire_conversation_claude_ref(&conversation, ref);

    return claude_ops.tail(st, &lent, bytes, cancel, out, e);
}

enum err_code entire_blocks(const struct store *st, struct slice row, struct block_list *out,
                            struct err *e)
{
    struct slice session;

    return json_get(row, "sessionId", &session) && json_type(session) == JSON_STRING
               ? claude_ops.blocks(st, row, out, e)
               : plain_blocks(row, out, e);
}

/* ---- messages ---- */

/* Where messages are delivered. */
struct plain_delivery {
    struct slice session;
    json_fn *fn;
    void *arg;
    struct buf out;
    size_t place; /* index of the message in the conversation */
};

static enum err_code deliver_plain_message(struct plain_delivery *h, struct slice row,
                                           struct err *e)
{
    static const char *const names[] = {
        [MESSAGE_USER] = "user",     [MESSAGE_ASSISTANT] = "assistant",
        [MESSAGE_SYSTEM] = "system", [MESSAGE_ATTACHMENT] = "system",
        [MESSAGE_TOOL] = "tool",     [MESSAGE_OTHER] = "system",
    };
    AUTO_ARENA a = { 0 };
    struct jsonout j;
    char number[32];
    struct slice content = plain_content(row), id = plain_id(row, &a), time;
    struct slice speaker = slice_of(names[plain_kind(row)]);

    if (id.n == 0) { /* some agents have no ids; the index serves as one */
        snprintf(number, sizeof number, "row-%zu", h->place);
        id = slice_of(number);
    }
    h->out.n = 0;
    jsonout_init(&j, &h->out);
    jsonout_open(&j, '{');
    jsonout_member(&j, "type", speaker);
    jsonout_member(&j, "uuid", id);
    jsonout_member(&j, "session_id", h->session);
    if (json_get_text(row, "timestamp", &a, &time) || json_get_text(row, "ts", &a, &time))
        jsonout_member(&j, "timestamp", time);
    jsonout_key(&j, "message");
    jsonout_open(&j, '{');
    jsonout_member(&j, "role", speaker);
    jsonout_raw_member(&j, "content", content.n ? content : SLICE("\"\""));
    jsonout_close(&j, '}');
    jsonout_key(&j, "parent_tool_use_id");
    jsonout_null(&j);
    jsonout_key(&j, "parent_agent_id");
    jsonout_null(&j);
    jsonout_close(&j, '}');
    NEED(!j.rc);
    return h->fn(buf_slice(&h->out), h->arg, e);
}

static void plain_delivery_fini(struct plain_delivery *h)
{
    buf_fini(&h->out);
}

/* The next message that a query wants; its offset and limit count only these. */
static bool next_wanted(struct plain_rows *rows, const struct message_query *q, struct slice *row)
{
    bool broken;

    while (plain_rows_next(rows, row, &broken)) {
        enum message_kind kind = broken ? MESSAGE_OTHER : plain_kind(*row);

        if (!broken && (kind == MESSAGE_USER || kind == MESSAGE_ASSISTANT || kind == MESSAGE_TOOL ||
                        (q->system_messages && plain_content(*row).n)))
            return true;
    }
    return false;
}

static enum err_code plain_messages(struct entire_conversation *conversation, struct slice session,
                                    const struct message_query *q, json_fn *fn, void *arg,
                                    struct err *e)
{
    CLEANUP(plain_delivery_fini)
    struct plain_delivery h = { .session = session, .fn = fn, .arg = arg };
    struct plain_rows rows;
    struct slice row;
    size_t n = 0, from, to;

    TRY(entire_conversation_bytes(conversation, e));
    for (plain_rows_open(&rows, buf_slice(&conversation->bytes)); next_wanted(&rows, q, &row);)
        n++;
    transcript_page(q, n, &from, &to);
    plain_rows_open(&rows, buf_slice(&conversation->bytes));
    for (; h.place < to && next_wanted(&rows, q, &row); h.place++) {
        if (q->cancel && atomic_load_explicit(q->cancel, memory_order_relaxed))
            return err_set(e, ERR_CANCELLED, "", "read messages");
        if (h.place >= from)
            TRY(deliver_plain_message(&h, row, e));
    }
    return ERR_OK;
}

enum err_code entire_messages(const struct store *st, const struct session_ref *ref,
                              const struct message_query *q, json_fn *fn, void *arg, struct err *e)
{
    AUTO_CONVERSATION conversation = ENTIRE_CONVERSATION_NONE;
    AUTO_ARENA a = { 0 };
    struct session_ref agent, live;

    /* A sub-agent on this machine is read as Claude Code does. One from git is read in the simple form, because all of
     * its rows are side-chain rows. */
    if (q->agent.n) {
        TRY(entire_subagent(st, ref, q->agent, &a, &agent, e));
        if (slice_eq(agent.folder, SLICE(ENTIRE_AGENT_FOLDER)) &&
            entire_tasks_live_ref(ref, &a, &live))
            return claude_ops.messages(st, &live, q, fn, arg, e);
        TRY(entire_conversation_open_agent(&agent, &conversation, e));
        return plain_messages(&conversation, ref->id, q, fn, arg, e);
    }

    TRY(entire_conversation_open(st, ref, &conversation, e));
    struct session_ref lent = entire_conversation_claude_ref(&conversation, ref);
    enum err_code rc = conversation.claude ? claude_ops.messages(st, &lent, q, fn, arg, e)
                                           : plain_messages(&conversation, ref->id, q, fn, arg, e);

    return entire_conversation_error(&conversation, ref, rc, e);
}

/* The transcripts are those of the agents; the rows of Claude Code record what a file was before. */
enum err_code entire_edits(const struct store *st, const struct session_ref *ref,
                           const struct edit_query *q, edit_fn *fn, void *arg, struct err *e)
{
    AUTO_CONVERSATION conversation = ENTIRE_CONVERSATION_NONE;
    enum err_code rc = entire_conversation_open(st, ref, &conversation, e);

    if (rc)
        return rc == ERR_NOT_FOUND ? ERR_OK : rc;
    struct session_ref lent = entire_conversation_claude_ref(&conversation, ref);

    rc = conversation.claude ? claude_ops.edits(st, &lent, q, fn, arg, e)
                             : tool_edits_loaded(st, ref, q, fn, arg, e);
    return entire_conversation_error(&conversation, ref, rc, e);
}
