#include <string.h>

#include "lite/base/time.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/systems/common/memory_rows.h"
#include "store/systems/crush/crush.h"

/* ---- rows ---- */

#define COLUMNS "SELECT id, role, parts, created_at FROM messages WHERE session_id = ?1 "
static const char whole_sql[] = COLUMNS "ORDER BY created_at, rowid";
static const char tail_sql[] = COLUMNS
    "AND rowid IN (SELECT rowid FROM messages WHERE session_id = ?1 ORDER BY created_at DESC, "
    "rowid DESC LIMIT 40) ORDER BY created_at, rowid";
static const char count_sql[] = "SELECT (SELECT count(*) FROM messages WHERE session_id = ?1) "
                                "FROM sessions WHERE id = ?1";

enum { TAIL_MESSAGES = 40 };

struct loading {
    const struct session_ref *ref;
    bool tail, there;
    struct memory_rows rows;
    struct buf row;
    int64_t count;
};

static enum message_kind kind_of(struct slice role)
{
    return slice_eq(role, SLICE("user"))        ? MESSAGE_USER
           : slice_eq(role, SLICE("assistant")) ? MESSAGE_ASSISTANT
           : slice_eq(role, SLICE("tool"))      ? MESSAGE_TOOL
                                                : MESSAGE_SYSTEM;
}

static enum err_code put_text(struct buf *out, const char *lead, struct slice text)
{
    struct jsonout j;
    enum err_code rc = buf_add(out, slice_of(lead));

    jsonout_init(&j, out);
    jsonout_text(&j, text);
    return rc ? rc : j.rc;
}

static enum err_code load_row(const struct sqlite_row *row, void *arg, struct err *e)
{
    struct loading *l = arg;
    struct slice id = sqlite_row_text(row, 0), role = sqlite_row_text(row, 1);
    const struct message m = { .id = id128_of(id),
                               .kind = (uint8_t)kind_of(role),
                               .time_ms = crush_time(sqlite_row_int(row, 3)) };
    enum err_code rc;

    l->row.n = 0;
    rc = put_text(&l->row, "{\"id\":", id);
    if (!rc)
        rc = put_text(&l->row, ",\"role\":", role);
    if (!rc)
        rc = buf_add(&l->row, SLICE(",\"parts\":"));
    if (!rc)
        rc = memory_rows_value(&l->row, sqlite_row_text(row, 2));
    if (!rc)
        rc = buf_add_byte(&l->row, '}');
    if (!rc)
        rc = memory_rows_add(&l->rows, buf_slice(&l->row), m);
    return rc ? err_nomem(e) : ERR_OK;
}

static enum err_code take_count(const struct sqlite_row *row, void *arg, struct err *e)
{
    struct loading *l = arg;

    (void)e;
    l->there = true;
    l->count = sqlite_row_int(row, 0);
    return ERR_OK;
}

/* Begins anew if it is called again. */
static enum err_code read_rows(struct sqlite_db *db, void *arg, struct err *e)
{
    struct loading *l = arg;

    memory_rows_reset(&l->rows);
    l->there = false;
    enum err_code rc = sqlite_db_each(db, count_sql, &l->ref->id, 1, take_count, l, e);

    if (!rc && !l->there)
        return err_set(e, ERR_NOT_FOUND, l->ref->path.p, "load the conversation: no such session");
    return rc ? rc
              : sqlite_db_each(db, l->tail ? tail_sql : whole_sql, &l->ref->id, 1, load_row, l, e);
}

static enum err_code load(const struct session_ref *ref, bool tail, const atomic_bool *cancel,
                          struct transcript **out, struct err *e)
{
    struct loading l = { .ref = ref, .tail = tail };
    enum err_code rc = sqlite_store_read(ref, cancel, read_rows, &l, e);

    if (!rc)
        rc = memory_rows_finish(&l.rows, ref, out, e);
    if (!rc)
        (*out)->partial = tail && l.count > TAIL_MESSAGES;
    memory_rows_fini(&l.rows);
    buf_fini(&l.row);
    return rc;
}

enum err_code crush_load(const struct store *st, const struct session_ref *ref,
                         const atomic_bool *cancel, struct transcript **out, struct err *e)
{
    (void)st;
    return load(ref, false, cancel, out, e);
}

enum err_code crush_tail(const struct store *st, const struct session_ref *ref, size_t bytes,
                         struct transcript **out, struct err *e)
{
    (void)st, (void)bytes;
    return load(ref, true, NULL, out, e);
}

enum err_code crush_messages(const struct store *st, const struct session_ref *ref,
                             const struct message_query *q, json_fn *fn, void *arg, struct err *e)
{
    struct arena a = { 0 };
    struct session_ref agent = *ref;
    struct transcript *t = NULL;
    enum err_code rc = ERR_OK;

    if (q->agent.n && !q->agent_alone)
        rc = sqlite_store_agent(st, ref, q->agent, &a, &agent, e);
    if (!rc)
        rc = load(&agent, false, q->cancel, &t, e);
    if (!rc)
        rc = memory_rows_messages(st, t, ref->id, q, fn, arg, e);
    transcript_free(t);
    arena_fini(&a);
    return rc;
}

/* ---- blocks ---- */

