#include "store/systems/common/content_blocks.h"

#include "lite/json/json.h"

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

static void put_part(struct block_list *b, struct slice part, content_text_fn *put_text)
{
    struct arena *a = &b->arena;
    struct block x = { .kind = BLOCK_RAW, .text = part };
    struct slice content;

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
            put_part(b, part, text);
    else if (json_type(content) == JSON_STRING && json_text(content, &b->arena, &whole))
        text(b, whole);
}
