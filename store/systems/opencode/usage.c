#include "lite/json/json.h"
#include "store/systems/common/usage_rows.h"
#include "store/systems/opencode/opencode.h"

/* The tokens of each answer are in its message. Sub-agents are sessions whose parent this is. */
static const char sql[] = "SELECT m.id, m.session_id, m.data, s.time_created, m.time_created FROM "
                          "message m JOIN session s ON "
                          "s.id = m.session_id WHERE (s.id = ?1 OR s.parent_id = ?1) AND "
                          "instr(m.data, '\"role\":\"assistant\"') ORDER BY m.time_created, m.id";

enum column { COLUMN_ID, COLUMN_SESSION, COLUMN_MESSAGE, COLUMN_BEGAN, COLUMN_TIME };

struct counting {
    const struct session_ref *ref;
    struct usage_list {
        struct arena arena; /* owns the texts */
        struct usage_record *record;
        size_t n;
    } list;
};

/* Whether the output includes the thinking is seen from the total. */
static int64_t output_of(struct slice tokens, const struct usage_record *u)
{
    int64_t output = usage_count(tokens, "output"), thought = usage_count(tokens, "reasoning"),
            total = usage_count(tokens, "total");
    bool apart = !total || total == u->input + output + thought + u->cache_read + u->cache_write;

    return apart ? output + thought : output;
}

/* A fork has copies with other ids, but the times in them are the same. */
static bool read_answer(const struct sqlite_row *row, struct arena *a, struct usage_record *u)
{
    struct slice message = sqlite_row_text(row, COLUMN_MESSAGE), tokens, cache, created, done;
    int64_t ms;

    *u = usage_record_empty();
    if (!json_valid(message) || !json_get(message, "tokens", &tokens))
        return false;
    u->time_ms = sqlite_row_int(row, COLUMN_TIME);
    if (json_at(message, "time.created", &created) && json_int(created, &ms)) {
        u->time_ms = ms;
        u->copied = ms < sqlite_row_int(row, COLUMN_BEGAN);
        if (json_at(message, "time.completed", &done)) {
            u->answer = arena_copy(a, created);
            u->request = arena_copy(a, done);
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

static enum err_code take_row(const struct sqlite_row *row, void *arg, struct err *e)
{
    struct counting *c = arg;
    struct arena *a = &c->list.arena;
    struct slice session = sqlite_row_text(row, COLUMN_SESSION);
    struct usage_record u, *more;

    if (!read_answer(row, a, &u))
        return a->failed ? err_nomem(e) : ERR_OK;
    u.model = arena_copy(a, u.model);
    if (slice_eq(session, c->ref->id))
        u.message = arena_copy(a, sqlite_row_text(row, COLUMN_ID));
    else
        u.agent = arena_copy(a, session);
    more = arena_grow(a, c->list.record, c->list.n, sizeof *more);
    if (!more || a->failed)
        return err_nomem(e);
    c->list.record = more;
    c->list.record[c->list.n++] = u;
    return ERR_OK;
}

/* Begins anew if it is called again. */
static enum err_code read_all(struct sqlite_db *db, void *arg, struct err *e)
{
    struct counting *c = arg;

    arena_reset(&c->list.arena);
    c->list.record = NULL;
    c->list.n = 0;
    return sqlite_db_each(db, sql, &c->ref->id, 1, take_row, c, e);
}

enum err_code opencode_usage(const struct store *st, const struct session_ref *ref,
                             const atomic_bool *cancel, usage_fn *fn, void *arg, struct err *e)
{
    struct counting c = { .ref = ref };
    enum err_code rc = sqlite_store_read(ref, cancel, read_all, &c, e);

    (void)st;
    for (size_t i = 0; i < c.list.n && !rc; i++)
        rc = fn(&c.list.record[i], arg, e);
    arena_fini(&c.list.arena);
    return rc;
}
