#include <stdio.h>

#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/systems/amazonq/amazonq.h"

/* ---- entries ---- */

bool amazonq_entry(struct slice entry, struct slice *user, struct slice *assistant)
{
    struct slice key;
    struct json_iter it;

    if (!json_valid(entry))
        return false;
    if (json_type(entry) == JSON_OBJECT)
        return json_get(entry, "user", user) && json_get(entry, "assistant", assistant);
    return json_type(entry) == JSON_ARRAY && json_iter_open(&it, entry) &&
           json_iter_next(&it, &key, user) && json_iter_next(&it, &key, assistant);
}

struct slice amazonq_prompt(struct slice user, struct arena *a)
{
    struct slice prompt = json_text_at(user, "content.Prompt.prompt", a);

    return prompt.n ? prompt : json_text_at(user, "content.CancelledToolUses.prompt", a);
}

static enum err_code add_half(struct sqlite_conversation *c, int64_t number, const char *half,
                              const char *role, struct slice json, int64_t time_ms)
{
    char id[48];

    snprintf(id, sizeof id, "entry-%lld-%s", (long long)number, half);
    return sqlite_conversation_add(c, slice_of(id), slice_of(role), "entry", json, time_ms);
}

/* A damaged entry is shown as it is. */
static enum err_code add_entry(struct sqlite_conversation *c, int64_t number, struct slice entry)
{
    struct slice user, assistant;
    struct arena a = { 0 };
    int64_t ms;

    if (!amazonq_entry(entry, &user, &assistant))
        return add_half(c, number, "user", "system", entry, TIME_NONE);
    if (!time_parse(json_text_at(user, "timestamp", &a), &ms))
        ms = TIME_NONE;
    const char *role = amazonq_prompt(user, &a).n ? "user" : "tool";
    enum err_code rc = a.failed ? ERR_NOMEM : add_half(c, number, "user", role, user, ms);

    arena_fini(&a);
    return rc ? rc : add_half(c, number, "assistant", "assistant", assistant, TIME_NONE);
}

/* A row of the database is a whole conversation. */
enum err_code amazonq_message(const struct sqlite_row *row, struct sqlite_conversation *c)
{
    struct slice value = sqlite_row_text(row, 0), entry;
    struct json_iter it;
    int64_t number = 0;
    enum err_code rc = ERR_OK;

    if (!json_valid(value))
        return add_half(c, 0, "user", "system", value, TIME_NONE);
    json_list_open(&it, value, "history");
    while (!rc && json_list_next(&it, &entry))
        rc = add_entry(c, number++, entry);
    return rc;
}

/* ---- blocks ---- */

/* Texts, and JSON with what a command printed. */
static struct slice result_text(struct slice result, struct arena *a)
{
    struct slice part, text, all = SLICE("");
    struct json_iter it;

    json_list_open(&it, result, "content");
    while (json_list_next(&it, &part)) {
        if (!json_get_text(part, "Text", a, &text) && !json_get(part, "Json", &text))
            text = part;
        all = arena_join(a, all, "\n", text);
    }
    return all;
}

static void put_results(struct block_list *b, struct slice content)
{
    struct slice result;
    struct json_iter it;

    json_list_open(&it, content, "tool_use_results");
    while (json_list_next(&it, &result)) {
        struct block x = { .kind = BLOCK_TOOL_RESULT,
                           .failed = !json_get_is(result, "status", "Success") };

        json_get_text(result, "tool_use_id", &b->arena, &x.call_id);
        x.text = result_text(result, &b->arena);
        transcript_block_put(b, x);
    }
}

static void put_user(struct block_list *b, struct slice user)
{
    static const char *const kinds[] = { "ToolUseResults", "CancelledToolUses" };
    struct slice content = SLICE("{}"), results, image;
    struct json_iter it;

    json_get(user, "content", &content);
    for (size_t i = 0; i < 2; i++)
        if (json_get(content, kinds[i], &results))
            put_results(b, results);
    transcript_block_put_text(b, BLOCK_PROMPT, amazonq_prompt(user, &b->arena));
    json_list_open(&it, user, "images");
    while (json_list_next(&it, &image))
        transcript_block_put(b, (struct block){ .kind = BLOCK_IMAGE });
}

static void put_calls(struct block_list *b, struct slice answer)
{
    struct slice call;
    struct json_iter it;

    json_list_open(&it, answer, "tool_uses");
    while (json_list_next(&it, &call)) {
        struct block x = { .kind = BLOCK_TOOL_CALL, .input = SLICE("{}") };

        json_get_text(call, "id", &b->arena, &x.call_id);
        json_get_text(call, "name", &b->arena, &x.name);
        json_get(call, "args", &x.input);
        transcript_block_put(b, x);
    }
}

static void put_assistant(struct block_list *b, struct slice assistant)
{
    static const char *const kinds[] = { "Response", "ToolUse" };
    struct slice answer;

    for (size_t i = 0; i < 2; i++)
        if (json_get(assistant, kinds[i], &answer)) {
            transcript_block_put_text(b, BLOCK_TEXT, json_text_at(answer, "content", &b->arena));
            put_calls(b, answer);
        }
}

enum err_code amazonq_blocks(const struct store *st, struct slice row, struct block_list *out,
                             struct err *e)
{
    struct slice role, entry;

    (void)st;
    if (!json_valid(row) || !json_get(row, "role", &role) || !json_get(row, "entry", &entry) ||
        json_type(entry) != JSON_OBJECT)
        transcript_block_put(out, (struct block){ .kind = BLOCK_RAW, .text = row });
    else if (json_string_is(role, "assistant"))
        put_assistant(out, entry);
    else
        put_user(out, entry);
    return out->arena.failed ? err_nomem(e) : ERR_OK;
}
