#include "store/systems/entire/entire.h"

#include <stdlib.h>

#include "lite/base/array.h"
#include "lite/base/cleanup.h"
#include "lite/base/id.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/systems/common/usage_rows.h"
#include "store/systems/entire/read/conversation.h"

static const char *const members[TOKEN_COUNT] = {
    [TOKEN_INPUT] = "input_tokens",           [TOKEN_CACHE_CREATION] = "cache_creation_tokens",
    [TOKEN_CACHE_READ] = "cache_read_tokens", [TOKEN_OUTPUT] = "output_tokens",
    [TOKEN_CALLS] = "api_call_count",
};

struct entire_tokens entire_tokens_read(struct slice json)
{
    struct entire_tokens t = { .subagents = SLICE("") };
    struct slice value[TOKEN_COUNT];

    if (json_type(json) != JSON_OBJECT)
        return t;
    json_get_each(json, members, TOKEN_COUNT, value);
    for (size_t i = 0; i < TOKEN_COUNT; i++)
        if (!json_int(value[i], &t.n[i]))
            t.n[i] = 0;
    t.known = true;
    if (!json_get(json, "subagent_tokens", &t.subagents))
        t.subagents = SLICE("");
    return t;
}

void entire_tokens_add(struct entire_tokens *sum, const struct entire_tokens *t)
{
    /* Numbers from another person's document must not overflow. */
    for (size_t i = 0; i < TOKEN_COUNT && t->known; i++)
        if (__builtin_add_overflow(sum->n[i], t->n[i], &sum->n[i]))
            sum->n[i] = t->n[i] > 0 ? INT64_MAX : INT64_MIN;
    sum->known = sum->known || t->known;
    sum->subagents = SLICE("");
}

struct slice entire_tokens_json(const struct entire_tokens *t, struct arena *a)
{
    AUTO_BUF text = { 0 };
    struct jsonout j;

    if (!t->known)
        return SLICE("");
    jsonout_init(&j, &text);
    jsonout_open(&j, '{');
    for (size_t i = 0; i < TOKEN_COUNT; i++)
        jsonout_int_member(&j, members[i], t->n[i]);
    if (t->subagents.n)
        jsonout_raw_member(&j, "subagent_tokens", t->subagents);
    jsonout_close(&j, '}');
    return j.rc ? (struct slice){ NULL, 0 } : arena_copy(a, buf_slice(&text));
}

/* ---- a transcript ---- */

/* The usage of each answer, by the number of its message id. */
struct answers {
    struct idset ids;
    struct entire_tokens *usage; /* owned */
    size_t n, cap;
};

static void answers_fini(struct answers *s)
{
    idset_fini(&s->ids);
    free(s->usage);
}

static enum err_code count_row(struct answers *s, struct slice row)
{
    AUTO_ARENA a = { 0 };
    struct usage_record u;
    uint32_t number = 0;

    if (!json_get_is(row, "type", "assistant") || !usage_of_row(row, &a, &u) || !u.answer.n)
        return ERR_OK;
    const struct entire_tokens t = { .n = { [TOKEN_INPUT] = u.input,
                                            [TOKEN_CACHE_CREATION] = u.cache_write,
                                            [TOKEN_CACHE_READ] = u.cache_read,
                                            [TOKEN_OUTPUT] = u.output,
                                            [TOKEN_CALLS] = 1 },
                                     .known = true,
                                     .subagents = SLICE("") };

    TRY(idset_add(&s->ids, id128_of(u.answer), &number));
    if (!array_reserve(s->usage, s->cap, s->ids.n))
        return ERR_NOMEM;
    if (number == s->n)
        s->usage[s->n++] = t;
    else if (t.n[TOKEN_OUTPUT] > s->usage[number].n[TOKEN_OUTPUT])
        s->usage[number] = t;
    return ERR_OK;
}

enum err_code entire_tokens_count(struct slice transcript, int64_t from_line,
                                  struct entire_tokens *out, struct err *e)
{
    CLEANUP(answers_fini) struct answers s = { .n = 0 };
    struct entire_tokens sum = { .subagents = SLICE("") };
    struct slice line;
    bool torn;

    for (int64_t i = 0; slice_line(&transcript, &line, &torn); i++)
        if (i >= from_line)
            NEED(!count_row(&s, line));
    for (size_t i = 0; i < s.n; i++)
        entire_tokens_add(&sum, &s.usage[i]);
    *out = sum;
    return ERR_OK;
}

/* ---- settings ---- */

