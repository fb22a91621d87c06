#include <string.h>

#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/systems/common/memory_rows.h"
#include "store/systems/opencode/opencode.h"

/* ---- rows ---- */

#define JOINED                                                                                     \
    "SELECT m.id, m.time_created, m.data, p.id, p.data, s.revert FROM message m JOIN session s "   \
    "ON s.id = m.session_id LEFT JOIN part p ON p.message_id = m.id WHERE m.session_id = ?1 "
#define ORDER "ORDER BY m.time_created, m.id, p.id"

static const char whole_sql[] = JOINED ORDER;
/* The newest messages; whether there are more is asked for by one too many. */
static const char tail_sql[] =
    JOINED "AND m.id IN (SELECT id FROM message WHERE session_id = ?1 ORDER BY time_created DESC, "
           "id DESC LIMIT 40) " ORDER;
static const char count_sql[] = "SELECT count(*) FROM message WHERE session_id = ?1";
static const char session_sql[] = "SELECT id FROM session WHERE id = ?1";

enum { TAIL_MESSAGES = 40 };

enum column {
    COLUMN_MESSAGE_ID,
    COLUMN_TIME,
    COLUMN_MESSAGE,
    COLUMN_PART_ID,
    COLUMN_PART,
    COLUMN_REVERT,
};

/* A conversation that is being read. */
struct loading {
    const struct session_ref *ref;
    bool tail;
    struct memory_rows rows;
    struct buf row; /* the message that its parts are added to */
    struct buf id;  /* its id; empty: none yet */
    struct message message;
    bool parts; /* it has one already */
    int64_t count;
};

static enum err_code finish_row(struct loading *l)
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

/* OpenCode's own revert leaves the messages where they are until the next prompt, which deletes them. Ids ascend, and it
 * compares them as texts, too. */
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

static enum err_code begin_row(struct loading *l, const struct sqlite_row *row, struct slice id)
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
    struct slice type;

    return json_get(part, "type", &type) && json_string_is(type, "compaction");
}

static enum err_code add_part(struct loading *l, const struct sqlite_row *row)
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

static enum err_code load_row(const struct sqlite_row *row, void *arg, struct err *e)
{
    struct loading *l = arg;
    struct slice id = sqlite_row_text(row, COLUMN_MESSAGE_ID);
    enum err_code rc = ERR_OK;

    if (!sqlite_store_is_id(id))
        return ERR_OK;
    if (!slice_eq(id, buf_slice(&l->id))) {
        rc = finish_row(l);
        if (!rc)
            rc = begin_row(l, row, id);
    }
    if (!rc && sqlite_store_is_id(sqlite_row_text(row, COLUMN_PART_ID)))
        rc = add_part(l, row);
    return rc ? err_nomem(e) : ERR_OK;
}

/* ---- loading ---- */

static enum err_code take_number(const struct sqlite_row *row, void *arg, struct err *e)
{
    (void)e;
    *(int64_t *)arg = sqlite_row_int(row, 0);
    return ERR_OK;
}

static enum err_code take_presence(const struct sqlite_row *row, void *arg, struct err *e)
{
    (void)row, (void)e;
    *(int64_t *)arg = 1;
    return ERR_OK;
}

/* Begins anew if it is called again. */
static enum err_code read_rows(struct sqlite_db *db, void *arg, struct err *e)
{
    struct loading *l = arg;
    int64_t there = 0;

    memory_rows_reset(&l->rows);
    l->id.n = 0;
    enum err_code rc = sqlite_db_each(db, session_sql, &l->ref->id, 1, take_presence, &there, e);

    if (!rc && !there)
        return err_set(e, ERR_NOT_FOUND, l->ref->path.p, "load the conversation: no such session");
    if (!rc)
        rc = sqlite_db_each(db, count_sql, &l->ref->id, 1, take_number, &l->count, e);
    if (!rc)
        rc = sqlite_db_each(db, l->tail ? tail_sql : whole_sql, &l->ref->id, 1, load_row, l, e);
    if (!rc && finish_row(l))
        rc = err_nomem(e);
    return rc;
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
    buf_fini(&l.id);
    return rc;
}

enum err_code opencode_load(const struct store *st, const struct session_ref *ref,
                            const atomic_bool *cancel, struct transcript **out, struct err *e)
{
    (void)st;
    return load(ref, false, cancel, out, e);
}

enum err_code opencode_tail(const struct store *st, const struct session_ref *ref, size_t bytes,
                            struct transcript **out, struct err *e)
{
    (void)st, (void)bytes;
    return load(ref, true, NULL, out, e);
}

enum err_code opencode_messages(const struct store *st, const struct session_ref *ref,
                                const struct message_query *q, json_fn *fn, void *arg,
                                struct err *e)
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

/* ---- sub-agents: sessions whose parent this is ---- */

static const char agents_sql[] =
    "SELECT s.id, s.title, s.time_updated, (SELECT m.data FROM message m WHERE m.session_id = s.id "
    "ORDER BY m.time_created DESC, m.id DESC LIMIT 1), (SELECT t.data FROM message m JOIN part t "
    "ON "
    "t.message_id = m.id WHERE m.session_id = s.id AND instr(m.data, '\"role\":\"assistant\"') AND "
    "instr(t.data, '\"type\":\"text\"') ORDER BY m.time_created DESC, m.id DESC, t.id DESC LIMIT "
    "1) "
    "FROM session s WHERE s.parent_id = ?1 ORDER BY s.time_created, s.id";

struct agents {
    const struct session_ref *ref;
    struct subagent_list *list;
};

static enum subagent_end end_of(struct slice newest)
{
    struct slice value;

    if (json_get(newest, "error", &value))
        return SUBAGENT_FAILED;
    return json_at(newest, "time.completed", &value) ? SUBAGENT_DONE : SUBAGENT_OPEN;
}

static enum err_code take_agent(const struct sqlite_row *row, void *arg, struct err *e)
{
    struct subagent_list *list = ((struct agents *)arg)->list;
    struct arena *a = &list->arena;
    struct slice id = sqlite_row_text(row, 0), text = SLICE("");

    if (!sqlite_store_is_id(id))
        return ERR_OK;
    struct subagent *more = arena_grow(a, list->agent, list->n, sizeof *more);

    if (!more)
        return err_nomem(e);
    list->agent = more;
    json_get_text(sqlite_row_text(row, 4), "text", a, &text);
    list->agent[list->n++] = (struct subagent){ .id = arena_copy(a, id),
                                                .type = SLICE(""),
                                                .task = arena_copy(a, sqlite_row_text(row, 1)),
                                                .outcome = arena_copy(a, text),
                                                .end = end_of(sqlite_row_text(row, 3)),
                                                .time_ms = sqlite_row_int(row, 2) };
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

enum err_code opencode_describe_subagents(const struct store *st, const struct session_ref *ref,
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
