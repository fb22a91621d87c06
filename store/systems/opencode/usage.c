#include "lite/json/json.h"
#include "store/systems/common/usage_rows.h"
#include "store/systems/opencode/opencode.h"

/* The tokens of each answer are in its message. Sub-agents are sessions whose parent this is. The session is found first
 * (CROSS JOIN keeps this order), because old databases lack the index of the parents, and SQLite would then read all
 * messages. */
static const char sql[] =
    "SELECT m.id, m.session_id, m.data, s.time_created, m.time_created FROM session s CROSS JOIN "
    "message m ON m.session_id = s.id WHERE s.rowid IN (SELECT rowid FROM session WHERE id = ?1 "
    "UNION SELECT rowid FROM session WHERE parent_id = ?1) AND instr(m.data, "
    "'\"role\":\"assistant\"') ORDER BY m.time_created, m.id";

enum column { COLUMN_ID, COLUMN_SESSION, COLUMN_MESSAGE, COLUMN_BEGAN, COLUMN_TIME };

const char *opencode_answers(struct sqlite_db *db, struct arena *a)
{
    (void)db, (void)a;
    return sql;
}

/* The total shows whether the output includes the thinking. */
static int64_t output_of(struct slice tokens, const struct usage_record *u)
{
    int64_t output = usage_count(tokens, "output"), thought = usage_count(tokens, "reasoning"),
            total = usage_count(tokens, "total");
    bool apart = !total || total == u->input + output + thought + u->cache_read + u->cache_write;

    return apart ? output + thought : output;
}

/* A fork has copies with other ids, but the times in them are the same. */
bool opencode_answer(const struct sqlite_row *row, struct arena *a, struct usage_record *u)
{
    struct slice message = sqlite_row_text(row, COLUMN_MESSAGE), tokens, cache, created, done;
    int64_t ms;

    if (!json_valid(message) || !json_get(message, "tokens", &tokens))
        return false;
    u->message = sqlite_row_text(row, COLUMN_ID);
    u->agent = sqlite_row_text(row, COLUMN_SESSION);
    u->time_ms = sqlite_row_int(row, COLUMN_TIME);
    if (json_at(message, "time.created", &created) && json_int(created, &ms)) {
        u->time_ms = ms;
        u->copied = ms < sqlite_row_int(row, COLUMN_BEGAN);
        if (json_at(message, "time.completed", &done)) {
            u->answer = created;
            u->request = done;
        }
    }
    json_get_text(message, "modelID", a, &u->model);
    u->input = usage_count(tokens, "input");
    if (json_get(tokens, "cache", &cache)) {
        u->cache_read = usage_count(cache, "read");
        u->cache_write = usage_count(cache, "write");
    }
    u->output = output_of(tokens, u);
    u->cost = usage_cost(message, "cost");
    return u->input || u->output || u->cache_read || u->cache_write;
}
