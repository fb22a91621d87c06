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

/* Reads the conversation in the agent's own format: through the system of Claude Code if it is one
 * of its sessions, otherwise in a simple form. */

/* ---- other agents ---- */

static enum err_code append_message(struct transcript *t, struct slice row, bool broken,
                                    size_t *cap, struct err *e)
{
    struct arena a = { 0 };

    if (!array_reserve(t->message, *cap, t->n + 1))
        return err_nomem(e);
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
    arena_fini(&a);
    return ERR_OK;
}

/* Takes ownership of the bytes. */
static enum err_code load_plain(struct entire_conversation *conversation,
                                const struct session_ref *ref, struct transcript **out,
                                struct err *e)
{
    struct transcript *t = calloc(1, sizeof *t);
    struct plain_rows rows;
    struct slice row;
    size_t cap = 0;
    bool broken;
    enum err_code rc = entire_conversation_bytes(conversation, e);

    if (!rc && (!t || !(t->path = strdup(ref->path.p)) || buf_reserve(&conversation->bytes, 1)))
        rc = err_nomem(e);
    if (!rc) {
        t->bytes = conversation->bytes;
        conversation->bytes = (struct buf){ 0 };
        t->size = (int64_t)t->bytes.n;
        t->torn_tail = t->bytes.n && t->bytes.p[t->bytes.n - 1] != '\n';
        plain_rows_open(&rows, buf_slice(&t->bytes));
        while (!rc && plain_rows_next(&rows, &row, &broken))
            rc = append_message(t, row, broken, &cap, e);
        /* A last line that is cut short is not a message. */
        t->unfinished = !rc && t->torn_tail && t->n && t->message[t->n - 1].flags == MESSAGE_BROKEN;
        if (t->unfinished) {
            t->unfinished_at = t->message[--t->n].offset;
            t->broken--;
        }
    }
    if (rc)
        transcript_free(t);
    else
        *out = t;
    return rc;
}

/* ---- Claude Code ---- */

/* The transcript keeps the bytes of the blob after the unnamed file is closed. */
static enum err_code keep_bytes(struct entire_conversation *conversation,
                                const struct session_ref *ref, struct transcript *t, struct err *e)
{
    char *path = conversation->from == CONVERSATION_CHECKPOINT ? strdup(ref->path.p) : NULL;

    if (conversation->from == CONVERSATION_LIVE)
        return ERR_OK;
    if (!path || buf_reserve(&conversation->bytes, 1)) {
        free(path);
        return err_nomem(e);
    }
    free(t->path);
    t->path = path;
    t->bytes = conversation->bytes;
    conversation->bytes = (struct buf){ 0 };
    return ERR_OK;
}

static enum err_code load_claude(const struct store *st, const struct session_ref *ref,
                                 struct entire_conversation *conversation,
                                 const atomic_bool *cancel, struct transcript **out, struct err *e)
{
    struct session_ref lent = entire_conversation_claude_ref(conversation, ref);
    struct transcript *t;
    enum err_code rc = claude_ops.load(st, &lent, cancel, &t, e);

    if (rc)
        return rc;
    rc = keep_bytes(conversation, ref, t, e);
    if (rc)
        transcript_free(t);
    else
        *out = t;
    return rc;
}

enum err_code entire_load(const struct store *st, const struct session_ref *ref,
                          const atomic_bool *cancel, struct transcript **out, struct err *e)
{
    struct entire_conversation conversation;
    enum err_code rc = entire_conversation_open(st, ref, &conversation, e);

    if (rc)
        return rc;
    rc = conversation.claude ? load_claude(st, ref, &conversation, cancel, out, e)
                             : load_plain(&conversation, ref, out, e);
    rc = entire_conversation_error(&conversation, ref, rc, e);
    entire_conversation_close(&conversation);
    return rc;
}

