#include <string.h>

#include "lite/json/json.h"
#include "store/systems/common/usage_rows.h"
#include "store/systems/opencode/opencode.h"

/* The parts of a message as blocks. */

struct slice opencode_prompt(struct slice part, struct arena *a)
{
    enum { TYPE, TEXT, SYNTHETIC, IGNORED, N };
    static const char *const names[] = { "type", "text", "synthetic", "ignored" };
    struct slice value[N];

    return json_get_each(part, names, N, value) && json_string_is(value[TYPE], "text") &&
                   !slice_eq(value[SYNTHETIC], SLICE("true")) &&
                   !slice_eq(value[IGNORED], SLICE("true"))
               ? json_text_of(value[TEXT], a)
               : SLICE("");
}

/* A message that is taken apart. */
struct parting {
    struct block_list *out;
    bool user;
};

static void opencode_put_result(struct parting *p, struct slice state, struct slice call)
{
    struct arena *a = &p->out->arena;
    struct block b = { .kind = BLOCK_TOOL_RESULT, .call_id = call };
    struct slice status = SLICE("");

    json_get_text(state, "status", a, &status);
    b.failed = slice_eq(status, SLICE("error"));
    if (b.failed)
        json_get_text(state, "error", a, &b.text);
    else if (slice_eq(status, SLICE("completed")))
        json_get_text(state, "output", a, &b.text);
    else
        return; /* it was running when the session ended, or still is */
    transcript_block_put(p->out, b);
}

static void put_tool(struct parting *p, struct slice part)
{
    struct arena *a = &p->out->arena;
    struct block b = { .kind = BLOCK_TOOL_CALL, .input = SLICE("{}") };
    struct slice state = SLICE("{}");

    json_get_text(part, "tool", a, &b.name);
    json_get_text(part, "callID", a, &b.call_id);
    json_get(part, "state", &state);
    json_get(state, "input", &b.input);

    /* The sub-agent that a task began. */
    struct slice metadata, id = SLICE("");

    if (json_get(state, "metadata", &metadata))
        json_get_text(metadata, "sessionId", a, &id);
    b.agent = id;

    transcript_block_put(p->out, b);
    opencode_put_result(p, state, b.call_id);
}

/* A part with its text in this member. */
static void opencode_put_note(struct parting *p, struct slice part, const char *member)
{
    struct block b = { .kind = BLOCK_NOTE };

    json_get_text(part, "type", &p->out->arena, &b.name);
    json_get_text(part, member, &p->out->arena, &b.text);
    transcript_block_put(p->out, b);
}

static void opencode_put_part(struct parting *p, struct slice part)
{
    if (json_get_is(part, "type", "text")) {
        bool own = json_get_true(part, "synthetic") || json_get_true(part, "ignored");

        transcript_block_put_text(p->out, p->user ? own ? BLOCK_NOTE : BLOCK_PROMPT : BLOCK_TEXT,
                                  json_text_at(part, "text", &p->out->arena));
    } else if (json_get_is(part, "type", "reasoning"))
        transcript_block_put_text(p->out, BLOCK_THINKING,
                                  json_text_at(part, "text", &p->out->arena));
    else if (json_get_is(part, "type", "tool"))
        put_tool(p, part);
    else if (json_get_is(part, "type", "file")) {
        struct block b = { .kind = BLOCK_DOCUMENT };

        json_get_text(part, "mime", &p->out->arena, &b.name);
        if (slice_starts(b.name, "image/"))
            b.kind = BLOCK_IMAGE;
        transcript_block_put(p->out, b);
    } else if (json_get_is(part, "type", "compaction"))
        transcript_block_put_compaction(p->out, SLICE(""));
    else if (json_get_is(part, "type", "subtask"))
        opencode_put_note(p, part, "prompt");
    else if (json_get_is(part, "type", "agent"))
        opencode_put_note(p, part, "name");
    else if (!json_get_is(part, "type", "step-start") &&
             !json_get_is(part, "type", "step-finish") && !json_get_is(part, "type", "snapshot") &&
             !json_get_is(part, "type", "patch") && !json_get_is(part, "type", "retry"))
        transcript_block_put(p->out, (struct block){ .kind = BLOCK_RAW, .text = part });
}

/* The message itself contains the reason why a turn failed. */
static void put_error(struct parting *p, struct slice message)
{
    struct block b = { .kind = BLOCK_NOTE, .name = SLICE("error"), .failed = true };
    struct slice error, data;

    if (!json_get(message, "error", &error) || json_type(error) != JSON_OBJECT)
        return;
    if (!json_get(error, "data", &data) || !json_get_text(data, "message", &p->out->arena, &b.text))
        json_get_text(error, "name", &p->out->arena, &b.text);
    transcript_block_put(p->out, b);
}

enum err_code opencode_blocks(const struct store *st, struct slice row, struct block_list *out,
                              struct err *e)
{
    struct parting p = { .out = out };
    struct slice message = SLICE("{}"), parts, key, part, data;
    struct json_iter it;

