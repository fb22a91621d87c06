#include "store/systems/entire/read/conversation.h"

#include "lite/base/time.h"

/* ---- rows ---- */

void plain_rows_open(struct plain_rows *r, struct slice bytes)
{
    struct slice messages;

    *r = (struct plain_rows){ .rest = bytes };
    r->document = json_valid(bytes) && json_get(bytes, "messages", &messages) &&
                  json_type(messages) == JSON_ARRAY && json_iter_open(&r->elements, messages);
}

bool plain_rows_next(struct plain_rows *r, struct slice *row, bool *broken)
{
    struct slice key;
    bool torn;

    *broken = false;
    if (r->document)
        return json_iter_next(&r->elements, &key, row);
    while (slice_line(&r->rest, row, &torn))
        for (size_t i = 0; i < row->n; i++)
            if ((unsigned char)row->p[i] > 0x20) {
                *broken = !json_valid(*row);
                return true;
            }
    return false;
}

/* ---- the contents of a row ---- */

/* Some agents wrap a message: {"type":"response_item","payload":{...}}, {"message":{"role":...}}. */
static struct slice body_of(struct slice row)
{
    static const char *const wraps[] = { "payload", "message" };
    struct slice inner;

    for (size_t i = 0; i < sizeof wraps / sizeof *wraps; i++)
        if (json_get(row, wraps[i], &inner) && json_type(inner) == JSON_OBJECT)
            return inner;
    return row;
}

enum message_kind plain_kind(struct slice row)
{
    static const struct {
        const char *name;
        enum message_kind kind;
    } names[] = {
        { "user", MESSAGE_USER },
        { "human", MESSAGE_USER },
        { "assistant", MESSAGE_ASSISTANT },
        { "gemini", MESSAGE_ASSISTANT },
        { "model", MESSAGE_ASSISTANT },
        { "tool", MESSAGE_TOOL },
        { "tool_result", MESSAGE_TOOL },
        { "function_call_output", MESSAGE_TOOL },
        { "function_call", MESSAGE_ASSISTANT },
        { "system", MESSAGE_SYSTEM },
        { "developer", MESSAGE_SYSTEM },
    };
    struct slice body = body_of(row);

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (json_get_is(body, "role", names[i].name) || json_get_is(row, "role", names[i].name))
            return names[i].kind;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (json_get_is(row, "type", names[i].name) || json_get_is(body, "type", names[i].name))
            return names[i].kind;
    return MESSAGE_OTHER;
}

int64_t plain_time(struct slice row)
{
    static const char *const keys[] = { "timestamp", "ts", "time" };
    struct slice value;
    int64_t ms;

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (json_get(row, keys[i], &value) && json_type(value) == JSON_STRING && value.n > 2 &&
            time_parse((struct slice){ value.p + 1, value.n - 2 }, &ms))
            return ms;
    return TIME_NONE;
}

struct slice plain_id(struct slice row, struct arena *a)
{
    struct slice id;

    if (json_get_text(row, "uuid", a, &id) || json_get_text(row, "id", a, &id))
        return id;
    return SLICE("");
}

struct slice plain_content(struct slice row)
{
    static const char *const keys[] = { "content", "message", "text", "output", "arguments" };
    struct slice body = body_of(row), value;

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (json_get(body, keys[i], &value) &&
            (json_type(value) == JSON_STRING || json_type(value) == JSON_ARRAY))
            return value;
    return SLICE("");
}

/* ---- blocks ---- */

struct plain_blocks {
    struct block_list *out;
    enum block_kind kind; /* the kind of plain text */
    enum err_code rc;     /* the first failure */
};

static void add_plain_block(struct plain_blocks *p, struct block b)
{
    if (!p->rc)
        p->rc = transcript_block_add(p->out, &b);
}

static void entire_add_text_block(struct plain_blocks *p, enum block_kind kind, struct slice value)
{
    struct slice text;

    if (!p->rc && !json_text(value, &p->out->arena, &text))
        p->rc = ERR_NOMEM;
    if (!p->rc && text.n)
        add_plain_block(p, (struct block){ .kind = kind, .text = text });
}

static void entire_add_call_block(struct plain_blocks *p, struct slice part)
{
    struct slice name = SLICE(""), input = SLICE("{}"), id = SLICE("");

    json_get_text(part, "name", &p->out->arena, &name);
    if (!json_get_text(part, "id", &p->out->arena, &id))
        json_get_text(part, "call_id", &p->out->arena, &id);
    if (!json_get(part, "input", &input) && !json_get(part, "args", &input))
        json_get(part, "arguments", &input);
    add_plain_block(
        p, (struct block){ .kind = BLOCK_TOOL_CALL, .name = name, .input = input, .call_id = id });
}

static void add_part_blocks(struct plain_blocks *p, struct slice array)
{
    struct json_iter it;
    struct slice key, part, value;

    if (!json_iter_open(&it, array))
        return;
    while (!p->rc && json_iter_next(&it, &key, &part))
        if (json_type(part) == JSON_STRING)
            entire_add_text_block(p, p->kind, part);
        else if (json_get(part, "text", &value) && json_type(value) == JSON_STRING)
            entire_add_text_block(p, p->kind, value);
        else if (json_get(part, "thinking", &value) && json_type(value) == JSON_STRING)
            entire_add_text_block(p, BLOCK_THINKING, value);
        else if (json_get(part, "name", &value))
            entire_add_call_block(p, part);
        else if (json_get(part, "content", &value) && json_type(value) == JSON_STRING)
            entire_add_text_block(p, p->kind, value);
}

enum err_code plain_blocks(struct slice row, struct block_list *out, struct err *e)
{
    static const enum block_kind kinds[] = {
        [MESSAGE_USER] = BLOCK_PROMPT,      [MESSAGE_ASSISTANT] = BLOCK_TEXT,
        [MESSAGE_SYSTEM] = BLOCK_NOTE,      [MESSAGE_ATTACHMENT] = BLOCK_NOTE,
        [MESSAGE_TOOL] = BLOCK_TOOL_RESULT, [MESSAGE_OTHER] = BLOCK_NOTE,
    };
    struct plain_blocks p = { .out = out, .kind = kinds[plain_kind(row)] };
    struct slice content = plain_content(row), body = body_of(row), calls;
    size_t before = out->n;

    if (json_get_is(body, "type", "function_call"))
        entire_add_call_block(&p, body);
    else if (json_type(content) == JSON_STRING)
        entire_add_text_block(&p, p.kind, content);
    else if (content.n)
        add_part_blocks(&p, content);
    if (json_get(body, "toolCalls", &calls) && json_type(calls) == JSON_ARRAY)
        add_part_blocks(&p, calls);
    if (out->n == before)
        add_plain_block(&p, (struct block){ .kind = BLOCK_RAW, .text = row });
    return p.rc ? err_nomem(e) : ERR_OK;
}

bool plain_text(struct slice row, struct arena *a, struct slice *out)
{
    CLEANUP(transcript_blocks_fini) struct block_list blocks = { .n = 0 };
    AUTO_BUF text = { 0 };

    if (plain_blocks(row, &blocks, NULL))
        return false;
    for (size_t i = 0; i < blocks.n; i++)
        if ((blocks.block[i].kind == BLOCK_TEXT || blocks.block[i].kind == BLOCK_PROMPT) &&
            buf_add(&text, blocks.block[i].text))
            return false;
    return text.n && (*out = arena_copy(a, buf_slice(&text))).p;
}
