#include "lite/json/json.h"
#include "store/systems/common/usage_rows.h"
#include "store/systems/crush/crush.h"

/* ---- rows ---- */

static enum err_code crush_message(const struct sqlite_row *row, struct sqlite_conversation *c)
{
    return sqlite_conversation_add(c, sqlite_row_text(row, 0), sqlite_row_text(row, 1), "parts",
                                   sqlite_row_text(row, 2), crush_time(sqlite_row_int(row, 3)));
}

/* ---- blocks ---- */

static void crush_put_call(struct block_list *out, struct slice data)
{
    struct block b = { .kind = BLOCK_TOOL_CALL, .input = SLICE("") };

    json_get_text(data, "id", &out->arena, &b.call_id);
    json_get_text(data, "name", &out->arena, &b.name);
    json_get_text(data, "input", &out->arena, &b.input); /* a text that is JSON */
    if (!json_valid(b.input))
        b.input = SLICE("{}");
    transcript_block_put(out, b);
}

static void crush_put_result(struct block_list *out, struct slice data)
{
    struct block b = { .kind = BLOCK_TOOL_RESULT, .failed = json_get_true(data, "is_error") };

    json_get_text(data, "tool_call_id", &out->arena, &b.call_id);
    json_get_text(data, "content", &out->arena, &b.text);
    transcript_block_put(out, b);
}

static void put_binary(struct block_list *out, struct slice data)
{
    struct block b = { .kind = BLOCK_DOCUMENT };

    json_get_text(data, "MIMEType", &out->arena, &b.name);
    if (slice_starts(b.name, "image/"))
        b.kind = BLOCK_IMAGE;
    transcript_block_put(out, b);
}

/* Only a failed answer has something to show. */
static void put_finish(struct block_list *out, struct slice data)
{
    struct block b = { .kind = BLOCK_NOTE, .name = SLICE("error"), .failed = true };

    if (json_get_text(data, "message", &out->arena, &b.text) && b.text.n)
        transcript_block_put(out, b);
}

static void crush_put_part(struct block_list *out, bool user, struct slice part, struct slice data)
{
    if (json_get_is(part, "type", "text"))
        transcript_block_put_text(out,
                                  json_get_true(data, "hidden") ? BLOCK_NOTE
                                  : user                        ? BLOCK_PROMPT
                                                                : BLOCK_TEXT,
                                  json_text_at(data, "text", &out->arena));
    else if (json_get_is(part, "type", "reasoning"))
        transcript_block_put_text(out, BLOCK_THINKING, json_text_at(data, "thinking", &out->arena));
    else if (json_get_is(part, "type", "tool_call"))
        crush_put_call(out, data);
    else if (json_get_is(part, "type", "tool_result"))
        crush_put_result(out, data);
    else if (json_get_is(part, "type", "binary"))
        put_binary(out, data);
    else if (json_get_is(part, "type", "image_url"))
        transcript_block_put(out, (struct block){ .kind = BLOCK_IMAGE });
    else if (json_get_is(part, "type", "shell_command"))
        transcript_block_put_text(out, BLOCK_COMMAND, json_text_at(data, "command", &out->arena));
    else if (json_get_is(part, "type", "finish"))
        put_finish(out, data);
    else
        transcript_block_put(out, (struct block){ .kind = BLOCK_RAW, .text = part });
}

enum err_code crush_blocks(const struct store *st, struct slice row, struct block_list *out,
                           struct err *e)
{
    struct slice role, parts = SLICE(""), key, part, data;
    struct json_iter it;

    (void)st;
    if (!json_valid(row) || !json_get(row, "role", &role) || !json_get(row, "parts", &parts) ||
        json_type(parts) != JSON_ARRAY)
        transcript_block_put(out, (struct block){ .kind = BLOCK_RAW, .text = row });
    else if (json_iter_open(&it, parts))
        while (json_iter_next(&it, &key, &part))
            if (json_get(part, "data", &data))
                crush_put_part(out, json_string_is(role, "user"), part, data);
    return out->arena.failed ? err_nomem(e) : ERR_OK;
}

struct slice crush_prompt(struct slice parts, struct arena *a)
{
    struct slice key, part, data, text;
    struct json_iter it;

    if (json_valid(parts) && json_iter_open(&it, parts))
        while (json_iter_next(&it, &key, &part))
            if (json_get_is(part, "type", "text") && json_get(part, "data", &data) &&
                !json_get_true(data, "hidden") && json_get_text(data, "text", a, &text) && text.n)
                return text;
    return SLICE("");
}

/* ---- sub-agents ---- */

static const char *crush_agents(struct sqlite_db *db, struct arena *a)
{
    (void)db, (void)a;
    return "SELECT s.id, s.title, s.updated_at, (SELECT m.parts FROM messages m WHERE m.session_id "
           "= s.id AND m.role = 'assistant' ORDER BY m.created_at DESC, m.rowid DESC LIMIT 1) FROM "
           "sessions s WHERE s.parent_session_id = ?1 AND s.id NOT LIKE 'title-%' ORDER BY "
           "s.created_at, s.rowid";
}

static bool crush_agent(const struct sqlite_row *row, struct arena *a, struct subagent *out)
{
    struct slice parts = sqlite_row_text(row, 3);

    out->id = sqlite_row_text(row, 0);
    out->task = sqlite_row_text(row, 1);
    out->time_ms = crush_time(sqlite_row_int(row, 2));
    out->outcome = crush_prompt(parts, a);
    out->end = slice_has(parts, "\"finish\"") ? SUBAGENT_DONE : SUBAGENT_OPEN;
    return true;
}

/* ---- costs: the recorded tokens of a session are only those of its last request ---- */

static const char *crush_answers(struct sqlite_db *db, struct arena *a)
{
    (void)a;
    return sqlite_db_has_column(db, "sessions", "cost")
               ? "SELECT s.id, s.cost, s.updated_at, (SELECT m.model FROM messages m WHERE "
                 "m.session_id = s.id AND m.model <> '' ORDER BY m.created_at DESC, m.rowid DESC "
                 "LIMIT 1) FROM sessions s WHERE s.id = ?1 AND s.cost > 0 AND (s.parent_session_id "
                 "IS NULL OR s.parent_session_id = '')"
               : NULL;
}

/* The cost of a session includes the costs of its sub-agents. */
static bool crush_answer(const struct sqlite_row *row, struct arena *a, struct usage_record *out)
{
    (void)a;
    out->agent = sqlite_row_text(row, 0);
    out->cost = usage_cost_of(sqlite_row_text(row, 1));
    out->time_ms = crush_time(sqlite_row_int(row, 2));
    out->model = sqlite_row_text(row, 3);
    return true;
}

#define MESSAGES "SELECT id, role, parts, created_at FROM messages WHERE session_id = ?1 "

const struct sqlite_format crush_format = {
    .id_name = "a Crush session id",
    .sessions = crush_sessions,
    .listed = crush_listed,
    .messages = MESSAGES "ORDER BY created_at, rowid",
    .tail = MESSAGES "AND rowid IN (SELECT rowid FROM messages WHERE session_id = ?1 ORDER BY "
                     "created_at DESC, rowid DESC LIMIT " SQLITE_TAIL_TEXT
                     ") ORDER BY created_at, rowid",
    .count = "SELECT (SELECT count(*) FROM messages WHERE session_id = ?1) FROM sessions WHERE id "
             "= ?1",
    .message = crush_message,
    .agents = crush_agents,
    .agent = crush_agent,
    .answers = crush_answers,
    .answer = crush_answer,
};
