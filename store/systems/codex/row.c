#include "store/systems/codex/rollout.h"

#include "lite/base/buf.h"
#include "lite/base/time.h"
#include "lite/json/json.h"

const struct index_keys codex_keys = { .type = "type", .time = "timestamp" };

/* ---- the kind ---- */

struct kind_name {
    const char *name;
    enum codex_kind kind;
};

static const struct kind_name lines[] = {
    { "session_meta", CODEX_META },
    { "turn_context", CODEX_CONTEXT },
    { "compacted", CODEX_SUMMARY },
    { "token_usage_record", CODEX_TOKENS },
};

static const struct kind_name events[] = {
    { "task_started", CODEX_BEGIN },
    { "turn_started", CODEX_BEGIN },
    { "task_complete", CODEX_END },
    { "turn_complete", CODEX_END },
    { "turn_aborted", CODEX_NOTE },
    { "error", CODEX_NOTE },
    { "thread_settings_applied", CODEX_CONTEXT },
    { "thread_rolled_back", CODEX_ROLLBACK },
    { "user_message", CODEX_PROMPT },
    { "agent_message", CODEX_ANSWER },
    { "agent_reasoning", CODEX_THOUGHT },
    { "patch_apply_end", CODEX_CHANGE },
    { "exec_command_end", CODEX_COMMAND },
    { "token_count", CODEX_TOTALS },
};

static const struct kind_name items[] = {
    { "UserMessage", CODEX_PROMPT },       { "AgentMessage", CODEX_ANSWER },
    { "Reasoning", CODEX_THOUGHT },        { "FileChange", CODEX_CHANGE },
    { "CommandExecution", CODEX_COMMAND },
};

static const struct kind_name responses[] = {
    { "function_call", CODEX_CALL },          { "custom_tool_call", CODEX_CALL },
    { "local_shell_call", CODEX_CALL },       { "web_search_call", CODEX_CALL },
    { "function_call_output", CODEX_RESULT }, { "custom_tool_call_output", CODEX_RESULT },
    { "agent_message", CODEX_TASK },
};

#define KIND_OF(list, type) codex_kind_of(list, sizeof(list) / sizeof *(list), type)

static enum codex_kind codex_kind_of(const struct kind_name *list, size_t n, struct slice type)
{
    for (size_t i = 0; type.n && i < n; i++)
        if (json_string_is(type, list[i].name))
            return list[i].kind;
    return CODEX_OTHER;
}

/* The instructions, the environment and what a person did without a prompt are also messages of the user. */
static enum codex_kind message_kind(struct slice payload, struct arena *a)
{
    static const char *const own[] = { "<environment_context>", "<user_instructions>",
                                       "<INSTRUCTIONS>",        "# AGENTS.md instructions",
                                       "<user_shell_command>",  "<subagent_notification>",
                                       "<turn_aborted>",        "<skill>" };
    struct codex_row said = { .kind = CODEX_SAID, .payload = payload, .item = payload };

    if (json_get_is(payload, "role", "assistant"))
        return CODEX_SAID;
    if (!json_get_is(payload, "role", "user"))
        return CODEX_OTHER;
    struct slice text = codex_row_text(&said, a);

    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (slice_starts(text, own[i]))
            return CODEX_OTHER;
    return text.n ? CODEX_ASKED : CODEX_OTHER;
}

static enum codex_kind event_kind(struct codex_row *row, struct slice type)
{
    struct slice item;

    if (!json_string_is(type, "item_completed"))
        return KIND_OF(events, type);
    if (!json_get(row->payload, "item", &item) || !json_get(item, "type", &type))
        return CODEX_OTHER;
    row->item = item;
    return KIND_OF(items, type);
}

bool codex_row_read(struct slice line, struct arena *a, struct codex_row *out)
{
    static const char *const names[] = { "type", "payload", "timestamp" };
    struct slice value[3], type = { NULL, 0 };

    *out = (struct codex_row){ .kind = CODEX_OTHER };
    if (json_type(line) != JSON_OBJECT || !json_valid(line))
        return false;
    json_get_each(line, names, 3, value);
    if (json_type(value[2]) == JSON_STRING && !json_text(value[2], a, &out->time))
        a->failed = true;

    /* The time may also be in milliseconds, before the year 10000. */
    int64_t ms;

    if (json_type(value[2]) == JSON_NUMBER && json_int(value[2], &ms) && ms > 0 &&
        ms < INT64_C(253402300800000)) {
        char text[TIME_TEXT];

        time_format(ms, text);
        out->time = arena_copy(a, slice_of(text));
    }
    if (json_type(value[1]) != JSON_OBJECT)
        return true;
    out->payload = out->item = value[1];
    json_get(out->payload, "type", &type);
    if (json_string_is(value[0], "event_msg"))
        out->kind = event_kind(out, type);
    else if (json_string_is(value[0], "response_item"))
        out->kind = json_string_is(type, "message") ? message_kind(out->payload, a)
                                                    : KIND_OF(responses, type);
    else
        out->kind = KIND_OF(lines, value[0]);
    return true;
}

/* ---- its text ---- */

static struct slice codex_part_text(struct slice part, bool images, struct arena *a)
{
    struct slice text = { NULL, 0 }, type;

    if (json_type(part) == JSON_STRING)
        return json_text(part, a, &text) ? text : (struct slice){ NULL, 0 };
    text = json_text_at(part, "text", a);
    if (text.n)
        return text;
    if (!images || !json_get(part, "type", &type))
        return text;
    if (json_string_is(type, "encrypted_content"))
        return json_text_at(part, "encrypted_content", a);
    return json_string_is(type, "image") || json_string_is(type, "local_image") ||
                   json_string_is(type, "input_image")
               ? SLICE("[Image]")
               : text;
}

