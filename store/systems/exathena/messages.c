#include "store/systems/exathena/messages.h"

#include <stdlib.h>
#include <unistd.h>

#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/log/logfile.h"
#include "store/systems/exathena/event.h"
#include "store/systems/exathena/exathena.h"

/* Who speaks is what the message says, not the kind of its event; an event without a message says nothing. */

struct walking {
    const struct exathena_message_walk *walk;
    exathena_message_fn *fn;
    void *arg;
    bool found; /* the last event that was asked for */
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

static enum err_code walk_row(struct slice row, void *arg, bool *stop, struct err *e)
{
    struct walking *w = arg;
    struct event ev;

    arena_reset(&w->arena);
    if (!event_read(row, &w->arena, &ev))
        return ERR_OK;
    if (w->walk->agent.n && !ev.message.n)
        return walk_run(w, row, e);
    *stop = w->found = w->walk->last.n && slice_eq(ev.id, w->walk->last);
    if (!ev.message.n || !ev.role.n ||
        (!w->walk->system && slice_eq(type_of(ev.role), SLICE("system"))))
        return ERR_OK;
    return deliver_event(w, &ev, ev.message, e);
}

enum err_code exathena_walk_messages(const struct exathena_message_walk *walk,
                                     exathena_message_fn *fn, void *arg, struct err *e)
{
    struct walking w = { .walk = walk, .fn = fn, .arg = arg };
    const char *path = walk->ref->path.p;
    enum err_code rc = jsonl_each_row(path, &exathena_keys, walk->cancel, walk_row, &w, e);

    if (!rc && walk->last.n && !w.found)
        rc = err_set(e, ERR_NOT_FOUND, path, "no event %.*s", SLICE_ARG(walk->last));
    arena_fini(&w.arena);
    buf_fini(&w.out);
    return rc;
}

/* The conversation as the library's own resume rebuilds it today: what was said by a person, the agent and its
 * tools, in the order of the log; the system's messages where they are asked for. */

static enum err_code put_message(const struct event *ev, struct slice json, void *arg,
                                 struct err *e)
{
    (void)ev;
    return jsonl_page_put(arg, json, e);
}

enum err_code exathena_messages(const struct store *st, const struct session_ref *ref,
                                const struct message_query *q, json_fn *fn, void *arg,
                                struct err *e)
{
    struct arena a = { 0 };
    struct session_ref agent = *ref;
    struct jsonl_page p = jsonl_page_of(q, fn, arg);
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
        rc = exathena_walk_messages(&walk, put_message, &p, e);
    arena_fini(&a);
    if (p.full)
        return ERR_OK;
    return rc ? err_wrap(e, rc, "read messages") : ERR_OK;
}

/* What the library's resume makes of a log: every message, also the system's. Permissions are not restored; each
 * session asks for them again. */

struct restoring {
    struct restore out;
    struct slice prompt; /* the last message where that is a person's; in the arena */
    bool waits;          /* the last message is a tool's, or calls one */
};

static enum err_code append_restored(struct restoring *r, struct slice json)
{
    struct arena *a = &r->out.arena;
    struct slice *list = arena_grow(a, r->out.messages_json, r->out.messages, sizeof *list);
    struct slice copy = arena_copy(a, json);

    if (!list || !copy.p)
        return ERR_NOMEM;
    list[r->out.messages++] = copy;
    r->out.messages_json = list;
    return ERR_OK;
}

static enum err_code take_message(const struct event *ev, struct slice json, void *arg,
                                  struct err *e)
{
    struct restoring *r = arg;
    struct slice calls;
    bool user = slice_eq(ev->role, SLICE("user"));

    event_member(ev->message, "tool_calls", &calls);
    r->waits = slice_eq(ev->role, SLICE("tool")) || (json_type(calls) == JSON_ARRAY && calls.n > 2);
    r->prompt = user ? arena_copy(&r->out.arena, ev->message) : (struct slice){ NULL, 0 };
    if (append_restored(r, json) || (user && !r->prompt.p))
        return err_nomem(e);
    return ERR_OK;
}

/* What is said in the person's place when a turn was cut. */
static enum err_code add_continuation(struct restoring *r, const struct session_ref *ref)
{
    struct buf text = { 0 };
    struct jsonout j;

    jsonout_init(&j, &text);
    jsonout_open(&j, '{');
    jsonout_member(&j, "type", SLICE("user"));
    jsonout_key(&j, "message");
    jsonout_open(&j, '{');
    jsonout_member(&j, "role", SLICE("user"));
    jsonout_member(&j, "content", SLICE("Continue from where you left off."));
    jsonout_close(&j, '}');
    jsonout_key(&j, "isMeta");
    jsonout_bool(&j, true);
    jsonout_member(&j, "session_id", ref->id);
    jsonout_close(&j, '}');
    enum err_code rc = j.rc ? j.rc : append_restored(r, buf_slice(&text));

    buf_fini(&text);
    return rc;
}

static enum err_code finish(struct restoring *r, const struct exathena *x,
                            const struct session_ref *ref, struct err *e)
{
    struct slice project = x->homeless ? SLICE("") : slice_of(x->project);

    r->out.session_id = arena_copy(&r->out.arena, ref->id);
    r->out.cwd = arena_copy(&r->out.arena, project);
    if (project.n && access(x->project, X_OK) == 0)
        r->out.command_cwd = r->out.cwd;
    r->out.interruption = r->prompt.n ? INTERRUPTION_PROMPT
                          : r->waits  ? INTERRUPTION_TURN
                                      : INTERRUPTION_NONE;
    r->out.prompt_json = r->prompt;
    if (!r->out.session_id.p || !r->out.cwd.p ||
        (r->out.interruption == INTERRUPTION_TURN && add_continuation(r, ref)))
        return err_nomem(e);
    return ERR_OK;
}

enum err_code exathena_restore(const struct store *st, const struct session_ref *ref,
                               struct slice at, struct restore *out, struct err *e)
{
    struct restoring r = { .waits = false };
    struct arena a = { 0 };
    struct exathena_message_walk walk = { .ref = ref, .system = true };
    struct point point;
    enum err_code rc = ERR_OK;

    if (at.n) {
        rc = exathena_point(ref, at, &a, &point, e);
        if (!rc)
            walk.last = point.id;
    }
    if (!rc)
        rc = exathena_walk_messages(&walk, take_message, &r, e);
    if (!rc)
        rc = finish(&r, exathena_of(st), ref, e);
    arena_fini(&a);
    if (rc)
        restore_fini(&r.out);
    else
        *out = r.out;
    return rc ? err_wrap(e, rc, "restore the session") : ERR_OK;
}
