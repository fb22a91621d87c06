#include "lite/base/time.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/systems/common/sqlite/sqlite_store.h"

/* Sessions of a store in SQLite, as struct sqlite_format describes them: rows of the list, conversations,
 * sub-agents. */

enum { TEXT_MOST = 64 << 10 };

static const struct sqlite_format *format_of(const struct session_ref *ref)
{
    return sqlite_store_of(ref->store)->format;
}

/* ---- collecting: what describe needs to know about a session, as JSON ---- */

struct gathering {
    const struct sqlite_store *store;
    const struct sqlite_place *place;
    const struct scope *scope;
    struct sqlite_items *out;
    struct buf preread;
    struct arena arena; /* owns the texts of one row */
};

static void write_short_member(struct jsonout *j, const char *key, struct slice text)
{
    jsonout_member(j, key, text.n > TEXT_MOST ? (struct slice){ text.p, TEXT_MOST } : text);
}

static enum err_code sqlite_session_add_item(struct sqlite_items *list,
                                             const struct sqlite_item *item)
{
    struct sqlite_item *more = arena_grow(&list->arena, list->item, list->n, sizeof *more);

    if (!more)
        return ERR_NOMEM;
    list->item = more;
    list->item[list->n++] =
        (struct sqlite_item){ .id = arena_copy(&list->arena, item->id),
                              .preread = arena_copy(&list->arena, item->preread),
                              .recent_ms = item->recent_ms };
    return list->arena.failed ? ERR_NOMEM : ERR_OK;
}

static enum err_code sqlite_session_gather_row(const struct sqlite_row *row, void *arg,
                                               struct err *e)
{
    struct gathering *g = arg;
    struct sqlite_listed x = { .created_ms = TIME_NONE, .modified_ms = TIME_NONE };
    enum err_code rc = ERR_OK;
    struct jsonout j;

    if (g->store->format->listed(row, g->place, g->scope, &g->arena, &x) &&
        sqlite_store_is_id(x.id)) {
        g->preread.n = 0;
        jsonout_init(&j, &g->preread);

        jsonout_open(&j, '{');
        write_short_member(&j, "title", x.title);
        write_short_member(&j, "cwd", x.cwd);
        write_short_member(&j, "model", x.model);
        write_short_member(&j, "first", x.first);
        write_short_member(&j, "last", x.last);
        jsonout_int_member(&j, "created", x.created_ms);
        jsonout_int_member(&j, "modified", x.modified_ms);
        jsonout_int_member(&j, "flags", x.flags);
        jsonout_int_member(&j, "hidden", x.hidden);
        jsonout_close(&j, '}');

        /* A 0 would stand for the time of the file, so a session without a time is older than all others. */
        const struct sqlite_item item = {
            .id = x.id,
            .preread = buf_slice(&g->preread),
            .recent_ms = x.modified_ms == TIME_NONE ? 1 : x.modified_ms,
        };

        rc = j.rc ? j.rc : sqlite_session_add_item(g->out, &item);
    }
    rc = g->arena.failed ? ERR_NOMEM : rc;
    arena_reset(&g->arena);
    return rc ? err_nomem(e) : ERR_OK;
}

enum err_code sqlite_items_gather(struct sqlite_items *list, const struct sqlite_store *s,
                                  const struct sqlite_place *place, struct sqlite_db *db,
                                  const struct scope *scope, struct slice id, struct err *e)
{
    struct gathering g = { .store = s, .place = place, .scope = scope, .out = list };
    struct arena a = { 0 };
    const char *sql = s->format->sessions(db, &a);
    enum err_code rc =
        sql ? sqlite_db_each(db, sql, &id, 1, sqlite_session_gather_row, &g, e) : err_nomem(e);

    buf_fini(&g.preread);
    arena_fini(&g.arena);
    arena_fini(&a);
    return rc;
}

/* ---- describing ---- */

enum member { TITLE, CWD, MODEL, FIRST, LAST, CREATED, MODIFIED, FLAGS, HIDDEN, MEMBERS };
static const char *const members[] = { "title",   "cwd",      "model", "first", "last",
                                       "created", "modified", "flags", "hidden" };

