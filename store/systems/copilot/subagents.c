#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/systems/copilot/copilot.h"

/* The sub-agents of a session are rows of its own log. One begins with "subagent.started", which has its name and its
 * task, and ends with "subagent.completed" or "subagent.failed". */
struct walk {
    struct subagent_list *list;
    struct arena scratch; /* of one row */
};

static struct subagent *agent_of(struct subagent_list *list, struct slice id)
{
    for (size_t i = 0; i < list->n; i++)
        if (slice_eq(list->agent[i].id, id))
            return &list->agent[i];
    return NULL;
}

static struct subagent *add_agent(struct subagent_list *list, struct slice id)
{
    struct subagent *agent = arena_grow(&list->arena, list->agent, list->n, sizeof *agent);

    if (!agent)
        return NULL;
    list->agent = agent;
    agent[list->n] = (struct subagent){ .id = arena_copy(&list->arena, id), .end = SUBAGENT_OPEN };
    return agent[list->n].id.p ? &agent[list->n++] : NULL;
}

static void add_row(struct slice row, struct arena *a, struct subagent *agent)
{
    agent->bytes += (int64_t)row.n + 1;
    if (json_get_is(row, "type", "subagent.started")) {
        agent->type = json_copy_at(row, "data.agentName", a);
        agent->task = json_copy_at(row, "data.agentDescription", a);
        if (!agent->task.n)
            agent->task = json_copy_at(row, "data.agentDisplayName", a);
    } else if (json_get_is(row, "type", "assistant.message")) {
        struct slice text = json_copy_at(row, "data.content", a);

        agent->outcome = text.n ? text : agent->outcome;
    } else if (json_get_is(row, "type", "subagent.completed")) {
        agent->end = SUBAGENT_DONE;
    } else if (json_get_is(row, "type", "subagent.failed")) {
        agent->end = SUBAGENT_FAILED;
    }
}

static enum err_code read_row(struct slice row, void *arg, bool *stop, struct err *e)
{
    struct walk *w = arg;
    struct slice id;

    (void)stop;
    arena_reset(&w->scratch);
    if (!slice_has(row, "\"agentId\"") || !json_get_text(row, "agentId", &w->scratch, &id) ||
        !copilot_is_id(id))
        return ERR_OK;
    struct subagent *agent = agent_of(w->list, id);

    if (!agent && json_get_is(row, "type", "subagent.started") && !(agent = add_agent(w->list, id)))
        return err_nomem(e);
    if (!agent)
        return ERR_OK;
    time_parse(json_text_at(row, "timestamp", &w->scratch), &agent->time_ms);
    add_row(row, &w->list->arena, agent);
    return ERR_OK;
}

enum err_code copilot_describe_subagents(const struct store *st, const struct session_ref *ref,
                                         const atomic_bool *cancel, struct subagent_list *out,
                                         struct err *e)
{
    struct walk w = { .list = out };
    enum err_code rc = jsonl_each_row(ref->path.p, copilot_format.keys, cancel, read_row, &w, e);

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
    enum err_code rc = copilot_subagents(st, ref, a, &ids, &n, e);

    if (rc)
        return rc;
    for (size_t i = 0; i < n; i++)
        if (slice_eq(ids[i], agent)) {
            if (!session_ref_copy(a, ref, out))
                return err_nomem(e);
            out->id = ids[i];
            return ERR_OK;
        }
    return err_set(e, ERR_NOT_FOUND, ref->path.p, "no sub-agent %.*s",
                   (int)(agent.n < 64 ? agent.n : 64), agent.p);
}
