#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/systems/common/usage_rows.h"
#include "store/systems/copilot/copilot.h"

/* ---- whose conversation ---- */

static bool is_of_agent(const struct transcript *t, size_t i, struct slice agent)
{
    struct arena a = { 0 };
    struct buf row = { 0 };
    bool is = transcript_read(t, i, &row, NULL) == ERR_OK &&
              slice_eq(json_text_at(buf_slice(&row), "agentId", &a), agent);

    buf_fini(&row);
    arena_fini(&a);
    return is;
}

/* Older versions appended a row for a rewind: the event that it names and everything after it are
 * dropped. */
static size_t without_rewound(const struct transcript *t, size_t n, size_t mark)
{
    struct arena a = { 0 };
    struct buf row = { 0 };
    struct slice id = { NULL, 0 };
    size_t kept = n;

    if (transcript_read(t, mark, &row, NULL) == ERR_OK)
        id = json_text_at(buf_slice(&row), "data.upToEventId", &a);
    for (size_t i = 0; id.n && i < n; i++)
        if (id128_eq(t->message[i].id, id128_of(id))) {
            kept = i;
            break;
        }
    buf_fini(&row);
    arena_fini(&a);
    return kept;
}

static void keep_own_rows(const struct session_ref *ref, struct transcript *t)
{
    /* The path of a log contains the id of the session; a sub-agent's ref has another id. */
    bool sub_agent = slice_find(ref->path.p, ref->path.n, ref->id.p, ref->id.n) == NULL;

    size_t n = 0;

    for (size_t i = 0; i < t->n; i++) {
        struct message m = t->message[i];
        bool marked = m.flags & MESSAGE_LEFT_OUT;

        if (m.flags & MESSAGE_CLEARED) {
            n = without_rewound(t, n, i);
            continue;
        }
        if (sub_agent ? !marked || !is_of_agent(t, i, ref->id) : marked)
            continue;
        m.flags &= (uint16_t)~MESSAGE_LEFT_OUT;
        t->message[n++] = m;
    }
    t->n = n;
}

enum err_code copilot_load(const struct store *st, const struct session_ref *ref,
                           const atomic_bool *cancel, struct transcript **out, struct err *e)
{
    TRY(jsonl_load(st, ref, cancel, out, e));
    keep_own_rows(ref, *out);
    return ERR_OK;
}

enum err_code copilot_tail(const struct store *st, const struct session_ref *ref, size_t bytes,
                           const atomic_bool *cancel, struct transcript **out, struct err *e)
{
    TRY(jsonl_tail(st, ref, bytes, cancel, out, e));
    keep_own_rows(ref, *out);
    return ERR_OK;
}

/* ---- tokens ---- */

/* The tokens of each answer are in a row session.usage_record, with the id of a sub-agent if it is
 * the sub-agent's. inputTokens includes tokens from a cache. The cost is in premium requests, not
 * in money. A fork keeps the ids of its rows. */

static bool copilot_read_usage(struct slice row, struct arena *a, struct usage_record *u)
{
    static const struct usage_members tokens = { "inputTokens", "outputTokens", "cacheReadTokens",
                                                 "cacheWriteTokens", .includes_caches = true };

    struct slice type, usage;

    *u = usage_record_empty();
    if (!json_valid(row) || !json_get(row, "type", &type) ||
        !json_string_is(type, "session.usage_record") || !json_at(row, "data.usage", &usage) ||
        json_type(usage) != JSON_OBJECT || !json_get_text(row, "id", a, &u->answer))
        return false;

    u->request = u->answer;
    usage_read_counts(&tokens, usage, u);
    json_get_text(usage, "model", a, &u->model);
    json_get_text(row, "agentId", a, &u->agent);
    u->time_ms = json_time_at(row, "timestamp", a);
    return true;
}

enum err_code copilot_usage(const struct store *st, const struct session_ref *ref,
                            const atomic_bool *cancel, usage_fn *fn, void *arg, struct err *e)
{
    const struct usage_walk w = { .read = copilot_read_usage,
                                  .mark = "\"session.usage_record\"",
                                  .cancel = cancel,
                                  .fn = fn,
                                  .arg = arg };

    (void)st;
    return usage_walk_file(&w, ref->path.p, 0, SLICE(""), e);
}

