#include <stdio.h>

#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/systems/common/row_table.h"
#include "store/systems/common/usage_rows.h"
#include "store/systems/goose/goose.h"

/* ---- rows ---- */

static int64_t goose_show_time_of(int64_t stored)
{
    static const int64_t seconds_most = INT64_C(100000000000);

    return stored <= 0 ? TIME_NONE : stored < seconds_most ? stored * 1000 : stored;
}

static enum err_code goose_message(const struct sqlite_row *row, struct sqlite_conversation *c)
{
    char id[32];

    snprintf(id, sizeof id, "message-%lld", (long long)sqlite_row_int(row, 0));
    return sqlite_conversation_add(c, slice_of(id), sqlite_row_text(row, 1), "content",
                                   sqlite_row_text(row, 2),
                                   goose_show_time_of(sqlite_row_int(row, 3)));
}

/* ---- blocks ---- */

/* clang-format off */
#define GOOSE_CALL .call = "id", .name = "toolCall.value.name", .input = "toolCall.value.arguments"
#define GOOSE_PARTS(spoken)                                                                            \
    { spoken, "text", .when = "type=text" }, { BLOCK_THINKING, "thinking", .when = "type=thinking" },  \
    { BLOCK_TOOL_CALL, .when = "type=toolRequest", GOOSE_CALL },                                       \
    { BLOCK_TOOL_CALL, .when = "type=frontendToolRequest", GOOSE_CALL },                               \
    { BLOCK_TOOL_RESULT, "toolResult.error", .when = "type=toolResponse&toolResult.value:none",        \
      .call = "id", .failed = "toolResult.error:text" },                                               \
    { BLOCK_TOOL_RESULT, "toolResult.value.content|toolResult.value", .part = "text",                  \
      .when = "type=toolResponse", .call = "id", .failed = "toolResult.value.isError" },               \
    { BLOCK_IMAGE, .when = "type=image", .name = "mimeType" },                                         \
    { .when = "type=conversationCompacted", .put = row_put_compaction },                               \
    { BLOCK_NOTE, "msg", .when = "type=systemNotification" },                                          \
    /* without a text, and so not shown */                                                             \
    { BLOCK_NOTE, .when = "type=redactedThinking" },                                                   \
    { BLOCK_NOTE, .when = "type=toolConfirmationRequest" },                                            \
    { BLOCK_RAW, .read = row_whole }, ROW_BLOCKS_END
static const struct row_block goose_user_parts[] = { GOOSE_PARTS(BLOCK_PROMPT) };
static const struct row_block goose_agent_parts[] = { GOOSE_PARTS(BLOCK_TEXT) };
static const struct row_block goose_user[] = { { .each = "content", .parts = goose_user_parts }, ROW_BLOCKS_END };
static const struct row_block goose_spoken[] = { { .each = "content", .parts = goose_agent_parts }, ROW_BLOCKS_END };
/* clang-format on */

enum err_code goose_blocks(const struct store *st, struct slice row, struct block_list *out,
                           struct err *e)
{
    struct slice role, content;

    (void)st;
    if (!json_valid(row) || !json_get(row, "role", &role) || !json_get(row, "content", &content) ||
        json_type(content) != JSON_ARRAY)
        transcript_block_put(out, (struct block){ .kind = BLOCK_RAW, .text = row });
    else
        row_blocks_put(out, json_string_is(role, "user") ? goose_user : goose_spoken, row);
    return out->arena.failed ? err_nomem(e) : ERR_OK;
}

struct slice goose_prompt(struct slice content, struct arena *a)
{
    struct slice key, part, text;
    struct json_iter it;

    if (json_valid(content) && json_iter_open(&it, content))
        while (json_iter_next(&it, &key, &part))
            if (json_get_is(part, "type", "text") && json_get_text(part, "text", a, &text) &&
                text.n)
                return text;
    return SLICE("");
}

/* ---- sub-agents, which older versions do not have ---- */

static const char *goose_agents(struct sqlite_db *db, struct arena *a)
{
    (void)a;
    return sqlite_db_has_column(db, "sessions", "parent_session_id")
               ? "SELECT s.id, s.description, CAST(strftime('%s', s.updated_at) AS INTEGER), "
                 "(SELECT m.content_json FROM messages m WHERE m.session_id = s.id AND m.role = "
                 "'assistant' ORDER BY m.created_timestamp DESC, m.id DESC LIMIT 1) FROM sessions "
                 "s WHERE s.parent_session_id = ?1 ORDER BY s.created_at, s.id"
               : NULL;
}

