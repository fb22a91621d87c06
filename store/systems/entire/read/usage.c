#include "lite/json/json.h"
#include "store/systems/common/usage_rows.h"
#include "store/systems/entire/entire.h"
#include "store/systems/entire/read/conversation.h"
#include "store/systems/entire/read/view.h"

/* The tokens of a session: those in the transcript of Claude Code, on this machine or in the newest
 * checkpoint, or else the sum in the session's state, which is all that is read for other agents.
 * All are copies, because the agent's own store also lists the transcript as long as it exists. */

struct entire_usage_walk {
    const struct store *st;
    const struct session_ref *ref;
    const atomic_bool *cancel;
    struct slice agent;
    usage_fn *fn;
    void *arg;
    struct arena arena; /* of one row */
    bool any;
};

static enum err_code hand_over_copy(const struct usage_record *u, void *arg, struct err *e)
{
    struct entire_usage_walk *w = arg;
    struct usage_record copy = *u;

    w->any = true;
    copy.copied = true;
    return w->fn(&copy, w->arg, e);
}

static enum err_code hand_over_row(struct slice row, void *arg, struct err *e)
{
    struct entire_usage_walk *w = arg;
    struct usage_record u;
    enum err_code rc = ERR_OK;

    arena_reset(&w->arena);
    if (usage_of_row(row, &w->arena, &u)) {
        u.agent = w->agent;
        u.message = w->agent.n ? SLICE("") : u.message;
        rc = w->arena.failed ? ERR_OK : hand_over_copy(&u, w, e);
    }
    return w->arena.failed ? err_nomem(e) : rc;
}

static enum err_code walk_conversation(struct entire_usage_walk *w, struct entire_conversation *c,
                                       struct err *e)
{
    enum err_code rc = c->claude ? entire_conversation_bytes(c, e) : ERR_OK;

    if (!rc && c->claude)
        rc = usage_rows_of_bytes(buf_slice(&c->bytes), "\"usage\"", hand_over_row, w, e);
    entire_conversation_close(c);
    return rc;
}

static enum err_code walk_kept_transcript(struct entire_usage_walk *w, struct err *e)
{
    struct entire_conversation c;
    enum err_code rc = entire_conversation_open(w->st, w->ref, &c, e);

    if (rc)
        return rc == ERR_NOT_FOUND ? ERR_OK : rc; /* no transcript is left */
    return walk_conversation(w, &c, e);
}

/* Walks over the sub-agents in the checkpoints. Those whose transcript is on this machine were read
 * with the session. */
static enum err_code walk_kept_agents(struct entire_usage_walk *w, struct arena *a, struct err *e)
{
    struct slice *id;
    size_t n;
    enum err_code rc = entire_subagents(w->st, w->ref, a, &id, &n, e);

    for (size_t i = 0; !rc && i < n; i++) {
        struct entire_conversation c;
        struct session_ref agent;

        if (w->cancel && atomic_load_explicit(w->cancel, memory_order_relaxed))
            return err_set(e, ERR_CANCELLED, w->ref->path.p, "read token usage");
        if (entire_subagent(w->st, w->ref, id[i], a, &agent, NULL) ||
            slice_eq(agent.folder, SLICE(ENTIRE_AGENT_FOLDER)) ||
            entire_conversation_open_agent(&agent, &c, NULL))
            continue;
        w->agent = id[i];
        rc = walk_conversation(w, &c, e);
    }
    return rc;
}

static enum err_code hand_over_state(struct entire_usage_walk *w, struct err *e)
{
    struct usage_record u = usage_record_empty();
    struct view v;
    enum err_code rc = view_open(w->st, w->ref, &v, e);

    if (rc)
        return rc;
    const struct entire_state *state = v.session->state;
    struct entire_tokens t = entire_tokens_read(state ? state->token_usage : SLICE(""));

    if (t.known) {
        u.input = t.n[TOKEN_INPUT] > 0 ? t.n[TOKEN_INPUT] : 0;
        u.output = t.n[TOKEN_OUTPUT] > 0 ? t.n[TOKEN_OUTPUT] : 0;
        u.cache_read = t.n[TOKEN_CACHE_READ] > 0 ? t.n[TOKEN_CACHE_READ] : 0;
        u.cache_write = t.n[TOKEN_CACHE_CREATION] > 0 ? t.n[TOKEN_CACHE_CREATION] : 0;
        u.time_ms = state->interaction_ms;
        rc = hand_over_copy(&u, w, e);
    }
    view_close(&v);
    return rc;
}

enum err_code entire_usage(const struct store *st, const struct session_ref *ref,
                           const atomic_bool *cancel, usage_fn *fn, void *arg, struct err *e)
{
    struct entire_usage_walk w = { st, ref, cancel, { NULL, 0 }, fn, arg, { 0 }, false };
    struct arena a = { 0 };
    struct session_ref live;
    enum err_code rc = entire_tasks_live_ref(ref, &a, &live)
                           ? claude_ops.usage(st, &live, cancel, hand_over_copy, &w, e)
                           : walk_kept_transcript(&w, e);

    if (!rc)
        rc = walk_kept_agents(&w, &a, e);
    if (!rc && !w.any)
        rc = hand_over_state(&w, e);
    arena_fini(&w.arena);
    arena_fini(&a);
    return rc;
}