/* The sub-agents of a session are rows of its own log. One begins with "subagent.started", which has its name and its
 * task, and ends with "subagent.completed" or "subagent.failed". */
struct walk {
    struct subagent_list *list;
    struct arena scratch; /* owns the texts of one row */
};

static enum err_code copilot_read_row(struct slice row, void *arg, bool *stop, struct err *e)
{
    struct walk *w = arg;
    struct slice id;

    (void)stop;
    arena_reset(&w->scratch);

    /* Most rows name no agent, and a search of the bytes is faster than reading the row. */
    if (!slice_has(row, "\"agentId\"") || !json_get_text(row, "agentId", &w->scratch, &id) ||
        !copilot_is_id(id))
        return ERR_OK;
    struct subagent_list *list = w->list;
    size_t i = 0;

    while (i < list->n && !slice_eq(list->agent[i].id, id))
        i++;

    /* Only the row that starts an agent adds it to the list; rows of an unknown agent are ignored. */
    if (i == list->n) {
        if (!json_get_is(row, "type", "subagent.started"))
            return ERR_OK;
        struct subagent *more = arena_grow(&list->arena, list->agent, list->n, sizeof *more);

        NEED(more);
        list->agent = more;
        more[i] = (struct subagent){ .id = arena_copy(&list->arena, id), .end = SUBAGENT_OPEN };
        NEED(more[i].id.p);
        list->n++;
    }
    struct subagent *agent = &list->agent[i];
    time_parse(json_text_at(row, "timestamp", &w->scratch), &agent->time_ms);

    agent->bytes += (int64_t)row.n + 1;
    if (json_get_is(row, "type", "subagent.started")) {
        agent->type = json_copy_at(row, "data.agentName", &w->list->arena);
        agent->task = json_copy_at(row, "data.agentDescription", &w->list->arena);
        if (!agent->task.n)
            agent->task = json_copy_at(row, "data.agentDisplayName", &w->list->arena);
    } else if (json_get_is(row, "type", "assistant.message")) {
        struct slice text = json_copy_at(row, "data.content", &w->list->arena);

        agent->outcome = text.n ? text : agent->outcome;
    } else if (json_get_is(row, "type", "subagent.completed")) {
        agent->end = SUBAGENT_DONE;
    } else if (json_get_is(row, "type", "subagent.failed")) {
        agent->end = SUBAGENT_FAILED;
    }

    return ERR_OK;
}

enum err_code copilot_describe_subagents(const struct store *st, const struct session_ref *ref,
                                         const atomic_bool *cancel, struct subagent_list *out,
                                         struct err *e)
{
    struct walk w = { .list = out };
    enum err_code rc =
        jsonl_each_row(ref->path.p, copilot_format.keys, cancel, copilot_read_row, &w, e);

    (void)st;
    arena_fini(&w.scratch);
    return rc ? rc : out->arena.failed ? err_nomem(e) : ERR_OK;
}

enum err_code copilot_subagents(const struct store *st, const struct session_ref *ref,
                                struct arena *a, struct slice **ids, size_t *n, struct err *e)
{
    struct subagent_list list = { .n = 0 };
    enum err_code rc = copilot_describe_subagents(st, ref, NULL, &list, e);

    *ids = NULL;
    *n = 0;
    for (size_t i = 0; i < list.n && !rc; i++)
        if (!arena_add_copy(a, ids, n, list.agent[i].id))
            rc = err_nomem(e);
    subagent_list_fini(&list);
    return rc;
}

enum err_code copilot_subagent(const struct store *st, const struct session_ref *ref,
                               struct slice agent, struct arena *a, struct session_ref *out,
                               struct err *e)
{
    struct slice *ids;
    size_t n;

    TRY(copilot_subagents(st, ref, a, &ids, &n, e));
    for (size_t i = 0; i < n; i++)
        if (slice_eq(ids[i], agent)) {
            if (!session_ref_copy(a, ref, out))
                return err_nomem(e);
            out->id = ids[i];
            return ERR_OK;
        }
    return err_set(e, ERR_NOT_FOUND, ref->path.p,
                   "read sub-agent %.*s: no such sub-agent; see reprise subagents",
                   (int)(agent.n < 64 ? agent.n : 64), agent.p);
}