static bool goose_agent(const struct sqlite_row *row, struct arena *a, struct subagent *out)
{
    out->id = sqlite_row_text(row, 0);
    out->task = sqlite_row_text(row, 1);
    out->time_ms = sqlite_row_int(row, 2) * 1000;
    out->outcome = goose_prompt(sqlite_row_text(row, 3), a);
    out->end = out->outcome.n ? SUBAGENT_DONE : SUBAGENT_OPEN;
    return true;
}

/* ---- tokens: of each answer, or in older versions of a whole session; the input includes cached
 * tokens ---- */

static const char sums[] =
    "SELECT s.id, CAST(strftime('%%s', s.updated_at) AS INTEGER), NULL, "
    "s.accumulated_input_tokens, s.accumulated_output_tokens, 0, 0, NULL, 0, %s FROM sessions s "
    "WHERE (s.id = ?1 OR %s = ?1) AND (s.accumulated_input_tokens > 0 OR "
    "s.accumulated_output_tokens > 0)";
static const char ledger[] =
    "SELECT s.id, u.created_timestamp, u.model, u.input_tokens, u.output_tokens, "
    "u.cache_read_tokens, u.cache_write_tokens, u.cost, u.rowid, %s FROM usage_ledger u JOIN "
    "sessions s ON s.id = u.session_id WHERE (s.id = ?1 OR %s = ?1) UNION ALL %s AND NOT EXISTS "
    "(SELECT 1 FROM usage_ledger u WHERE u.session_id = s.id) ORDER BY 2";

static const char *goose_answers(struct sqlite_db *db, struct arena *a)
{
    const char *sql, *parent = sqlite_db_has_column(db, "sessions", "parent_session_id")
                                   ? "s.parent_session_id"
                                   : "NULL";

    if (!sqlite_db_has_column(db, "sessions", "accumulated_input_tokens"))
        return NULL;
    sql = arena_format(a, sums, parent, parent);
    return sql && sqlite_db_has_column(db, "usage_ledger", "cache_read_tokens")
               ? arena_format(a, ledger, parent, parent, sql)
               : sql;
}

static int64_t count_in(const struct sqlite_row *row, int column)
{
    int64_t n = sqlite_row_int(row, column);

    return n > 0 ? n : 0;
}

static bool goose_answer(const struct sqlite_row *row, struct arena *a, struct usage_record *out)
{
    int64_t input = count_in(row, 3);
    const char *id = arena_format(a, "goose %.*s %lld", SLICE_ARG(sqlite_row_text(row, 0)),
                                  (long long)sqlite_row_int(row, 8));

    if (!id)
        return false;
    out->agent = sqlite_row_text(row, 0);
    out->answer = out->request = slice_of(id);
    out->copied = sqlite_row_text(row, 9).n > 0;
    out->time_ms = goose_show_time_of(sqlite_row_int(row, 1));
    out->model = sqlite_row_text(row, 2);
    out->cache_read = count_in(row, 5);
    out->cache_write = count_in(row, 6);
    out->input =
        input > out->cache_read + out->cache_write ? input - out->cache_read - out->cache_write : 0;
    out->output = count_in(row, 4);
    out->cost = usage_cost_of(sqlite_row_text(row, 7));
    return true;
}

#define MESSAGES                                                                                   \
    "SELECT id, role, content_json, created_timestamp FROM messages WHERE session_id = ?1 "

const struct sqlite_format goose_format = {
    .id_name = "a Goose session id",
    .sessions = goose_sessions,
    .listed = goose_listed,
    .messages = MESSAGES "ORDER BY created_timestamp, id",
    .tail = MESSAGES "AND id IN (SELECT id FROM messages WHERE session_id = ?1 ORDER BY "
                     "created_timestamp DESC, id DESC LIMIT " SQLITE_TAIL_TEXT
                     ") ORDER BY created_timestamp, id",
    .count = "SELECT (SELECT count(*) FROM messages WHERE session_id = ?1) FROM sessions WHERE id "
             "= ?1",
    .message = goose_message,
    .agents = goose_agents,
    .agent = goose_agent,
    .answers = goose_answers,
    .answer = goose_answer,
    .fill = goose_fill,
    .tables = goose_tables,
};