/* The texts of a list of parts, a line for each, also for an image. */
static struct slice codex_parts_text(struct slice object, const char *name, bool images,
                                     struct arena *a)
{
    struct slice part, text = { NULL, 0 };
    struct json_iter it;
    struct buf all = { 0 };
    bool ok = true;

    json_list_open(&it, object, name);
    while (ok && json_list_next(&it, &part)) {
        struct slice piece = codex_part_text(part, images, a);

        if (piece.n)
            ok = (!all.n || !buf_add_byte(&all, '\n')) && !buf_add(&all, piece);
    }
    a->failed |= !ok;
    if (all.n)
        text = arena_copy(a, buf_slice(&all));
    buf_fini(&all);
    return text;
}

/* The context that an editor adds before a prompt ends with this mark. */
static struct slice without_context(struct slice text)
{
    static const char mark[] = "## My request for Codex:";
    const char *at = text.n ? slice_find(text.p, text.n, mark, sizeof mark - 1) : NULL;

    if (at) {
        const char *from = at + sizeof mark - 1;

        text = (struct slice){ from, (size_t)(text.p + text.n - from) };
        while (text.n && (unsigned char)text.p[0] <= ' ')
            text = (struct slice){ text.p + 1, text.n - 1 };
    }
    return text;
}

static struct slice prompt_text(const struct codex_row *row, bool images, struct arena *a)
{
    struct slice text = codex_parts_text(row->item, "content", images, a), list;

    if (!text.n)
        text = without_context(json_text_at(row->item, "message", a));
    else
        text = without_context(text);
    if (!text.n && images && json_get(row->item, "images", &list) &&
        json_type(list) == JSON_ARRAY && list.n > 2)
        text = SLICE("[Image]");
    if (!text.n && images && json_get(row->item, "local_images", &list) && list.n > 2)
        text = SLICE("[Image]");
    return text;
}

struct slice codex_row_prompt(const struct codex_row *row, struct arena *a)
{
    struct slice text = prompt_text(row, false, a);

    return text.n ? text : prompt_text(row, true, a);
}

bool codex_row_is_copied(struct codex_copies *c, const struct codex_row *row, struct slice thread,
                         struct arena *a)
{
    /* The copies are written in one go; an answer takes longer than this. */
    enum { PAUSE_MS = 500 };
    int64_t now = c->last_ms;
    const bool timed = time_parse(row->time, &now);

    if (row->kind == CODEX_META) {
        c->copied = !slice_eq(json_text_at(row->payload, "id", a), thread);
        c->below |= !c->copied;
    } else if (c->copied && c->below && timed && now - c->last_ms >= PAUSE_MS) {
        c->copied = false;
    }
    c->last_ms = timed ? now : c->last_ms;
    return c->copied;
}

struct slice codex_row_text(const struct codex_row *row, struct arena *a)
{
    struct slice text;

    switch (row->kind) {
    case CODEX_PROMPT:
    case CODEX_ASKED: return prompt_text(row, true, a);
    case CODEX_THOUGHT:
        text = codex_parts_text(row->item, "summary_text", true, a);
        return text.n ? text : json_text_at(row->item, "text", a);
    case CODEX_NOTE:
        text = json_text_at(row->item, "message", a);
        return text.n ? text : json_text_at(row->item, "reason", a);
    case CODEX_SUMMARY: return json_text_at(row->item, "message", a);
    default:
        text = codex_parts_text(row->item, "content", true, a);
        return text.n ? text : json_text_at(row->item, "message", a);
    }
}

/* ---- its id ---- */

struct slice codex_row_id(const struct codex_row *row, struct arena *a)
{
    struct slice id = json_text_at(row->item, "id", a);

    if (!id.n)
        id = json_text_at(row->item, "call_id", a);
    return id.n ? id : json_text_at(row->payload, "turn_id", a);
}

/* Looks for the beginning of the turn in the lines above; one of them may be another prompt of the same turn. */
static struct slice turn_above(struct logfile *log, size_t line, struct arena *a)
{
    enum { LOOK_BACK = 32 };
    struct arena scratch = { 0 };
    struct slice id = { NULL, 0 };

    for (size_t i = line; i > 0 && line - i < LOOK_BACK && !id.n; i--) {
        struct codex_row above;
        struct slice row;

        arena_reset(&scratch);
        if (log->index.line[i - 1].state != LINE_OK || logfile_row(log, i - 1, &row, NULL) ||
            !codex_row_read(row, &scratch, &above))
            continue;
        if (above.kind == CODEX_PROMPT)
            break;
        if (above.kind == CODEX_BEGIN || above.kind == CODEX_CONTEXT)
            id = arena_copy(a, json_text_at(above.payload, "turn_id", &scratch));
    }
    arena_fini(&scratch);
    return id;
}

struct slice codex_prompt_id(struct logfile *log, size_t line, struct arena *a)
{
    struct codex_row row;
    struct slice text, id, time;

    if (logfile_row(log, line, &text, NULL) || !codex_row_read(text, a, &row))
        return (struct slice){ NULL, 0 };
    id = arena_copy(a, codex_row_id(&row, a));
    if (id.n)
        return id;
    time = arena_copy(a, row.time);
    id = turn_above(log, line, a);
    return id.n ? id : time;
}
