#include "store/systems/exathena/exathena.h"
#include "store/systems/exathena/read/message_walk.h"

/* The conversation as the library's own resume rebuilds it today: what was said by a person, the agent and its
 * tools, in the order of the log; the system's messages where they are asked for. */

struct paging {
    int64_t skip, left; /* left < 0: no limit */
    json_fn *fn;
    void *arg;
    bool full;
};

static enum err_code deliver_paged_message(const struct event *ev, struct slice json, void *arg,
                                           struct err *e)
{
    struct paging *p = arg;

    (void)ev;
    if (p->skip > 0) {
        p->skip--;
        return ERR_OK;
    }
    if (p->left == 0) {
        p->full = true;
        return ERR_CANCELLED;
    }
    p->left -= p->left > 0;
    return p->fn(json, p->arg, e);
}

enum err_code exathena_messages(const struct store *st, const struct session_ref *ref,
                                const struct message_query *q, json_fn *fn, void *arg,
                                struct err *e)
{
    struct arena a = { 0 };
    struct session_ref agent = *ref;
    struct paging p = { .skip = q->offset,
                        .left = q->has_limit && q->limit > 0 ? q->limit : -1,
                        .fn = fn,
                        .arg = arg };
    struct exathena_message_walk walk = { .ref = &agent,
                                          .system = q->system_messages,
                                          .cancel = q->cancel };
    enum err_code rc = ERR_OK;

    if (q->agent.n) {
        rc = exathena_subagent(st, ref, q->agent, &a, &agent, e);
        agent.id = ref->id;
        walk.agent = q->agent;
    }
    if (!rc)
        rc = exathena_walk_messages(&walk, deliver_paged_message, &p, e);
    arena_fini(&a);
    if (p.full)
        return ERR_OK;
    return rc ? err_wrap(e, rc, "read messages") : ERR_OK;
}