enum entire_token entire_tokens_setting(struct slice key)
{
    static const char *const names[TOKEN_COUNT] = {
        [TOKEN_INPUT] = "input-tokens",
        [TOKEN_CACHE_CREATION] = "cache-creation-tokens",
        [TOKEN_CACHE_READ] = "cache-read-tokens",
        [TOKEN_OUTPUT] = "output-tokens",
        [TOKEN_CALLS] = "api-calls",
    };

    for (int i = 0; i < TOKEN_COUNT; i++)
        if (slice_eq(key, slice_of(names[i])))
            return (enum entire_token)i;
    return TOKEN_COUNT;
}

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
    struct arena arena; /* has the texts of one row */
    bool any;
};

static void usage_walk_fini(struct entire_usage_walk *w)
{
    arena_fini(&w->arena);
}

static enum err_code hand_over_copy(const struct usage_record *u, void *arg, struct err *e)
{
    struct entire_usage_walk *w = arg;
    struct usage_record copy = *u;

    w->any = true;
    copy.copied = true;
    return w->fn(&copy, w->arg, e);
}

static enum err_code entire_hand_over_row(struct slice row, void *arg, struct err *e)
{
    struct entire_usage_walk *w = arg;
    struct usage_record u;

    arena_reset(&w->arena);
    bool found = usage_of_row(row, &w->arena, &u);

    NEED(!w->arena.failed);
    if (!found)
        return ERR_OK;
    u.agent = w->agent;
    u.message = w->agent.n ? SLICE("") : u.message;
    return hand_over_copy(&u, w, e);
}

static enum err_code walk_conversation(struct entire_usage_walk *w, struct entire_conversation *c,
                                       struct err *e)
{
    if (!c->claude)
        return ERR_OK;
    TRY(entire_conversation_bytes(c, e));
    return usage_rows_of_bytes(buf_slice(&c->bytes), "\"usage\"", entire_hand_over_row, w, e);
}

enum err_code entire_usage(const struct store *st, const struct session_ref *ref,
                           const atomic_bool *cancel, usage_fn *fn, void *arg, struct err *e)
{
    CLEANUP(usage_walk_fini)
    struct entire_usage_walk w = { st, ref, cancel, { NULL, 0 }, fn, arg, { 0 }, false };

    AUTO_ARENA a = { 0 };
    struct session_ref live;

    if (entire_tasks_live_ref(ref, &a, &live)) {
        TRY(claude_ops.usage(st, &live, cancel, hand_over_copy, &w, e));
    } else {
        AUTO_CONVERSATION c = ENTIRE_CONVERSATION_NONE;
        enum err_code rc = entire_conversation_open(st, ref, &c, e);

        if (!rc)
            TRY(walk_conversation(&w, &c, e));
        else if (rc != ERR_NOT_FOUND) /* no transcript is left */
            return rc;
    }

    /* Walks over the sub-agents in the checkpoints. Those whose transcript is on this machine were
     * read with the session. */
    struct slice *id;
    size_t n;

    TRY(entire_subagents(w.st, w.ref, &a, &id, &n, e));
    for (size_t i = 0; i < n; i++) {
        AUTO_CONVERSATION c = ENTIRE_CONVERSATION_NONE;
        struct session_ref agent;

        if (w.cancel && atomic_load_explicit(w.cancel, memory_order_relaxed))
            return err_set(e, ERR_CANCELLED, w.ref->path.p, "read token usage");
        if (entire_subagent(w.st, w.ref, id[i], &a, &agent, NULL) ||
            slice_eq(agent.folder, SLICE(ENTIRE_AGENT_FOLDER)) ||
            entire_conversation_open_agent(&agent, &c, NULL))
            continue;
        w.agent = id[i];
        TRY(walk_conversation(&w, &c, e));
    }

    /* No conversation is there, so what the state has is all that is known. */
    if (w.any)
        return ERR_OK;

    struct usage_record u = usage_record_empty();
    CLEANUP(view_close) struct view v = { 0 };

    TRY(view_open(w.st, w.ref, &v, e));
    const struct entire_state *state = v.session->state;
    struct entire_tokens t = entire_tokens_read(state ? state->token_usage : SLICE(""));

    if (!t.known)
        return ERR_OK;
    u.input = t.n[TOKEN_INPUT] > 0 ? t.n[TOKEN_INPUT] : 0;
    u.output = t.n[TOKEN_OUTPUT] > 0 ? t.n[TOKEN_OUTPUT] : 0;
    u.cache_read = t.n[TOKEN_CACHE_READ] > 0 ? t.n[TOKEN_CACHE_READ] : 0;
    u.cache_write = t.n[TOKEN_CACHE_CREATION] > 0 ? t.n[TOKEN_CACHE_CREATION] : 0;
    u.time_ms = state->interaction_ms;
    return hand_over_copy(&u, &w, e);
}
