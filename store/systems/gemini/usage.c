#include "lite/json/json.h"
#include "store/systems/common/usage_rows.h"
#include "store/systems/gemini/gemini.h"

/* The tokens of an answer are in its message, {input, output, cached, thoughts, tool}, which may be
 * written several times and is identified by its id. Rewound turns are counted, because they were
 * paid for. The input includes the tokens of caches. */

enum { READ_MAX = 256 << 20 };

static bool read_usage(struct slice raw, struct arena *a, struct usage_record *u)
{
    struct slice tokens;

    *u = usage_record_empty();
    if (!json_get(raw, "tokens", &tokens) || json_type(tokens) != JSON_OBJECT ||
        !json_get_text(raw, "id", a, &u->answer))
        return false;
    int64_t input = usage_count(tokens, "input");

    u->request = u->message = u->answer;
    u->cache_read = usage_count(tokens, "cached");
    u->input = (input > u->cache_read ? input - u->cache_read : 0) + usage_count(tokens, "tool");
    u->output = usage_count(tokens, "output") + usage_count(tokens, "thoughts");
    json_get_text(raw, "model", a, &u->model);
    u->time_ms = json_time_at(raw, "timestamp", a);
    return true;
}

static enum err_code walk(const struct session_ref *ref, struct slice agent, usage_fn *fn,
                          void *arg, struct err *e)
{
    struct gemini_chat c;
    struct usage_record u;
    enum err_code rc = gemini_chat_read(ref->path.p, READ_MAX, &c, e);

    if (rc)
        return rc;
    for (size_t i = 0; i < c.ever_n && !rc; i++)
        if (read_usage(c.ever[i].raw, &c.arena, &u)) {
            u.agent = agent;
            u.aside = agent.n > 0;
            u.message = agent.n ? SLICE("") : u.message;
            rc = c.arena.failed ? err_nomem(e) : fn(&u, arg, e);
        }
    gemini_chat_fini(&c);
    return rc;
}

enum err_code gemini_usage(const struct store *st, const struct session_ref *ref,
                           const atomic_bool *cancel, usage_fn *fn, void *arg, struct err *e)
{
    struct arena a = { 0 };
    struct session_ref agent;
    struct slice *ids = NULL;
    size_t n = 0;
    enum err_code rc = walk(ref, SLICE(""), fn, arg, e);

    if (!rc)
        rc = gemini_subagents(st, ref, &a, &ids, &n, e);
    for (size_t i = 0; i < n && !rc; i++) {
        if (cancel && atomic_load_explicit(cancel, memory_order_relaxed))
            rc = err_set(e, ERR_CANCELLED, ref->path.p, "read token usage");
        else if (!gemini_subagent(st, ref, ids[i], &a, &agent, NULL))
            rc = walk(&agent, ids[i], fn, arg, e);
        if (rc == ERR_NOT_FOUND || rc == ERR_IO || rc == ERR_UNSAFE)
            rc = ERR_OK;
    }
    arena_fini(&a);
    return rc;
}
