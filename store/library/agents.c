#include <stdlib.h>

#include "store/library/call.h"

/* ---- sub-agents ---- */

struct reprise_agents {
    struct arena arena;
    struct reprise_agent *agent;
    size_t n;
};

_Static_assert((int)REPRISE_AGENT_OPEN == (int)SUBAGENT_OPEN &&
                   (int)REPRISE_AGENT_DONE == (int)SUBAGENT_DONE &&
                   (int)REPRISE_AGENT_FAILED == (int)SUBAGENT_FAILED,
               "the values equal the internal ones");

static enum err_code copy_agents(const struct subagent_list *list, struct reprise_agents *out,
                                 struct err *e)
{
    struct arena *a = &out->arena;

    out->agent = arena_zalloc(a, (list->n + 1) * sizeof *out->agent);
    for (size_t i = 0; out->agent && i < list->n; i++) {
        const struct subagent *x = &list->agent[i];

        out->agent[i] =
            (struct reprise_agent){ .size = sizeof *out->agent,
                                    .id = call_copy(a, x->id),
                                    .type = call_copy(a, x->type),
                                    .task = call_copy(a, x->task),
                                    .outcome = call_copy(a, x->outcome),
                                    .bytes = x->bytes,
                                    .time_ms = x->time_ms ? x->time_ms : REPRISE_TIME_UNKNOWN,
                                    .end = (int32_t)x->end };
    }
    out->n = list->n;
    return a->failed ? err_nomem(e) : ERR_OK;
}

static enum err_code read_agents(const struct reprise_session *s, struct reprise_agents *out,
                                 struct err *e)
{
    struct subagent_list list = { .n = 0 };
    struct session_ref now;
    enum err_code rc = session_now(s, &out->arena, &now, e);

    if (!rc)
        rc = store_describe_subagents(&now, NULL, &list, e);
    if (!rc)
        rc = copy_agents(&list, out, e);
    subagent_list_fini(&list);
    return rc;
}

int reprise_list_agents(const struct reprise_session *s, struct reprise_agents **out,
                        struct reprise_error *error)
{
    struct reprise_agents *agents = calloc(1, sizeof *agents);
    struct call c;

    call_begin(&c);
    enum err_code rc = agents ? read_agents(s, agents, &c.err) : err_nomem(&c.err);

    if (rc)
        reprise_agents_free(agents);
    else
        *out = agents;
    return call_end(&c, rc, error);
}

size_t reprise_agents_count(const struct reprise_agents *agents)
{
    return agents->n;
}

const struct reprise_agent *reprise_agents_at(const struct reprise_agents *agents, size_t i)
{
    return i < agents->n ? &agents->agent[i] : NULL;
}

void reprise_agents_free(struct reprise_agents *agents)
{
    if (agents)
        arena_fini(&agents->arena);
    free(agents);
}

/* ---- branches ---- */

struct reprise_branches {
    struct arena arena;
    struct reprise_branch *branch;
    size_t n;
};

static enum err_code copy_branches(const struct branch_list *list, struct reprise_branches *out,
                                   struct err *e)
{
    struct arena *a = &out->arena;

    out->branch = arena_zalloc(a, (list->n + 1) * sizeof *out->branch);
    for (size_t i = 0; out->branch && i < list->n; i++) {
        const struct branch *b = &list->branch[i];

        out->branch[i] = (struct reprise_branch){ .size = sizeof *out->branch,
                                                  .id = call_copy(a, b->leaf_name),
                                                  .from = call_copy(a, b->from_name),
                                                  .prompt = call_copy(a, b->prompt),
                                                  .last_prompt = call_copy(a, b->last),
                                                  .time_ms = b->time_ms,
                                                  .messages = b->messages };
    }
    out->n = list->n;
    return a->failed ? err_nomem(e) : ERR_OK;
}

static enum err_code read_branches(const struct reprise_session *s, struct reprise_branches *out,
                                   struct err *e)
{
    const struct store *st = s->ref.store;
    struct branch_list list = { .n = 0 };
    struct session_ref now;
    enum err_code rc = session_now(s, &out->arena, &now, e);

    if (!rc && st->ops->branches)
        rc = st->ops->branches(st, &now, NULL, &list, e);
    if (!rc)
        rc = copy_branches(&list, out, e);
    branch_list_fini(&list);
    return rc;
}

int reprise_list_branches(const struct reprise_session *s, struct reprise_branches **out,
                          struct reprise_error *error)
{
    struct reprise_branches *branches = calloc(1, sizeof *branches);
    struct call c;

    call_begin(&c);
    enum err_code rc = branches ? read_branches(s, branches, &c.err) : err_nomem(&c.err);

    if (rc)
        reprise_branches_free(branches);
    else
        *out = branches;
    return call_end(&c, rc, error);
}

size_t reprise_branches_count(const struct reprise_branches *branches)
{
    return branches->n;
}

const struct reprise_branch *reprise_branches_at(const struct reprise_branches *branches, size_t i)
{
    return i < branches->n ? &branches->branch[i] : NULL;
}

void reprise_branches_free(struct reprise_branches *branches)
{
    if (branches)
        arena_fini(&branches->arena);
    free(branches);
}

static enum err_code read_branch(const struct reprise_session *s, const char *id,
                                 struct reprise_texts **out, struct err *e)
{
    const struct store *st = s->ref.store;
    struct reprise_texts *texts = texts_new();
    struct transcript *t = NULL;
    struct arena a = { 0 };
    struct session_ref now;
    enum err_code rc = texts ? session_now(s, &a, &now, e) : err_nomem(e);

    if (!rc)
        rc = st->ops->load_branch
                 ? st->ops->load_branch(st, &now, id128_of(call_text(id)), NULL, &t, e)
                 : store_unsupported_error(&now, CAN_HAVE_BRANCHES, "read a branch", e);
    if (!rc)
        rc = texts_add_rows(texts, t, e);
    transcript_free(t);
    arena_fini(&a);
    return texts_finish(texts, rc, out);
}

int reprise_read_branch(const struct reprise_session *s, const char *id, struct reprise_texts **out,
                        struct reprise_error *error)
{
    struct call c;

    call_begin(&c);
    return call_end(&c, read_branch(s, id, out, &c.err), error);
}
