#include <string.h>

#include "lite/json/json.h"
#include "store/systems/opencode/opencode.h"

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

static enum err_code finish(struct sqlite_conversation *l)
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

/* OpenCode's own revert keeps the messages until the next prompt, which deletes them. Ids ascend,
 * and OpenCode compares them as texts, too. */
static bool is_undone(const struct sqlite_row *row, struct slice id)
{
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
    return undone;
}

static enum message_kind kind_of(struct slice message)
{
    struct slice role;

    if (!json_get(message, "role", &role))
        return MESSAGE_OTHER;
    return json_string_is(role, "user")        ? MESSAGE_USER
           : json_string_is(role, "assistant") ? MESSAGE_ASSISTANT
                                               : MESSAGE_OTHER;
}

static enum err_code begin_row(struct sqlite_conversation *l, const struct sqlite_row *row,
                               struct slice id)
{
    struct slice data = sqlite_row_text(row, COLUMN_MESSAGE);
    enum err_code rc;

    l->message = (struct message){ .time_ms = sqlite_row_int(row, COLUMN_TIME),
                                   .id = id128_of(id),
                                   .kind = (uint8_t)kind_of(data) };
    if (l->message.kind == MESSAGE_ASSISTANT && json_get_true(data, "summary"))
        l->message.flags |= MESSAGE_SUMMARY;
    if (is_undone(row, id))
        l->message.flags |= MESSAGE_LEFT_OUT;
    l->parts = false;
    l->row.n = 0;
    rc = buf_add(&l->row, SLICE("{\"id\":\""));
    if (!rc)
        rc = buf_add(&l->row, id);
    if (!rc)
        rc = buf_add(&l->row, SLICE("\",\"message\":"));
    if (!rc)
        rc = memory_rows_value(&l->row, data);
    if (!rc)
        rc = buf_add(&l->row, SLICE(",\"parts\":["));
    return rc ? rc : buf_add(&l->id, id);
}

static bool is_compaction(struct slice part)
{
    return json_get_is(part, "type", "compaction");
}

static enum err_code add_part(struct sqlite_conversation *l, const struct sqlite_row *row)
{
    struct slice id = sqlite_row_text(row, COLUMN_PART_ID),
                 data = sqlite_row_text(row, COLUMN_PART);
    enum err_code rc = l->parts ? buf_add_byte(&l->row, ',') : ERR_OK;

    l->parts = true;
    if (is_compaction(data))
        l->message.flags |= MESSAGE_SEAM | MESSAGE_META;
    if (!rc)
        rc = buf_add(&l->row, SLICE("{\"id\":\""));
    if (!rc)
        rc = buf_add(&l->row, id);
    if (!rc)
        rc = buf_add(&l->row, SLICE("\",\"data\":"));
    if (!rc)
        rc = memory_rows_value(&l->row, data);
    return rc ? rc : buf_add_byte(&l->row, '}');
}

static enum err_code message(const struct sqlite_row *row, struct sqlite_conversation *l)
{
    struct slice id = sqlite_row_text(row, COLUMN_MESSAGE_ID);
    enum err_code rc = ERR_OK;

    if (!sqlite_store_is_id(id))
        return ERR_OK;
    if (!slice_eq(id, buf_slice(&l->id))) {
        rc = finish(l);
        if (!rc)
            rc = begin_row(l, row, id);
    }
    if (!rc && sqlite_store_is_id(sqlite_row_text(row, COLUMN_PART_ID)))
        rc = add_part(l, row);
    return rc;
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

static const char *agents(struct sqlite_db *db, struct arena *a)
{
    (void)db, (void)a;
    return agents_sql;
}

static enum subagent_end end_of(struct slice newest)
{
    struct slice value;

    if (json_get(newest, "error", &value))
        return SUBAGENT_FAILED;
    return json_at(newest, "time.completed", &value) ? SUBAGENT_DONE : SUBAGENT_OPEN;
}

static bool agent(const struct sqlite_row *row, struct arena *a, struct subagent *out)
{
    out->id = sqlite_row_text(row, 0);
    out->task = sqlite_row_text(row, 1);
    out->time_ms = sqlite_row_int(row, 2);
    out->end = end_of(sqlite_row_text(row, 3));
    json_get_text(sqlite_row_text(row, 4), "text", a, &out->outcome);
    return true;
}

const struct sqlite_format opencode_format = {
    .id_name = "an OpenCode session id",
    .sessions = opencode_sessions,
    .listed = opencode_listed,
    .messages = JOINED ORDER,
    .tail = JOINED "AND m.id IN (SELECT id FROM message WHERE session_id = ?1 ORDER BY "
                   "time_created DESC, id DESC LIMIT " SQLITE_TAIL_TEXT ") " ORDER,
    .count = "SELECT (SELECT count(*) FROM message WHERE session_id = ?1) FROM session WHERE id = "
             "?1",
    .message = message,
    .finish = finish,
    .agents = agents,
    .agent = agent,
    .answers = opencode_answers,
    .answer = opencode_answer,
    .fill = opencode_fill,
    .tables = opencode_tables,
};
