#include "lite/json/json.h"
#include "store/systems/common/row_table.h"
#include "store/systems/common/usage_rows.h"
#include "store/systems/crush/crush.h"

/* ---- rows ---- */

static enum err_code crush_message(const struct sqlite_row *row, struct sqlite_conversation *c)
{
    return sqlite_conversation_add(c, sqlite_row_text(row, 0), sqlite_row_text(row, 1), "parts",
                                   sqlite_row_text(row, 2), crush_time(sqlite_row_int(row, 3)));
}

/* ---- blocks ---- */

/* Only a failed answer has something to show. */
static void crush_put_finish(struct block_list *out, struct slice part)
{
    struct block b = { .kind = BLOCK_NOTE, .name = SLICE("error"), .failed = true };

    b.text = json_text_at(part, "data.message", &out->arena);
    if (b.text.n)
        transcript_block_put(out, b);
}

/* clang-format off */
#define CRUSH_PARTS(spoken)                                                                             \
    { BLOCK_NOTE, "data.text", .when = "type=text&data.hidden" },                                       \
    { spoken, "data.text", .when = "type=text" },                                                       \
    { BLOCK_THINKING, "data.thinking", .when = "type=reasoning" },                                      \
    { BLOCK_TOOL_CALL, .when = "type=tool_call", .call = "data.id", .name = "data.name",                \
      .arguments = "data.input" },                                                                      \
    { BLOCK_TOOL_RESULT, "data.content", .when = "type=tool_result", .call = "data.tool_call_id",       \
      .failed = "data.is_error" },                                                                      \
    { BLOCK_IMAGE, .when = "type=binary&data.MIMEType^=image/", .name = "data.MIMEType" },              \
    { BLOCK_DOCUMENT, .when = "type=binary", .name = "data.MIMEType", .empty = true },                  \
    { BLOCK_IMAGE, .when = "type=image_url" },                                                          \
    { BLOCK_COMMAND, "data.command", .when = "type=shell_command" },                                    \
    { .when = "type=finish", .put = crush_put_finish },                                                 \
    { BLOCK_RAW, .read = row_whole }, ROW_BLOCKS_END
static const struct row_block crush_user_parts[] = { CRUSH_PARTS(BLOCK_PROMPT) };
static const struct row_block crush_agent_parts[] = { CRUSH_PARTS(BLOCK_TEXT) };
#define CRUSH_BLOCKS(list) { { .each = "parts", .when = "data:any", .parts = list }, ROW_BLOCKS_END }
static const struct row_block crush_user[] = CRUSH_BLOCKS(crush_user_parts);
static const struct row_block crush_spoken[] = CRUSH_BLOCKS(crush_agent_parts);
/* clang-format on */

enum err_code crush_blocks(const struct store *st, struct slice row, struct block_list *out,
                           struct err *e)
{
    struct slice role, parts;

    (void)st;
    if (!json_valid(row) || !json_get(row, "role", &role) || !json_get(row, "parts", &parts) ||
        json_type(parts) != JSON_ARRAY)
        transcript_block_put(out, (struct block){ .kind = BLOCK_RAW, .text = row });
    else
        row_blocks_put(out, json_string_is(role, "user") ? crush_user : crush_spoken, row);
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