static int64_t sqlite_session_number_of(struct slice value, int64_t none)
{
    int64_t n;

    return json_int(value, &n) ? n : none;
}

enum err_code sqlite_store_describe(const struct store *st, const struct scope *scope,
                                    const struct session_ref *ref, struct session_row *row,
                                    struct err *e)
{
    struct arena a = { 0 };
    struct slice preread;
    enum err_code rc = sqlite_store_preread(ref, &a, &preread, e);

    (void)st, (void)scope;
    if (!rc) {
        session_row_reset(row);
        row->ref = *ref;
        row->ref.preread = (struct slice){ NULL, 0 };
        row->modified_ms = row->activity_ms = ref->recent_ms;

        struct slice value[MEMBERS];
        struct slice *const text[] = { [TITLE] = &row->custom_title,
                                       [CWD] = &row->cwd,
                                       [MODEL] = &row->model,
                                       [FIRST] = &row->first_prompt,
                                       [LAST] = &row->last_prompt };

        json_get_each(preread, members, MEMBERS, value);
        for (size_t i = TITLE; i <= LAST; i++)
            if (value[i].n && !json_text(value[i], &a, text[i]))
                a.failed = true;
        int64_t modified = sqlite_session_number_of(value[MODIFIED], TIME_NONE);

        row->summary = row->custom_title.n   ? row->custom_title
                       : row->first_prompt.n ? row->first_prompt
                                             : row->ref.id;
        row->created_ms = sqlite_session_number_of(value[CREATED], TIME_NONE);
        if (modified != TIME_NONE)
            row->modified_ms = row->activity_ms = row->ref.recent_ms = modified;
        row->flags |= (unsigned)sqlite_session_number_of(value[FLAGS], 0);
        row->hidden = (enum session_hidden)sqlite_session_number_of(value[HIDDEN], HIDDEN_NOT);
        row->can = CAN_RESUME | (row->ref.store->ops->plan ? (unsigned)CAN_REWIND : 0u);

        if (a.failed || !session_row_keep(row))
            rc = err_nomem(e);
    }
    arena_fini(&a);
    return rc;
}

/* ---- conversations ---- */

static enum message_kind sqlite_session_kind_of(struct slice role)
{
    return slice_eq(role, SLICE("user"))        ? MESSAGE_USER
           : slice_eq(role, SLICE("assistant")) ? MESSAGE_ASSISTANT
           : slice_eq(role, SLICE("tool"))      ? MESSAGE_TOOL
                                                : MESSAGE_SYSTEM;
}

enum err_code sqlite_conversation_add(struct sqlite_conversation *c, struct slice id,
                                      struct slice role, const char *member, struct slice json,
                                      int64_t time_ms)
{
    const struct message m = { .id = id128_of(id),
                               .kind = (uint8_t)sqlite_session_kind_of(role),
                               .time_ms = time_ms };
    struct jsonout j;

    c->row.n = 0;
    jsonout_init(&j, &c->row);
    jsonout_open(&j, '{');
    jsonout_member(&j, "id", id);
    jsonout_member(&j, "role", role);
    jsonout_key(&j, member);
    enum err_code rc = j.rc ? j.rc : memory_rows_value(&c->row, json);

    jsonout_close(&j, '}');
    if (!rc)
        rc = j.rc;
    return rc ? rc : memory_rows_add(&c->rows, buf_slice(&c->row), m);
}

struct loading {
    const struct session_ref *ref;
    bool tail, there;
    struct sqlite_conversation conversation;
    int64_t count;
};

static enum err_code load_row(const struct sqlite_row *row, void *arg, struct err *e)
{
    struct loading *l = arg;

    return format_of(l->ref)->message(row, &l->conversation) ? err_nomem(e) : ERR_OK;
}

static enum err_code read_count(const struct sqlite_row *row, void *arg, struct err *e)
{
    struct loading *l = arg;

    (void)e;
    l->there = true;
    l->count = sqlite_row_int(row, 0);
    return ERR_OK;
}

/* Starts over if it is called again. */
static enum err_code sqlite_session_read_rows(struct sqlite_db *db, void *arg, struct err *e)
{
    struct loading *l = arg;
    const struct sqlite_format *f = format_of(l->ref);

