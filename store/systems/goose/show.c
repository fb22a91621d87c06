#include <stdio.h>

#include "lite/base/time.h"
#include "lite/json/json.h"
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

static void put_request(struct block_list *out, struct slice part)
{
    struct block b = { .kind = BLOCK_TOOL_CALL, .input = SLICE("{}") };
    struct slice call;

    json_get_text(part, "id", &out->arena, &b.call_id);
    if (json_at(part, "toolCall.value", &call)) {
        json_get_text(call, "name", &out->arena, &b.name);
        json_get(call, "arguments", &b.input);
    }
    transcript_block_put(out, b);
}

/* The texts of a result, which is a list of contents, or has one. */
static struct slice goose_result_text(struct slice value, struct arena *a)
{
    struct slice content = value, key, part, text, all = SLICE("");
    struct json_iter it;

    if (json_type(value) == JSON_OBJECT && !json_get(value, "content", &content))
        return SLICE("");
    if (json_iter_open(&it, content))
        while (json_iter_next(&it, &key, &part))
            if (json_get_is(part, "type", "text") && json_get_text(part, "text", a, &text))
                all = arena_join(a, all, "\n", text);
    return all;
}

static void put_response(struct block_list *out, struct slice part)
{
    struct block b = { .kind = BLOCK_TOOL_RESULT };
    struct slice result, value;

    json_get_text(part, "id", &out->arena, &b.call_id);
    if (json_get(part, "toolResult", &result)) {
        b.failed = json_get_text(result, "error", &out->arena, &b.text);
        if (json_get(result, "value", &value)) {
            b.text = goose_result_text(value, &out->arena);
            b.failed = json_get_true(value, "isError");
        }
    }
    transcript_block_put(out, b);
}

static void goose_put_image(struct block_list *out, struct slice part)
{
    struct block b = { .kind = BLOCK_IMAGE };

    json_get_text(part, "mimeType", &out->arena, &b.name);
    transcript_block_put(out, b);
}

static void goose_put_part(struct block_list *out, bool user, struct slice part)
{
    if (json_get_is(part, "type", "text"))
        transcript_block_put_text(out, user ? BLOCK_PROMPT : BLOCK_TEXT,
                                  json_text_at(part, "text", &out->arena));
    else if (json_get_is(part, "type", "thinking"))
        transcript_block_put_text(out, BLOCK_THINKING, json_text_at(part, "thinking", &out->arena));
    else if (json_get_is(part, "type", "toolRequest") ||
             json_get_is(part, "type", "frontendToolRequest"))
        put_request(out, part);
    else if (json_get_is(part, "type", "toolResponse"))
        put_response(out, part);
    else if (json_get_is(part, "type", "image"))
        goose_put_image(out, part);
    else if (json_get_is(part, "type", "conversationCompacted"))
        transcript_block_put_compaction(out, SLICE(""));
    else if (json_get_is(part, "type", "systemNotification"))
        transcript_block_put_text(out, BLOCK_NOTE, json_text_at(part, "msg", &out->arena));
    else if (!json_get_is(part, "type", "redactedThinking") &&
             !json_get_is(part, "type", "toolConfirmationRequest"))
        transcript_block_put(out, (struct block){ .kind = BLOCK_RAW, .text = part });
}

enum err_code goose_blocks(const struct store *st, struct slice row, struct block_list *out,
                           struct err *e)
{
    struct slice role, content = SLICE(""), key, part;
    struct json_iter it;

    (void)st;
    if (!json_valid(row) || !json_get(row, "role", &role) || !json_get(row, "content", &content) ||
        json_type(content) != JSON_ARRAY)
        transcript_block_put(out, (struct block){ .kind = BLOCK_RAW, .text = row });
    else if (json_iter_open(&it, content))
        while (json_iter_next(&it, &key, &part))
            goose_put_part(out, json_string_is(role, "user"), part);
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
