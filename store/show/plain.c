#include "store/show/plain.h"

#include <stdio.h>

#include "lite/base/time.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/query/conversation_end.h"
#include "store/show/row_window.h"
#include "store/show/tool_call.h"

enum { PLACE_TEXT = 24, ROWS_GROW = 4 };

struct plain {
    const struct message_query *q;
    struct row_window rows;
    struct buf out, text, thinking, tools, media; /* parts of one message */
    struct arena arena;                           /* owns the texts of one message */
    json_fn *fn;                                  /* NULL: messages are only counted */
    void *arg;
    size_t n;           /* messages so far */
    int64_t skip, left; /* the messages before the page, and those of it; left < 0: no limit */
};

/* ---- the id ---- */

/* The agent's id is whatever member of the row has the text that the transcript knows the row by. */
struct slice plain_message_id(struct slice row, const struct message *m, struct arena *a)
{
    static const char *const members[] = {
        "uuid",      "id",       "message.id",      "data.id",
        "messageId", "promptId", "payload.item.id", "payload.turn_id"
    };
    struct slice id;

    for (size_t i = 0; !id128_none(m->id) && i < sizeof members / sizeof *members; i++) {
        id = json_copy_at(row, members[i], a);
        if (id.n && id128_eq(id128_of(id), m->id))
            return id;
    }
    id = slice_of(arena_format(a, "@%lld", (long long)m->offset));
    return id;
}

/* ---- one message ---- */

static void plain_add_text(struct buf *to, struct slice text, struct arena *a)
{
    if (text.n && ((to->n && buf_add_byte(to, '\n')) || buf_add(to, text)))
        a->failed = true;
}

static enum err_code plain_add_tool(struct plain *p, const struct block *call,
                                    const struct block *result, struct err *e)
{
    struct jsonout j;

    if (call)
        TRY(row_window_result(&p->rows, call->call_id, &result, e));
    if (p->tools.n && buf_add_byte(&p->tools, ','))
        return err_nomem(e);
    jsonout_init(&j, &p->tools);
    jsonout_open(&j, '{');
    jsonout_member(&j, "call", call ? call->call_id : result->call_id);
    jsonout_member(&j, "name", call ? call->name : result->name);

    /* Input that is not JSON, such as a torn one, is passed on as text. */
    if (call && json_valid(call->input))
        jsonout_raw_member(&j, "input", call->input);
    else if (call)
        jsonout_member(&j, "input", call->input);
    jsonout_member(&j, "agent",
                   call && call->agent.n ? call->agent
                   : result              ? result->agent
                                         : (struct slice){ NULL, 0 });
    if (result) {
        jsonout_member(&j, "result", tool_call_result(result));
        jsonout_bool_member(&j, "ok", !result->failed);
    }
    jsonout_close(&j, '}');
    return j.rc ? err_nomem(e) : ERR_OK;
}

/* Sorts the blocks of a row into the parts of a message. *role is NULL if it has none, or none that is asked for. */
static enum err_code plain_read(struct plain *p, const struct row_read *r, const char **role,
                                struct err *e)
{
    const struct message *m = &p->rows.t->message[r->at];
    bool user = false, assistant = false, system = false;

    p->text.n = p->thinking.n = p->tools.n = p->media.n = 0;
    for (size_t i = 0; i < r->blocks.n; i++) {
        const struct block *b = &r->blocks.block[i];
        bool own = b->kind == BLOCK_NOTE || b->kind == BLOCK_SEAM || b->kind == BLOCK_RAW;

        switch (b->kind) {
        case BLOCK_PROMPT:
        case BLOCK_COMMAND: user = true; break;
        case BLOCK_TEXT:
        case BLOCK_THINKING: assistant |= b->text.n > 0; break;
        case BLOCK_TOOL_CALL:
            assistant = true;
            TRY(plain_add_tool(p, b, NULL, e));
            break;
        case BLOCK_TOOL_RESULT:
            if (!row_window_is_taken(r, i))
                TRY(plain_add_tool(p, NULL, b, e));
            break;
        case BLOCK_IMAGE:
        case BLOCK_DOCUMENT:
            /* An image that a tool returned is not a prompt. */
            user |= m->kind == MESSAGE_USER && !b->call_id.n;
            plain_add_text(&p->media, b->name.n ? b->name : SLICE("image"), &p->arena);
            break;
        default: system |= b->text.n > 0; break;
        }
        if (b->kind == BLOCK_THINKING)
            plain_add_text(&p->thinking, b->text, &p->arena);
        else if (own ? p->q->system_messages : b->kind <= BLOCK_TEXT)
            plain_add_text(&p->text, b->text, &p->arena);
    }

    /* The first match decides, because a row with a prompt may contain the results of tools, too. */
    *role = user                                         ? "user"
            : assistant                                  ? "assistant"
            : p->tools.n                                 ? "tool"
            : system && p->q->system_messages            ? "system"
            : p->media.n && m->kind == MESSAGE_ASSISTANT ? "assistant"
                                                         : NULL;
    return p->arena.failed ? err_nomem(e) : ERR_OK;
}

/* Passes on the messages of the rows [from, to); those above, from `begin`, are read for the
 * results that belong to their calls. */