    memory_rows_reset(&l->conversation.rows);
    l->conversation.id.n = 0;
    l->there = false;
    enum err_code rc = sqlite_db_each(db, f->count, &l->ref->id, 1, read_count, l, e);

    if (!rc && !l->there)
        return err_set(e, ERR_NOT_FOUND, l->ref->path.p, "load the conversation: no such session");
    if (!rc)
        rc = sqlite_db_each(db, l->tail ? f->tail : f->messages, &l->ref->id, 1, load_row, l, e);
    return !rc && f->finish && f->finish(&l->conversation) ? err_nomem(e) : rc;
}

static enum err_code sqlite_session_load(const struct session_ref *ref, bool tail,
                                         const atomic_bool *cancel, struct transcript **out,
                                         struct err *e)
{
    struct loading l = { .ref = ref, .tail = tail };
    enum err_code rc = sqlite_store_read(ref, cancel, sqlite_session_read_rows, &l, e);

    if (!rc)
        rc = memory_rows_finish(&l.conversation.rows, ref, out, e);
    if (!rc)
        (*out)->partial = tail && l.count > SQLITE_TAIL;
    memory_rows_fini(&l.conversation.rows);
    buf_fini(&l.conversation.row);
    buf_fini(&l.conversation.id);
    return rc;
}

enum err_code sqlite_store_load(const struct store *st, const struct session_ref *ref,
                                const atomic_bool *cancel, struct transcript **out, struct err *e)
{
    (void)st;
    return sqlite_session_load(ref, false, cancel, out, e);
}

enum err_code sqlite_store_tail(const struct store *st, const struct session_ref *ref, size_t bytes,
                                const atomic_bool *cancel, struct transcript **out, struct err *e)
{
    (void)st, (void)bytes;
    return sqlite_session_load(ref, true, cancel, out, e);
}

enum err_code sqlite_store_messages(const struct store *st, const struct session_ref *ref,
                                    const struct message_query *q, json_fn *fn, void *arg,
                                    struct err *e)
{
    struct arena a = { 0 };
    struct session_ref agent = *ref;
    struct transcript *t = NULL;
    enum err_code rc = ERR_OK;

    if (q->agent.n && !q->ref_is_agent)
        rc = sqlite_store_agent(st, ref, q->agent, &a, &agent, e);
    if (!rc)
        rc = sqlite_session_load(&agent, false, q->cancel, &t, e);
    if (!rc)
        rc = memory_rows_messages(st, t, ref->id, q, fn, arg, e);
    transcript_free(t);
    arena_fini(&a);
    return rc;
}

/* ---- tokens ---- */

struct counting {
    const struct session_ref *ref;
    struct arena arena; /* owns the texts */
    struct usage_record *record;
    size_t n;
};

static enum err_code sqlite_session_add_answer(const struct sqlite_row *row, void *arg,
                                               struct err *e)
{
    struct counting *c = arg;
    struct arena *a = &c->arena;
    struct usage_record u = usage_record_empty(), *more;

    if (!format_of(c->ref)->answer(row, a, &u))
        return a->failed ? err_nomem(e) : ERR_OK;
    bool own = slice_eq(u.agent, c->ref->id);

    u.copied = u.copied && own; /* a sub-agent's answers are those of its session */
    u.agent = own ? SLICE("") : arena_copy(a, u.agent);
    u.message = own ? arena_copy(a, u.message) : SLICE("");
    u.model = arena_copy(a, u.model);
    u.answer = arena_copy(a, u.answer);
    u.request = arena_copy(a, u.request);
    more = arena_grow(a, c->record, c->n, sizeof *more);
    if (!more || a->failed)
        return err_nomem(e);
    c->record = more;
    c->record[c->n++] = u;
    return ERR_OK;
}

/* Starts over if it is called again. */
static enum err_code sqlite_session_read_answers(struct sqlite_db *db, void *arg, struct err *e)
{
    struct counting *c = arg;
    struct arena a = { 0 };
    const char *sql = format_of(c->ref)->answers(db, &a);
    enum err_code rc = a.failed ? err_nomem(e) : ERR_OK;