static bool type_is(struct slice part, const char *type)
{
    struct slice value;

    return json_get(part, "type", &value) && json_type(value) == JSON_STRING &&
           json_string_is(value, type);
}

static void put_part_text(struct block_list *out, enum block_kind kind, struct slice data,
                          const char *member)
{
    struct block b = { .kind = kind };

    if (json_get_text(data, member, &out->arena, &b.text) && b.text.n)
        transcript_block_put(out, b);
}

static void put_call(struct block_list *out, struct slice data)
{
    struct block b = { .kind = BLOCK_TOOL_CALL, .input = SLICE("") };

    json_get_text(data, "id", &out->arena, &b.call_id);
    json_get_text(data, "name", &out->arena, &b.name);
    json_get_text(data, "input", &out->arena, &b.input); /* a text that is JSON */
    if (!json_valid(b.input))
        b.input = SLICE("{}");
    transcript_block_put(out, b);
}

static void put_result(struct block_list *out, struct slice data)
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

/* Only an answer that failed has something to say. */
static void put_finish(struct block_list *out, struct slice data)
{
    struct block b = { .kind = BLOCK_NOTE, .name = SLICE("error"), .failed = true };

    if (json_get_text(data, "message", &out->arena, &b.text) && b.text.n)
        transcript_block_put(out, b);
}

static void put_part(struct block_list *out, bool user, struct slice part, struct slice data)
{
    if (type_is(part, "text"))
        put_part_text(out,
                      json_get_true(data, "hidden") ? BLOCK_NOTE
                      : user                        ? BLOCK_PROMPT
                                                    : BLOCK_TEXT,
                      data, "text");
    else if (type_is(part, "reasoning"))
        put_part_text(out, BLOCK_THINKING, data, "thinking");
    else if (type_is(part, "tool_call"))
        put_call(out, data);
    else if (type_is(part, "tool_result"))
        put_result(out, data);
    else if (type_is(part, "binary"))
        put_binary(out, data);
    else if (type_is(part, "image_url"))
        transcript_block_put(out, (struct block){ .kind = BLOCK_IMAGE });
    else if (type_is(part, "shell_command"))
        put_part_text(out, BLOCK_COMMAND, data, "command");
    else if (type_is(part, "finish"))
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
                put_part(out, json_string_is(role, "user"), part, data);
    return out->arena.failed ? err_nomem(e) : ERR_OK;
}

struct slice crush_prompt(struct slice parts, struct arena *a)
{
    struct slice key, part, data, text;
    struct json_iter it;

    if (json_valid(parts) && json_iter_open(&it, parts))
        while (json_iter_next(&it, &key, &part))
            if (type_is(part, "text") && json_get(part, "data", &data) &&
                !json_get_true(data, "hidden") && json_get_text(data, "text", a, &text) && text.n)
                return text;
    return SLICE("");
}

/* ---- sub-agents ---- */

static const char agents_sql[] =
    "SELECT s.id, s.title, s.updated_at, (SELECT m.parts FROM messages m WHERE m.session_id = s.id "
    "AND m.role = 'assistant' ORDER BY m.created_at DESC, m.rowid DESC LIMIT 1) FROM sessions s "
    "WHERE s.parent_session_id = ?1 AND s.id NOT LIKE 'title-%' ORDER BY s.created_at, s.rowid";

struct agents {
    const struct session_ref *ref;
    struct subagent_list *list;
};

static enum err_code take_agent(const struct sqlite_row *row, void *arg, struct err *e)
{
    struct subagent_list *list = ((struct agents *)arg)->list;
    struct arena *a = &list->arena;
    struct slice id = sqlite_row_text(row, 0), parts = sqlite_row_text(row, 3);

    if (!sqlite_store_is_id(id))
        return ERR_OK;
    struct subagent *more = arena_grow(a, list->agent, list->n, sizeof *more);

    if (!more)
        return err_nomem(e);
    list->agent = more;
    list->agent[list->n++] =
        (struct subagent){ .id = arena_copy(a, id),
                           .type = SLICE(""),
                           .task = arena_copy(a, sqlite_row_text(row, 1)),
                           .outcome = arena_copy(a, crush_prompt(parts, a)),
                           .end = slice_has(parts, "\"finish\"") ? SUBAGENT_DONE : SUBAGENT_OPEN,
                           .time_ms = crush_time(sqlite_row_int(row, 2)) };
    return a->failed ? err_nomem(e) : ERR_OK;
}

static enum err_code read_agents(struct sqlite_db *db, void *arg, struct err *e)
{
    struct agents *g = arg;

    arena_reset(&g->list->arena);
    g->list->agent = NULL;
    g->list->n = 0;
    return sqlite_db_each(db, agents_sql, &g->ref->id, 1, take_agent, g, e);
}

enum err_code crush_describe_subagents(const struct store *st, const struct session_ref *ref,
                                       const atomic_bool *cancel, struct subagent_list *out,
                                       struct err *e)
{
    struct subagent_list list = { .n = 0 };
    struct agents g = { ref, &list };
    enum err_code rc = sqlite_store_read(ref, cancel, read_agents, &g, e);

    (void)st;
    if (rc)
        subagent_list_fini(&list);
    else
        *out = list;
    return rc;
}
