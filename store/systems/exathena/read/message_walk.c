#include "store/systems/exathena/read/message_walk.h"

#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/log/logfile.h"
#include "store/systems/exathena/exathena.h"

/* Who speaks is what the message says, not the kind of its event; an event without a message says nothing. */

struct walking {
    const struct exathena_message_walk *walk;
    exathena_message_fn *fn;
    void *arg;
    struct arena arena;
    struct buf out;
};

static struct slice type_of(struct slice role)
{
    static const char *const roles[] = { "user", "assistant", "tool" };

    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (slice_eq(role, slice_of(roles[i])))
            return role;
    return SLICE("system");
}

static void text_or_null(struct jsonout *j, const char *key, struct slice text)
{
    jsonout_key(j, key);
    if (text.n)
        jsonout_text(j, text);
    else
        jsonout_null(j);
}

static enum err_code deliver_event(struct walking *w, const struct event *ev, struct slice message,
                                   struct err *e)
{
    struct jsonout j;

    w->out.n = 0;
    jsonout_init(&j, &w->out);
    jsonout_open(&j, '{');
    jsonout_member(&j, "type", type_of(ev->role));
    text_or_null(&j, "uuid", ev->id);
    jsonout_member(&j, "session_id", w->walk->ref->id);
    jsonout_key(&j, "message");
    jsonout_raw(&j, message);
    jsonout_key(&j, "parent_tool_use_id");
    jsonout_null(&j);
    text_or_null(&j, "parent_agent_id", w->walk->agent);
    jsonout_member(&j, "timestamp", ev->ts);
    jsonout_close(&j, '}');
    return j.rc ? err_nomem(e) : w->fn(ev, buf_slice(&w->out), w->arg, e);
}

/* A run of a sub-agent is one line: what it was asked, and what it answered. */
static enum err_code deliver_run(struct walking *w, struct slice line, const char *role,
                                 struct slice text, struct err *e)
{
    struct event ev = { .role = slice_of(role) };
    struct buf message = { 0 };
    struct jsonout j;
    enum err_code rc = event_text(line, "ts", &w->arena, &ev.ts) ? ERR_OK : ERR_NOMEM;

    jsonout_init(&j, &message);
    jsonout_open(&j, '{');
    jsonout_member(&j, "role", ev.role);
    jsonout_key(&j, "content");
    jsonout_text(&j, text);
    jsonout_close(&j, '}');
    if (rc || j.rc)
        rc = err_nomem(e);
    else
        rc = deliver_event(w, &ev, buf_slice(&message), e);
    buf_fini(&message);
    return rc;
}

static enum err_code walk_run(struct walking *w, struct slice line, struct err *e)
{
    struct slice result, prompt, text;
    enum err_code rc = ERR_OK;

    event_member(line, "result", &result);
    if (!event_text(line, "prompt", &w->arena, &prompt) ||
        !event_text(result, "text", &w->arena, &text) ||
        (!text.n && !event_text(result, "error", &w->arena, &text)))
        return err_nomem(e);
    if (prompt.n)
        rc = deliver_run(w, line, "user", prompt, e);
    return rc || !result.n ? rc : deliver_run(w, line, "assistant", text, e);
}

static enum err_code walk_line(struct walking *w, struct slice line, bool *last, struct err *e)
{
    struct event ev;

    arena_reset(&w->arena);
    *last = false;
    if (!event_read(line, &w->arena, &ev))
        return ERR_OK;
    if (w->walk->agent.n && !ev.message.n)
        return walk_run(w, line, e);
    *last = w->walk->last.n && slice_eq(ev.id, w->walk->last);
    if (!ev.message.n || !ev.role.n ||
        (!w->walk->system && slice_eq(type_of(ev.role), SLICE("system"))))
        return ERR_OK;
    return deliver_event(w, &ev, ev.message, e);
}

enum err_code exathena_walk_messages(const struct exathena_message_walk *walk,
                                     exathena_message_fn *fn, void *arg, struct err *e)
{
    struct walking w = { .walk = walk, .fn = fn, .arg = arg };
    struct logfile log;
    struct slice line;
    bool last = false;
    enum err_code rc = logfile_open(&log, walk->ref->path.p, 0, &exathena_keys, walk->cancel, e);

    if (rc)
        return rc;
    for (size_t i = 0; !rc && !last && i < log.index.n; i++) {
        if (log.index.line[i].state == LINE_BLANK)
            continue;
        if (walk->cancel && atomic_load_explicit(walk->cancel, memory_order_relaxed))
            rc = err_set(e, ERR_CANCELLED, walk->ref->path.p, "read messages");
        if (!rc)
            rc = logfile_row(&log, i, &line, e);
        if (!rc)
            rc = walk_line(&w, line, &last, e);
    }
    if (!rc && walk->last.n && !last)
        rc = err_set(e, ERR_NOT_FOUND, walk->ref->path.p, "no event %.*s", SLICE_ARG(walk->last));
    logfile_close(&log);
    arena_fini(&w.arena);
    buf_fini(&w.out);
    return rc;
}