    arena_reset(&c->arena);
    c->record = NULL;
    c->n = 0;
    if (!rc && sql)
        rc = sqlite_db_each(db, sql, &c->ref->id, 1, sqlite_session_add_answer, c, e);
    arena_fini(&a);
    return rc;
}

enum err_code sqlite_store_usage(const struct store *st, const struct session_ref *ref,
                                 const atomic_bool *cancel, usage_fn *fn, void *arg, struct err *e)
{
    struct counting c = { .ref = ref };
    enum err_code rc = sqlite_store_read(ref, cancel, sqlite_session_read_answers, &c, e);

    (void)st;
    for (size_t i = 0; i < c.n && !rc; i++)
        rc = fn(&c.record[i], arg, e);
    arena_fini(&c.arena);
    return rc;
}

/* ---- sub-agents ---- */

struct agents {
    const struct session_ref *ref;
    struct subagent_list *list;
};

static enum err_code sqlite_session_add_agent(const struct sqlite_row *row, void *arg,
                                              struct err *e)
{
    const struct agents *g = arg;
    struct subagent_list *list = g->list;
    struct arena *a = &list->arena;
    struct subagent agent = { .type = SLICE("") }, *more;

    if (!format_of(g->ref)->agent(row, a, &agent) || !sqlite_store_is_id(agent.id))
        return a->failed ? err_nomem(e) : ERR_OK;
    more = arena_grow(a, list->agent, list->n, sizeof *more);
    if (!more)
        return err_nomem(e);
    agent.id = arena_copy(a, agent.id);
    agent.task = arena_copy(a, agent.task);
    agent.outcome = arena_copy(a, agent.outcome);
    list->agent = more;
    list->agent[list->n++] = agent;
    return a->failed ? err_nomem(e) : ERR_OK;
}

static enum err_code sqlite_session_read_agents(struct sqlite_db *db, void *arg, struct err *e)
{
    struct agents *g = arg;
    struct arena a = { 0 };
    const char *sql = format_of(g->ref)->agents(db, &a);
    enum err_code rc = a.failed ? err_nomem(e) : ERR_OK;

    arena_reset(&g->list->arena);
    g->list->agent = NULL;
    g->list->n = 0;
    if (!rc && sql)
        rc = sqlite_db_each(db, sql, &g->ref->id, 1, sqlite_session_add_agent, g, e);
    arena_fini(&a);
    return rc;
}

enum err_code sqlite_store_describe_agents(const struct store *st, const struct session_ref *ref,
                                           const atomic_bool *cancel, struct subagent_list *out,
                                           struct err *e)
{
    struct subagent_list list = { .n = 0 };
    struct agents g = { ref, &list };
    enum err_code rc = sqlite_store_read(ref, cancel, sqlite_session_read_agents, &g, e);

    (void)st;
    if (rc)
        subagent_list_fini(&list);
    else
        *out = list;
    return rc;
}

enum err_code sqlite_store_agent_ids(const struct store *st, const struct session_ref *ref,
                                     struct arena *a, struct slice **ids, size_t *n, struct err *e)
{
    struct subagent_list list;
    enum err_code rc = sqlite_store_describe_agents(st, ref, NULL, &list, e);

    if (rc)
        return rc;
    *ids = NULL;
    *n = 0;
    for (size_t i = 0; i < list.n && !rc; i++)
        if (!arena_add_copy(a, ids, n, list.agent[i].id))
            rc = err_nomem(e);
    subagent_list_fini(&list);
    return rc;
}

enum err_code sqlite_store_agent(const struct store *st, const struct session_ref *ref,
                                 struct slice agent, struct arena *a, struct session_ref *out,
                                 struct err *e)
{
    struct slice *ids = NULL;
    size_t n = 0;
    enum err_code rc = sqlite_store_agent_ids(st, ref, a, &ids, &n, e);

    for (size_t i = 0; i < n && !rc; i++)
        if (slice_eq(ids[i], agent))
            return sqlite_store_beside(ref, agent, a, out, e);
    return rc ? rc
              : err_set(e, ERR_NOT_FOUND, ref->path.p,
                        "read sub-agent %.*s: no such sub-agent; see reprise subagents",
                        SLICE_ARG(agent));
}