static enum err_code plain_walk(struct plain *p, const struct transcript *t, size_t begin,
                                size_t from, size_t to, struct err *e)
{
    struct row_read *r;
    const char *role;

    p->rows.t = t;
    p->rows.next = begin;
    p->rows.end = t->n;
    p->n = 0;
    for (;; row_window_remove(&p->rows)) {
        TRY(row_window_first(&p->rows, &r, e));
        if (!r || r->at >= to || p->left == 0)
            break;
        arena_reset(&p->arena);
        TRY(plain_read(p, r, &role, e));
        if (!role || r->at < from)
            continue;
        p->n++;
        if (!p->fn)
            continue;
        if (p->skip > 0)
            p->skip--;
        else {
            p->left -= p->left > 0;

            /* The message as one JSON object. */
            const struct message *m = &p->rows.t->message[r->at];
            struct slice media = buf_slice(&p->media), line;
            struct jsonout j;
            bool torn;

            p->out.n = 0;
            jsonout_init(&j, &p->out);
            jsonout_open(&j, '{');
            jsonout_member(&j, "id", plain_message_id(buf_slice(&r->bytes), m, &p->arena));
            jsonout_member(&j, "role", slice_of(role));
            if (m->time_ms != TIME_NONE)
                jsonout_int_member(&j, "time", m->time_ms);
            jsonout_member(&j, "text", buf_slice(&p->text));
            jsonout_member(&j, "thinking", buf_slice(&p->thinking));
            if (p->tools.n) {
                jsonout_key(&j, "tools");
                jsonout_open(&j, '[');
                jsonout_raw(&j, buf_slice(&p->tools));
                jsonout_close(&j, ']');
            }
            if (media.n) {
                jsonout_key(&j, "media");
                jsonout_open(&j, '[');
                while (slice_line(&media, &line, &torn))
                    jsonout_text(&j, line);
                jsonout_close(&j, ']');
            }
            jsonout_close(&j, '}');
            TRY(j.rc || p->arena.failed ? err_nomem(e) : p->fn(buf_slice(&p->out), p->arg, e));
        }
    }
    row_window_fini(&p->rows);
    return ERR_OK;
}

static void plain_fini(struct plain *p)
{
    row_window_fini(&p->rows);
    buf_fini(&p->out);
    buf_fini(&p->text);
    buf_fini(&p->thinking);
    buf_fini(&p->tools);
    buf_fini(&p->media);
    arena_fini(&p->arena);
}

/* ---- which messages ---- */

/* The newest q->reach->least messages, or those before a message, from as few rows as possible. */
static enum err_code plain_end(struct plain *p, const struct session_ref *ref, json_fn *fn,
                               struct err *e)
{
    struct message_reach *reach = p->q->reach;
    struct conversation_end want = { .at = reach->before,
                                     .least = 2 * reach->least + ROW_WINDOW,
                                     .cancel = p->q->cancel };

    for (;; want.least *= ROWS_GROW) {
        CLEANUP(transcript_free_at) struct transcript *t = NULL;
        size_t at, begin, from, end;

        TRY(conversation_end_load(ref, &want, &t, &at, e));
        begin = at > want.least ? at - want.least : 0;
        from = begin || t->partial ? begin + ROW_WINDOW : 0;
        end = at < t->n ? at + 1 : t->n;
        p->fn = NULL;
        if (begin || t->partial)
            TRY(plain_walk(p, t, begin, from, end, e));
        if ((begin || t->partial) && p->n <= reach->least)
            continue;
        reach->partial = begin > 0 || t->partial;
        p->fn = fn;
        return plain_walk(p, t, begin, from, end, e);
    }
}

static enum err_code plain_after(struct plain *p, const struct session_ref *ref, struct err *e)
{
    CLEANUP(transcript_free_at) struct transcript *t = NULL;
    const struct conversation_end want = { .at = p->q->after, .cancel = p->q->cancel };
    size_t at;

    TRY(conversation_end_load(ref, &want, &t, &at, e));
    if (at == t->n)
        return err_set(e, ERR_NOT_FOUND, ref->path.p,
                       "read messages: no such message; see reprise messages --plain");
    return plain_walk(p, t, at + 1, at + 1, t->n, e);
}

static enum err_code plain_all(struct plain *p, const struct session_ref *ref, struct err *e)
{
    const struct conversation_end want = { .least = SIZE_MAX, .cancel = p->q->cancel };
    CLEANUP(transcript_free_at) struct transcript *t = NULL;
    size_t at;

    TRY(conversation_end_load(ref, &want, &t, &at, e));
    return plain_walk(p, t, 0, 0, t->n, e);
}

enum err_code plain_messages(const struct store *st, const struct session_ref *ref,
                             const struct message_query *q, json_fn *fn, void *arg, struct err *e)
{
    AUTO_ARENA a = { 0 };
    struct session_ref which = *ref;
    CLEANUP(plain_fini)
    struct plain p = { .q = q,
                       .rows = { .store = st, .cancel = q->cancel },
                       .fn = fn,
                       .arg = arg,
                       .skip = q->has_limit ? q->offset : 0,
                       .left = q->has_limit && q->limit > 0 ? q->limit : -1 };

    if (q->agent.n && !q->ref_is_agent) {
        if (!st->ops->subagent)
            return err_set(e, ERR_NOT_FOUND, ref->path.p,
                           "read messages: no such sub-agent; see reprise subagents");
        TRY(st->ops->subagent(st, ref, q->agent, &a, &which, e));
    }
    p.rows.store = which.store;
    return q->after.n ? plain_after(&p, &which, e)
           : q->reach ? plain_end(&p, &which, fn, e)
                      : plain_all(&p, &which, e);
}

enum err_code plain_rows(const struct store *st, const struct message_query *q,
                         const struct transcript *t, size_t from, json_fn *fn, void *arg,
                         struct err *e)
{
    CLEANUP(plain_fini)
    struct plain p = {
        .q = q, .rows = { .store = st, .cancel = q->cancel }, .fn = fn, .arg = arg, .left = -1
    };

    return plain_walk(&p, t, from, from, t->n, e);
}
