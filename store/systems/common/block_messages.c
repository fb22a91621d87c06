#include "lite/base/time.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/systems/common/jsonl.h"
#include "store/systems/common/memory_rows.h"

static bool parts_of(struct slice content, struct json_iter *it)
{
    return json_type(content) == JSON_ARRAY && json_iter_open(it, content);
}

struct slice content_texts(struct slice content, struct arena *a)
{
    struct slice key, part, text, all = SLICE("");
    struct json_iter it;

    if (json_type(content) == JSON_STRING && json_text(content, a, &text))
        return text;
    if (parts_of(content, &it))
        while (json_iter_next(&it, &key, &part))
            if ((json_get_text(part, "text", a, &text) ||
                 json_get_text(part, "result", a, &text)) &&
                text.n)
                all = arena_join(a, all, "\n", text);
    return all;
}

bool content_has(struct slice content, const char *type)
{
    struct slice key, part;
    struct json_iter it;

    if (parts_of(content, &it))
        while (json_iter_next(&it, &key, &part))
            if (json_get_is(part, "type", type))
                return true;
    return false;
}

void content_put_text(struct block_list *b, struct slice text)
{
    if (text.n)
        transcript_block_put(b, (struct block){ .kind = BLOCK_TEXT, .text = text });
}

static void block_messages_put_part(struct block_list *b, struct slice part,
                                    content_text_fn *put_text)
{
    struct arena *a = &b->arena;
    struct block x = { .kind = BLOCK_RAW, .text = part };
    struct slice content;

    /* A part of an unknown kind, or without its text, is shown as raw JSON. */
    if (json_get_is(part, "type", "text") && json_get_text(part, "text", a, &x.text)) {
        put_text(b, x.text);
        return;
    }
    if (json_get_is(part, "type", "thinking") && json_get_text(part, "thinking", a, &x.text)) {
        x.kind = BLOCK_THINKING;
    } else if (json_get_is(part, "type", "tool_use")) {
        x = (struct block){ .kind = BLOCK_TOOL_CALL, .input = SLICE("{}") };
        json_get_text(part, "id", a, &x.call_id);
        json_get_text(part, "name", a, &x.name);
        json_get(part, "input", &x.input);
    } else if (json_get_is(part, "type", "tool_result")) {
        x = (struct block){ .kind = BLOCK_TOOL_RESULT, .failed = json_get_true(part, "is_error") };
        json_get_text(part, "tool_use_id", a, &x.call_id);
        if (json_get(part, "content", &content))
            x.text = content_texts(content, a);
    } else if (json_get_is(part, "type", "image")) {
        x = (struct block){ .kind = BLOCK_IMAGE };
    }
    transcript_block_put(b, x);
}

void content_blocks_put(struct block_list *b, struct slice content, content_text_fn *text)
{
    struct slice key, part, whole;
    struct json_iter it;

    if (parts_of(content, &it))
        while (json_iter_next(&it, &key, &part))
            block_messages_put_part(b, part, text);
    else if (json_type(content) == JSON_STRING && json_text(content, &b->arena, &whole))
        text(b, whole);
}

struct writing {
    const struct store *store;
    const struct session_ref *ref;
    const struct message_query *q;
    const struct jsonl_format *format;
    struct transcript *transcript;
    struct jsonl_page page;
    struct buf row, out;
};

static void block_messages_write_part(struct jsonout *j, const char *type, const char *member,
                                      struct slice text)
{
    jsonout_member(j, "type", slice_of(type));
    jsonout_key(j, member);
    jsonout_text(j, text);
}

static void write_content(struct jsonout *j, const struct block_list *list)
{
    jsonout_key(j, "content");
    if (list->n == 1 && list->block[0].kind == BLOCK_PROMPT) {
        jsonout_text(j, list->block[0].text);
        return;
    }
    jsonout_open(j, '[');
    for (size_t i = 0; i < list->n; i++) {
        jsonout_open(j, '{');
        switch (list->block[i].kind) {
        case BLOCK_TOOL_CALL:
            jsonout_member(j, "type", SLICE("tool_use"));
            jsonout_text_or_null(j, "id", list->block[i].call_id);
            jsonout_text_or_null(j, "name", list->block[i].name);
            jsonout_key(j, "input");

            /* Some tools have an input that is not JSON, such as a patch. */
            if (json_valid(list->block[i].input))
                jsonout_raw(j, list->block[i].input);
            else
                jsonout_text(j, list->block[i].input);
            break;
        case BLOCK_TOOL_RESULT:
            jsonout_member(j, "type", SLICE("tool_result"));
            jsonout_text_or_null(j, "tool_use_id", list->block[i].call_id);
            jsonout_key(j, "content");
            jsonout_text(j, list->block[i].text);
            if (list->block[i].failed)
                jsonout_bool_member(j, "is_error", true);
            break;
        case BLOCK_THINKING:
            block_messages_write_part(j, "thinking", "thinking", list->block[i].text);
            break;
        case BLOCK_IMAGE:
            block_messages_write_part(j, "image", "media_type", list->block[i].name);
            break;
        default: block_messages_write_part(j, "text", "text", list->block[i].text); break;
        }
        jsonout_close(j, '}');
    }
    jsonout_close(j, ']');
}