    (void)st;
    if (!json_valid(row) || !json_get(row, "message", &message) ||
        !json_get(row, "parts", &parts)) {
        transcript_block_put(out, (struct block){ .kind = BLOCK_RAW, .text = row });
        return out->arena.failed ? err_nomem(e) : ERR_OK;
    }
    p.user = json_get_is(message, "role", "user");
    if (json_iter_open(&it, parts))
        while (json_iter_next(&it, &key, &part))
            if (json_get(part, "data", &data))
                opencode_put_part(&p, data);
    put_error(&p, message);
    return out->arena.failed ? err_nomem(e) : ERR_OK;
}

/* ---- rows ---- */

#define JOINED                                                                                     \
    "SELECT m.id, m.time_created, m.data, p.id, p.data, s.revert FROM message m JOIN session s "   \
    "ON s.id = m.session_id LEFT JOIN part p ON p.message_id = m.id WHERE m.session_id = ?1 "
#define ORDER "ORDER BY m.time_created, m.id, p.id"

enum column {
    COLUMN_MESSAGE_ID,
    COLUMN_TIME,
    COLUMN_MESSAGE,
    COLUMN_PART_ID,
    COLUMN_PART,
    COLUMN_REVERT,
};

static enum err_code opencode_finish(struct sqlite_conversation *l)
{
    enum err_code rc = ERR_OK;

    if (l->id.n == 0)
        return ERR_OK;
    rc = buf_add(&l->row, SLICE("]}"));
    if (!rc)
        rc = memory_rows_add(&l->rows, buf_slice(&l->row), l->message);
    l->id.n = 0;
    return rc;
}

static enum message_kind opencode_kind_of(struct slice message)
{
    struct slice role;

    if (!json_get(message, "role", &role))
        return MESSAGE_OTHER;
    return json_string_is(role, "user")        ? MESSAGE_USER
           : json_string_is(role, "assistant") ? MESSAGE_ASSISTANT
                                               : MESSAGE_OTHER;
}

static enum err_code opencode_begin_row(struct sqlite_conversation *l, const struct sqlite_row *row,
                                        struct slice id)
{
    struct slice data = sqlite_row_text(row, COLUMN_MESSAGE);

    l->message = (struct message){ .time_ms = sqlite_row_int(row, COLUMN_TIME),
                                   .id = id128_of(id),
                                   .kind = (uint8_t)opencode_kind_of(data) };
    if (l->message.kind == MESSAGE_ASSISTANT && json_get_true(data, "summary"))
        l->message.flags |= MESSAGE_SUMMARY;

    /* OpenCode's own revert keeps the messages until the next prompt, which deletes them. Ids
     * ascend, and OpenCode compares them as texts, too. */
    struct slice revert = sqlite_row_text(row, COLUMN_REVERT), from, part;
    bool undone = false;

    if (revert.n && json_get(revert, "messageID", &from) && json_type(from) == JSON_STRING &&
        from.n > 2) {
        struct slice text = { from.p + 1, from.n - 2 };
        size_t n = text.n < id.n ? text.n : id.n;
        int order = memcmp(id.p, text.p, n);

        order = order ? order : (id.n > text.n) - (id.n < text.n);
        undone =
            order > 0 ||
            (order == 0 && !(json_get(revert, "partID", &part) && json_type(part) == JSON_STRING));
    }

    if (undone)
        l->message.flags |= MESSAGE_LEFT_OUT;

    l->parts = false;
    l->row.n = 0;
    TRY(buf_add(&l->row, SLICE("{\"id\":\"")));
    TRY(buf_add(&l->row, id));
    TRY(buf_add(&l->row, SLICE("\",\"message\":")));
    TRY(memory_rows_value(&l->row, data));
    TRY(buf_add(&l->row, SLICE(",\"parts\":[")));
    return buf_add(&l->id, id);
}

static enum err_code opencode_add_part(struct sqlite_conversation *l, const struct sqlite_row *row)
{
    struct slice id = sqlite_row_text(row, COLUMN_PART_ID),
                 data = sqlite_row_text(row, COLUMN_PART);

    if (l->parts)
        TRY(buf_add_byte(&l->row, ','));
    l->parts = true;
    if (json_get_is(data, "type", "compaction"))
        l->message.flags |= MESSAGE_SEAM | MESSAGE_META;
    TRY(buf_add(&l->row, SLICE("{\"id\":\"")));
    TRY(buf_add(&l->row, id));
    TRY(buf_add(&l->row, SLICE("\",\"data\":")));
    TRY(memory_rows_value(&l->row, data));
    return buf_add_byte(&l->row, '}');
}

static enum err_code opencode_message(const struct sqlite_row *row, struct sqlite_conversation *l)
{
    struct slice id = sqlite_row_text(row, COLUMN_MESSAGE_ID);

    if (!sqlite_store_is_id(id))
        return ERR_OK;
    if (!slice_eq(id, buf_slice(&l->id))) {
        TRY(opencode_finish(l));
        TRY(opencode_begin_row(l, row, id));
    }
    return sqlite_store_is_id(sqlite_row_text(row, COLUMN_PART_ID)) ? opencode_add_part(l, row)
                                                                    : ERR_OK;
}