enum err_code entire_tail(const struct store *st, const struct session_ref *ref, size_t bytes,
                          const atomic_bool *cancel, struct transcript **out, struct err *e)
{
    struct entire_conversation conversation;
    enum err_code rc = entire_conversation_open(st, ref, &conversation, e);

    if (rc)
        return rc;
    if (conversation.claude && conversation.from == CONVERSATION_LIVE) {
        struct session_ref lent = entire_conversation_claude_ref(&conversation, ref);

        rc = claude_ops.tail(st, &lent, bytes, cancel, out, e);
    } else {
        /* A blob is always unpacked completely. */
        rc = conversation.claude ? load_claude(st, ref, &conversation, cancel, out, e)
                                 : load_plain(&conversation, ref, out, e);
    }
    entire_conversation_close(&conversation);
    return rc;
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

static const char *type_name(enum message_kind kind)
{
    static const char *const names[] = {
        [MESSAGE_USER] = "user",     [MESSAGE_ASSISTANT] = "assistant",
        [MESSAGE_SYSTEM] = "system", [MESSAGE_ATTACHMENT] = "system",
        [MESSAGE_TOOL] = "tool",     [MESSAGE_OTHER] = "system",
    };

    return names[kind];
}

/* Where messages are delivered. */
struct handing {
    struct slice session;
    const struct message_query *q;
    json_fn *fn;
    void *arg;
    struct buf out;
    int64_t place; /* index of the message in the conversation */
};

static enum err_code deliver_plain_message(struct handing *h, struct slice row, struct err *e)
{
    struct arena a = { 0 };
    struct jsonout j;
    char number[32];
    struct slice content = plain_content(row), id = plain_id(row, &a), time;
    const char *type = type_name(plain_kind(row));
    struct slice said = slice_of(type);

    if (id.n == 0) { /* some agents have no ids; the index serves as one */
        snprintf(number, sizeof number, "row-%lld", (long long)h->place);
        id = slice_of(number);
    }
    h->out.n = 0;
    jsonout_init(&j, &h->out);
    jsonout_open(&j, '{');
    jsonout_member(&j, "type", said);
    jsonout_member(&j, "uuid", id);
    jsonout_member(&j, "session_id", h->session);
    if (json_get_text(row, "timestamp", &a, &time) || json_get_text(row, "ts", &a, &time))
        jsonout_member(&j, "timestamp", time);
    jsonout_key(&j, "message");
    jsonout_open(&j, '{');
    jsonout_member(&j, "role", said);
    jsonout_raw_member(&j, "content", content.n ? content : SLICE("\"\""));
    jsonout_close(&j, '}');
    jsonout_key(&j, "parent_tool_use_id");
    jsonout_null(&j);
    jsonout_key(&j, "parent_agent_id");
    jsonout_null(&j);
    jsonout_close(&j, '}');
    arena_fini(&a);
    return j.rc ? err_nomem(e) : h->fn(buf_slice(&h->out), h->arg, e);
}

static bool is_asked_for(const struct message_query *q, struct slice row)
{
    switch (plain_kind(row)) {
    case MESSAGE_USER:
    case MESSAGE_ASSISTANT:
    case MESSAGE_TOOL: return true;
    default: return q->system_messages && plain_content(row).n;
    }
}

static enum err_code plain_messages(struct entire_conversation *conversation, struct handing *h,
                                    struct err *e)
{
    const struct message_query *q = h->q;
    int64_t from = q->offset > 0 ? q->offset : 0,
            to = q->has_limit && q->limit > 0 ? from + q->limit : INT64_MAX;
    struct plain_rows rows;
    struct slice row;
    bool broken;
    enum err_code rc = entire_conversation_bytes(conversation, e);

    if (rc)
        return rc;
    plain_rows_open(&rows, buf_slice(&conversation->bytes));
    while (!rc && h->place < to && plain_rows_next(&rows, &row, &broken)) {
        if (broken || !is_asked_for(q, row))
            continue;
        if (h->place >= from)
            rc = deliver_plain_message(h, row, e);
        h->place++;
    }
    buf_fini(&h->out);
    return rc;
}

/* A sub-agent on this machine is read as Claude Code does. One from git is read in the simple form,
 * because all of its rows are side-chain rows. */
static enum err_code agent_messages(const struct store *st, const struct session_ref *ref,
                                    const struct message_query *q, json_fn *fn, void *arg,
                                    struct err *e)
{
    struct entire_conversation conversation;
    struct session_ref agent, live;
    struct arena a = { 0 };
    struct handing h = { .session = ref->id, .q = q, .fn = fn, .arg = arg };
    enum err_code rc = entire_subagent(st, ref, q->agent, &a, &agent, e);

    if (!rc && slice_eq(agent.folder, SLICE(ENTIRE_AGENT_FOLDER)) &&
        entire_tasks_live_ref(ref, &a, &live)) {
        rc = claude_ops.messages(st, &live, q, fn, arg, e);
    } else if (!rc && !(rc = entire_conversation_open_agent(&agent, &conversation, e))) {
        rc = plain_messages(&conversation, &h, e);
        entire_conversation_close(&conversation);
    }
    arena_fini(&a);
    return rc;
}

enum err_code entire_messages(const struct store *st, const struct session_ref *ref,
                              const struct message_query *q, json_fn *fn, void *arg, struct err *e)
{
    struct entire_conversation conversation;

    if (q->agent.n)
        return agent_messages(st, ref, q, fn, arg, e);
    enum err_code rc = entire_conversation_open(st, ref, &conversation, e);

    if (rc)
        return rc;
    struct session_ref lent = entire_conversation_claude_ref(&conversation, ref);
    struct handing h = { .session = ref->id, .q = q, .fn = fn, .arg = arg };

    rc = conversation.claude ? claude_ops.messages(st, &lent, q, fn, arg, e)
                             : plain_messages(&conversation, &h, e);
    rc = entire_conversation_error(&conversation, ref, rc, e);
    entire_conversation_close(&conversation);
    return rc;
}

/* The transcripts are those of the agents; the rows of Claude Code record what a file was before. */
enum err_code entire_edits(const struct store *st, const struct session_ref *ref,
                           const struct edit_query *q, edit_fn *fn, void *arg, struct err *e)
{
    struct entire_conversation conversation;
    enum err_code rc = entire_conversation_open(st, ref, &conversation, e);

    if (rc)
        return rc == ERR_NOT_FOUND ? ERR_OK : rc;
    struct session_ref lent = entire_conversation_claude_ref(&conversation, ref);

    rc = conversation.claude ? claude_ops.edits(st, &lent, q, fn, arg, e)
                             : tool_edits_loaded(st, ref, q, fn, arg, e);
    rc = entire_conversation_error(&conversation, ref, rc, e);
    entire_conversation_close(&conversation);
    return rc;
}