static const char *block_messages_role_of(const struct message *m)
{
    return m->kind == MESSAGE_ASSISTANT ? "assistant"
           : m->kind == MESSAGE_SYSTEM  ? "system"
                                        : "user";
}

static void block_messages_write_message(struct writing *w, const struct message *m,
                                         struct block_list *list)
{
    struct jsonout j;
    char time[TIME_TEXT] = "";

    w->out.n = 0;
    if (m->time_ms != TIME_NONE)
        time_format(m->time_ms, time);
    jsonout_init(&j, &w->out);
    jsonout_open(&j, '{');
    jsonout_member(&j, "type", slice_of(block_messages_role_of(m)));
    jsonout_text_or_null(&j, "uuid", jsonl_row_id(w->format, buf_slice(&w->row), &list->arena));
    jsonout_member(&j, "session_id", w->ref->id);
    jsonout_key(&j, "message");
    jsonout_open(&j, '{');
    jsonout_member(&j, "role", slice_of(block_messages_role_of(m)));
    write_content(&j, list);
    jsonout_close(&j, '}');
    jsonout_text_or_null(&j, "parent_tool_use_id", SLICE(""));
    jsonout_text_or_null(&j, "parent_agent_id", w->q->agent);
    jsonout_member(&j, "timestamp", slice_of(time));
    jsonout_close(&j, '}');
    list->arena.failed |= j.rc != ERR_OK;
}

static bool block_messages_is_wanted(const struct writing *w, const struct message *m)
{
    bool is_spoken =
        m->kind == MESSAGE_USER || m->kind == MESSAGE_ASSISTANT || m->kind == MESSAGE_TOOL;

    return !(m->flags & (MESSAGE_BROKEN | MESSAGE_LEFT_OUT)) &&
           (is_spoken || (m->kind == MESSAGE_SYSTEM && w->q->system_messages));
}

enum err_code block_messages(const struct store *st, const struct session_ref *ref,
                             const struct message_query *q, json_fn *fn, void *arg, struct err *e)
{
    struct arena a = { 0 };
    struct session_ref agent = *ref;
    struct writing w = { .store = st,
                         .ref = ref,
                         .q = q,
                         .format = ((const struct jsonl_store *)st)->format,
                         .page = jsonl_page_of(q, fn, arg) };
    enum err_code rc = ERR_OK;

    /* The query may ask for a sub-agent, which has a log of its own. */
    if (q->agent.n && !q->ref_is_agent)
        rc = st->ops->subagent
                 ? st->ops->subagent(st, ref, q->agent, &a, &agent, e)
                 : err_set(e, ERR_NOT_FOUND, ref->path.p,
                           "read sub-agent: no such sub-agent; see reprise subagents");
    if (!rc)
        rc = st->ops->load(st, &agent, q->cancel, &w.transcript, e);
    if (!rc) {
        for (size_t i = 0; i < w.transcript->n && !rc; i++) {
            if (w.q->cancel && atomic_load_explicit(w.q->cancel, memory_order_relaxed))
                rc = err_set(e, ERR_CANCELLED, w.ref->path.p, "read messages");
            else if (block_messages_is_wanted(&w, &w.transcript->message[i])) {
                const struct message *m = &w.transcript->message[i];
                struct block_list list = { .n = 0 };

                rc = transcript_read(w.transcript, i, &w.row, e);

                if (!rc)
                    rc = w.store->ops->blocks(w.store, buf_slice(&w.row), &list, e);
                if (!rc)
                    block_messages_write_message(&w, m, &list);
                if (!rc && list.arena.failed)
                    rc = err_nomem(e);
                transcript_blocks_fini(&list);
                if (!rc)
                    rc = jsonl_page_add(&w.page, buf_slice(&w.out), e);
            }
        }

        /* A full page ends the loop with an error, which is none for the caller. */
        rc = w.page.full ? ERR_OK : rc;
    }
    transcript_free(w.transcript);
    buf_fini(&w.row);
    buf_fini(&w.out);
    arena_fini(&a);
    return rc ? err_wrap(e, rc, "read messages") : ERR_OK;
}