/* ---- sub-agents: sessions whose parent this is ---- */

static const char agents_sql[] =
    "SELECT s.id, s.title, s.time_updated, (SELECT m.data FROM message m WHERE m.session_id = s.id "
    "ORDER BY m.time_created DESC, m.id DESC LIMIT 1), (SELECT t.data FROM message m JOIN part t "
    "ON "
    "t.message_id = m.id WHERE m.session_id = s.id AND instr(m.data, '\"role\":\"assistant\"') AND "
    "instr(t.data, '\"type\":\"text\"') ORDER BY m.time_created DESC, m.id DESC, t.id DESC LIMIT "
    "1) "
    "FROM session s WHERE s.parent_id = ?1 ORDER BY s.time_created, s.id";

static const char *opencode_agents(struct sqlite_db *db, struct arena *a)
{
    (void)db, (void)a;
    return agents_sql;
}

static bool opencode_agent(const struct sqlite_row *row, struct arena *a, struct subagent *out)
{
    struct slice value;

    out->id = sqlite_row_text(row, 0);
    out->task = sqlite_row_text(row, 1);
    out->time_ms = sqlite_row_int(row, 2);

    struct slice newest = sqlite_row_text(row, 3);

    out->end = json_get(newest, "error", &value)           ? SUBAGENT_FAILED
               : json_at(newest, "time.completed", &value) ? SUBAGENT_DONE
                                                           : SUBAGENT_OPEN;

    json_get_text(sqlite_row_text(row, 4), "text", a, &out->outcome);
    return true;
}

const struct sqlite_format opencode_format = {
    .id_name = "a session id",
    .sessions = opencode_sessions,
    .listed = opencode_listed,
    .messages = JOINED ORDER,
    .tail = JOINED "AND m.id IN (SELECT id FROM message WHERE session_id = ?1 ORDER BY "
                   "time_created DESC, id DESC LIMIT " SQLITE_TAIL_TEXT ") " ORDER,
    .count = "SELECT (SELECT count(*) FROM message WHERE session_id = ?1) FROM session WHERE id = "
             "?1",
    .message = opencode_message,
    .finish = opencode_finish,
    .agents = opencode_agents,
    .agent = opencode_agent,
    .answers = opencode_answers,
    .answer = opencode_answer,
    .fill = opencode_fill,
    .tables = opencode_tables,
};

/* The tokens of each answer are in its message. Sub-agents are sessions whose parent this is. The session is found first
 * (CROSS JOIN keeps this order), because old databases lack the index of the parents, and SQLite would then read all
 * messages. */
static const char answers_sql[] =
    "SELECT m.id, m.session_id, m.data, s.time_created, m.time_created FROM session s CROSS JOIN "
    "message m ON m.session_id = s.id WHERE s.rowid IN (SELECT rowid FROM session WHERE id = ?1 "
    "UNION SELECT rowid FROM session WHERE parent_id = ?1) AND instr(m.data, "
    "'\"role\":\"assistant\"') ORDER BY m.time_created, m.id";

enum answer_column { ANSWER_ID, ANSWER_SESSION, ANSWER_MESSAGE, ANSWER_BEGAN, ANSWER_TIME };

const char *opencode_answers(struct sqlite_db *db, struct arena *a)
{
    (void)db, (void)a;
    return answers_sql;
}

/* A fork has copies with other ids, but the times in them are the same. */
bool opencode_answer(const struct sqlite_row *row, struct arena *a, struct usage_record *u)
{

    struct slice message = sqlite_row_text(row, ANSWER_MESSAGE), tokens, created, done;
    int64_t ms;

    if (!json_valid(message) || !json_get(message, "tokens", &tokens))
        return false;
    u->message = sqlite_row_text(row, ANSWER_ID);
    u->agent = sqlite_row_text(row, ANSWER_SESSION);
    u->time_ms = sqlite_row_int(row, ANSWER_TIME);
    if (json_at(message, "time.created", &created) && json_int(created, &ms)) {
        u->time_ms = ms;
        u->copied = ms < sqlite_row_int(row, ANSWER_BEGAN);
        if (json_at(message, "time.completed", &done)) {
            u->answer = created;
            u->request = done;
        }
    }
    json_get_text(message, "modelID", a, &u->model);
    u->input = usage_count(tokens, "input");
    u->output = usage_count(tokens, "output");
    u->cache_read = usage_count(tokens, "cache.read");
    u->cache_write = usage_count(tokens, "cache.write");

    /* The total shows whether the output includes the thinking. */
    int64_t thought = usage_count(tokens, "reasoning"), total = usage_count(tokens, "total");

    if (!total || total == u->input + u->output + thought + u->cache_read + u->cache_write)
        u->output += thought;

    u->cost = usage_cost(message, "cost");
    return u->input || u->output || u->cache_read || u->cache_write;
}
