#include <stdio.h>
#include <string.h>

#include "lite/base/time.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/systems/common/memory_rows.h"
#include "store/systems/goose/goose.h"

/* ---- rows ---- */

#define COLUMNS                                                                                    \
    "SELECT id, role, content_json, created_timestamp FROM messages WHERE session_id = ?1 "
static const char whole_sql[] = COLUMNS "ORDER BY created_timestamp, id";
static const char tail_sql[] = COLUMNS
    "AND id IN (SELECT id FROM messages WHERE session_id = ?1 ORDER BY created_timestamp DESC, "
    "id DESC LIMIT 40) ORDER BY created_timestamp, id";
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

static int64_t time_of(int64_t stored)
{
    static const int64_t seconds_most = INT64_C(100000000000);

    return stored <= 0 ? TIME_NONE : stored < seconds_most ? stored * 1000 : stored;
}

static enum err_code load_row(const struct sqlite_row *row, void *arg, struct err *e)
{
    struct loading *l = arg;
    char id[32];
    struct slice role = sqlite_row_text(row, 1);
    struct message m = { .time_ms = time_of(sqlite_row_int(row, 3)),
                         .kind = slice_eq(role, SLICE("user")) ? MESSAGE_USER : MESSAGE_ASSISTANT };
    struct jsonout j;

    snprintf(id, sizeof id, "message-%lld", (long long)sqlite_row_int(row, 0));
    m.id = id128_of(slice_of(id));
    l->row.n = 0;
    jsonout_init(&j, &l->row);
    jsonout_open(&j, '{');
    jsonout_member(&j, "id", slice_of(id));
    jsonout_member(&j, "role", role);
    jsonout_key(&j, "content");
    enum err_code rc = j.rc ? j.rc : memory_rows_value(&l->row, sqlite_row_text(row, 2));

    jsonout_close(&j, '}');
    if (!rc)
        rc = j.rc ? j.rc : memory_rows_add(&l->rows, buf_slice(&l->row), m);
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

enum err_code goose_load(const struct store *st, const struct session_ref *ref,
                         const atomic_bool *cancel, struct transcript **out, struct err *e)
{
    (void)st;
    return load(ref, false, cancel, out, e);
}

enum err_code goose_tail(const struct store *st, const struct session_ref *ref, size_t bytes,
                         struct transcript **out, struct err *e)
{
    (void)st, (void)bytes;
    return load(ref, true, NULL, out, e);
}

enum err_code goose_messages(const struct store *st, const struct session_ref *ref,
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

static void put_text(struct block_list *out, enum block_kind kind, struct slice part,
                     const char *member)
{
    struct block b = { .kind = kind };

    if (json_get_text(part, member, &out->arena, &b.text) && b.text.n)
        transcript_block_put(out, b);
}

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
static struct slice result_text(struct slice value, struct arena *a)
{
    struct slice content = value, key, part, text, all = SLICE("");
    struct json_iter it;

    if (json_type(value) == JSON_OBJECT && !json_get(value, "content", &content))
        return SLICE("");
    if (json_iter_open(&it, content))
        while (json_iter_next(&it, &key, &part))
            if (type_is(part, "text") && json_get_text(part, "text", a, &text)) {
                const struct slice both[] = { all, all.n ? SLICE("\n") : SLICE(""), text };
                const char *joined = arena_concat(a, both, 3);

                all = joined ? (struct slice){ joined, both[0].n + both[1].n + both[2].n } : all;
            }
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
            b.text = result_text(value, &out->arena);
            b.failed = json_get_true(value, "isError");
        }
    }
    transcript_block_put(out, b);
}

static void put_image(struct block_list *out, struct slice part)
{
    struct block b = { .kind = BLOCK_IMAGE };

    json_get_text(part, "mimeType", &out->arena, &b.name);
    transcript_block_put(out, b);
}

static void put_part(struct block_list *out, bool user, struct slice part)
{
    if (type_is(part, "text"))
        put_text(out, user ? BLOCK_PROMPT : BLOCK_TEXT, part, "text");
    else if (type_is(part, "thinking"))
        put_text(out, BLOCK_THINKING, part, "thinking");
    else if (type_is(part, "toolRequest") || type_is(part, "frontendToolRequest"))
        put_request(out, part);
    else if (type_is(part, "toolResponse"))
        put_response(out, part);
    else if (type_is(part, "image"))
        put_image(out, part);
    else if (type_is(part, "conversationCompacted"))
        transcript_block_put(
            out, (struct block){ .kind = BLOCK_SEAM,
                                 .text = SLICE("the conversation above was summarised") });
    else if (type_is(part, "systemNotification"))
        put_text(out, BLOCK_NOTE, part, "msg");
    else if (!type_is(part, "redactedThinking") && !type_is(part, "toolConfirmationRequest"))
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
            put_part(out, json_string_is(role, "user"), part);
    return out->arena.failed ? err_nomem(e) : ERR_OK;
}

struct slice goose_prompt(struct slice content, struct arena *a)
{
    struct slice key, part, text;
    struct json_iter it;

    if (json_valid(content) && json_iter_open(&it, content))
        while (json_iter_next(&it, &key, &part))
            if (type_is(part, "text") && json_get_text(part, "text", a, &text) && text.n)
                return text;
    return SLICE("");
}

/* ---- sub-agents ---- */

static const char agents_sql[] =
    "SELECT s.id, s.description, CAST(strftime('%s', s.updated_at) AS INTEGER), (SELECT "
    "m.content_json "
    "FROM messages m WHERE m.session_id = s.id AND m.role = 'assistant' ORDER BY "
    "m.created_timestamp DESC, m.id DESC LIMIT 1) FROM sessions s WHERE s.parent_session_id = ?1 "
    "ORDER BY s.created_at, s.id";

struct agents {
    const struct session_ref *ref;
    struct subagent_list *list;
};

static enum err_code take_agent(const struct sqlite_row *row, void *arg, struct err *e)
{
    struct subagent_list *list = ((struct agents *)arg)->list;
    struct arena *a = &list->arena;
    struct slice id = sqlite_row_text(row, 0), said = goose_prompt(sqlite_row_text(row, 3), a);

    if (!sqlite_store_is_id(id))
        return ERR_OK;
    struct subagent *more = arena_grow(a, list->agent, list->n, sizeof *more);

    if (!more)
        return err_nomem(e);
    list->agent = more;
    list->agent[list->n++] = (struct subagent){ .id = arena_copy(a, id),
                                                .type = SLICE(""),
                                                .task = arena_copy(a, sqlite_row_text(row, 1)),
                                                .outcome = arena_copy(a, said),
                                                .end = said.n ? SUBAGENT_DONE : SUBAGENT_OPEN,
                                                .time_ms = sqlite_row_int(row, 2) * 1000 };
    return a->failed ? err_nomem(e) : ERR_OK;
}

static enum err_code read_agents(struct sqlite_db *db, void *arg, struct err *e)
{
    struct agents *g = arg;

    arena_reset(&g->list->arena);
    g->list->agent = NULL;
    g->list->n = 0;
    /* older versions have no sub-agents */
    return sqlite_db_has_column(db, "sessions", "parent_session_id")
               ? sqlite_db_each(db, agents_sql, &g->ref->id, 1, take_agent, g, e)
               : ERR_OK;
}

enum err_code goose_describe_subagents(const struct store *st, const struct session_ref *ref,
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
