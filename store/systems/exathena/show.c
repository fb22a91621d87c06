#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/rewind/diff/linediff.h"
#include "store/systems/exathena/event.h"
#include "store/systems/exathena/exathena.h"

/* The role in the message names the speaker, not the kind of its event; an event without a message
 * has no speaker. */

/* Arguments are valid during the call. A non-zero code ends the walk and is returned. */
typedef enum err_code message_fn(const struct event *ev, struct slice json, void *arg,
                                 struct err *e);

/* A walk through the messages of a log in order, each as the `messages` command prints it. */
struct message_walk {
    const struct session_ref *ref;
    struct slice agent;        /* the log is that of this sub-agent; empty: the session's */
    struct slice last;         /* stop after the event with this uuid; empty: at the end */
    bool system;               /* system messages too */
    const atomic_bool *cancel; /* may be NULL */
    message_fn *fn;
    void *arg;
    bool found; /* the last event was reached */
    struct arena arena;
    struct buf out;
};

static struct slice exathena_type_of(struct slice role)
{
    static const char *const roles[] = { "user", "assistant", "tool" };

    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (slice_eq(role, slice_of(roles[i])))
            return role;
    return SLICE("system");
}

static enum err_code deliver_event(struct message_walk *w, const struct event *ev,
                                   struct slice message, struct err *e)
{
    struct jsonout j;

    w->out.n = 0;
    jsonout_init(&j, &w->out);
    jsonout_open(&j, '{');
    jsonout_member(&j, "type", exathena_type_of(ev->role));
    jsonout_text_or_null(&j, "uuid", ev->id);
    jsonout_member(&j, "session_id", w->ref->id);
    jsonout_raw_member(&j, "message", message);
    jsonout_text_or_null(&j, "parent_tool_use_id", SLICE(""));
    jsonout_text_or_null(&j, "parent_agent_id", w->agent);
    jsonout_member(&j, "timestamp", ev->ts);
    jsonout_close(&j, '}');
    return j.rc ? err_nomem(e) : w->fn(ev, buf_slice(&w->out), w->arg, e);
}

/* A run of a sub-agent is one line: its prompt and its answer. */
static enum err_code deliver_run(struct message_walk *w, struct slice line, const char *role,
                                 struct slice text, struct err *e)
{
    struct event ev = { .role = slice_of(role), .ts = event_text(line, "ts", &w->arena) };
    struct buf message = { 0 };
    struct jsonout j;

    jsonout_init(&j, &message);
    jsonout_open(&j, '{');
    jsonout_member(&j, "role", ev.role);
    jsonout_key(&j, "content");
    jsonout_text(&j, text);
    jsonout_close(&j, '}');
    enum err_code rc =
        j.rc || w->arena.failed ? err_nomem(e) : deliver_event(w, &ev, buf_slice(&message), e);

    buf_fini(&message);
    return rc;
}

static enum err_code exathena_walk_row(struct slice row, void *arg, bool *stop, struct err *e)
{
    struct message_walk *w = arg;
    struct event ev;

    arena_reset(&w->arena);
    if (!event_read(row, &w->arena, &ev))
        return ERR_OK;
    if (w->agent.n && !ev.message.n) {
        struct slice result = event_member(row, "result"),
                     prompt = event_text(row, "prompt", &w->arena),
                     text = event_text(result, "text", &w->arena);
        enum err_code rc = ERR_OK;

        if (!text.n)
            text = event_text(result, "error", &w->arena);
        if (w->arena.failed)
            return err_nomem(e);
        if (prompt.n)
            rc = deliver_run(w, row, "user", prompt, e);
        return rc || !result.n ? rc : deliver_run(w, row, "assistant", text, e);
    }
    *stop = w->found = w->last.n && slice_eq(ev.id, w->last);
    if (!ev.message.n || !ev.role.n ||
        (!w->system && slice_eq(exathena_type_of(ev.role), SLICE("system"))))
        return ERR_OK;
    return deliver_event(w, &ev, ev.message, e);
}

/* Frees the walk. ERR_NOT_FOUND: `last` was given, but there is no such event. */
static enum err_code walk_messages(struct message_walk *w, struct err *e)
{
    const char *path = w->ref->path.p;
    enum err_code rc = jsonl_each_row(path, &exathena_keys, w->cancel, exathena_walk_row, w, e);

    if (!rc && w->last.n && !w->found)
        rc = err_set(e, ERR_NOT_FOUND, path, "no event %.*s", SLICE_ARG(w->last));
    arena_fini(&w->arena);
    buf_fini(&w->out);
    return rc;
}

/* The conversation as the library's own resume restores it today: messages of the person, the agent
 * and its tools, in the order of the log; system messages if they are requested. */

static enum err_code put_walked_message(const struct event *ev, struct slice json, void *arg,
                                        struct err *e)
{
    (void)ev;
    return jsonl_page_add(arg, json, e);
}

enum err_code exathena_messages(const struct store *st, const struct session_ref *ref,
                                const struct message_query *q, json_fn *fn, void *arg,
                                struct err *e)
{
    struct arena a = { 0 };
    struct session_ref agent = *ref;
    struct jsonl_page p = jsonl_page_of(q, fn, arg);
    struct message_walk walk = { .ref = &agent,
                                 .system = q->system_messages,
                                 .cancel = q->cancel,
                                 .fn = put_walked_message,
                                 .arg = &p };
    enum err_code rc = ERR_OK;

    if (q->agent.n) {
        rc = exathena_subagent(st, ref, q->agent, &a, &agent, e);
        agent.id = ref->id;
        walk.agent = q->agent;
    }
    if (!rc)
        rc = walk_messages(&walk, e);
    arena_fini(&a);
    if (p.full)
        return ERR_OK;
    return rc ? err_wrap(e, rc, "read messages") : ERR_OK;
}

/* The result of the library's resume: every message, including those of the system. Permissions are
 * not restored; each session asks for them again. */

struct restoring {
    struct restore out;
    struct slice prompt; /* the last message if it is a person's; in the arena */
    bool waits;          /* the last message is a tool's, or calls one */
};

static bool append_restored(struct restoring *r, struct slice json)
{
    return arena_add_copy(&r->out.arena, &r->out.messages_json, &r->out.messages, json);
}

static enum err_code exathena_add_message(const struct event *ev, struct slice json, void *arg,
                                          struct err *e)
{
    struct restoring *r = arg;
    struct slice calls = event_member(ev->message, "tool_calls");
    bool user = slice_eq(ev->role, SLICE("user"));

    r->waits = slice_eq(ev->role, SLICE("tool")) || (json_type(calls) == JSON_ARRAY && calls.n > 2);
    r->prompt = user ? arena_copy(&r->out.arena, ev->message) : (struct slice){ NULL, 0 };
    if (!append_restored(r, json) || (user && !r->prompt.p))
        return err_nomem(e);
    return ERR_OK;
}

/* The message that is added in the person's name after an interrupted turn. */
static bool exathena_add_continuation(struct restoring *r, const struct session_ref *ref)
{
    struct buf text = { 0 };
    struct jsonout j;

    jsonout_init(&j, &text);
    jsonout_open(&j, '{');
    jsonout_member(&j, "type", SLICE("user"));
    jsonl_write_continuation(&j);
    jsonout_bool_member(&j, "isMeta", true);
    jsonout_member(&j, "session_id", ref->id);
    jsonout_close(&j, '}');
    bool ok = !j.rc && append_restored(r, buf_slice(&text));

    buf_fini(&text);
    return ok;
}

enum err_code exathena_restore(const struct store *st, const struct session_ref *ref,
                               struct slice at, struct restore *out, struct err *e)
{
    struct restoring r = { .waits = false };
    struct arena a = { 0 };
    struct message_walk walk = {
        .ref = ref, .system = true, .fn = exathena_add_message, .arg = &r
    };
    struct point point;
    enum err_code rc = ERR_OK;

    if (at.n) {
        rc = exathena_point(ref, at, &a, &point, e);
        if (!rc)
            walk.last = point.id;
    }
    if (!rc)
        rc = walk_messages(&walk, e);
    if (!rc) {
        const struct exathena *x = exathena_of(st);
        struct slice project = x->no_project ? SLICE("") : slice_of(x->project);

        r.out.interruption = r.prompt.n ? INTERRUPTION_PROMPT
                             : r.waits  ? INTERRUPTION_TURN
                                        : INTERRUPTION_NONE;
        r.out.prompt_json = r.prompt;
        if (!jsonl_restore_begin(&r.out, ref->id, project) ||
            (r.out.interruption == INTERRUPTION_TURN && !exathena_add_continuation(&r, ref)))
            rc = err_nomem(e);
    }
    arena_fini(&a);
    if (rc)
        restore_fini(&r.out);
    else
        *out = r.out;
    return rc ? err_wrap(e, rc, "restore the session") : ERR_OK;
}

/* The blocks of one event for a reader. An event of an unknown form becomes a note or its raw
 * bytes; it is never left out. */

/* ---- changes of a file by a tool ---- */

enum { CONTEXT = 3, DIFF_MOST = 1 << 20 };

/* The patch from the file before to the file after, which the payload contains. Empty if there is
 * no such payload. */
static struct slice patch_of(struct arena *a, struct slice result)
{
    struct slice ui = event_member(result, "ui_payload"), payload = event_member(ui, "payload"),
                 before = event_text(payload, "before", a), after = event_text(payload, "after", a),
                 patch = { NULL, 0 };
    struct linediff d;
    struct buf out = { 0 };
    struct jsonout j;

    if (!payload.p || !slice_eq(event_text(ui, "kind", a), SLICE("diff")) || before.n > DIFF_MOST ||
        after.n > DIFF_MOST || linediff_make(before, after, CONTEXT, &d, NULL))
        return patch;
    jsonout_init(&j, &out);

    /* The hunks, each with its lines. */
    jsonout_open(&j, '[');
    for (size_t i = 0; i < d.hunks; i++) {
        const struct linediff_hunk *h = &d.hunk[i];

        jsonout_open(&j, '{');
        jsonout_int_member(&j, "oldStart", h->old_start);
        jsonout_int_member(&j, "oldLines", h->old_lines);
        jsonout_int_member(&j, "newStart", h->new_start);
        jsonout_int_member(&j, "newLines", h->new_lines);
        jsonout_key(&j, "lines");
        jsonout_open(&j, '[');
        for (size_t k = 0; k < h->n; k++) {
            const struct linediff_line *l = &d.line[h->first + k];
            struct buf line = { 0 };

            if (buf_add_byte(&line, l->sign) || buf_add(&line, l->text))
                j.rc = ERR_NOMEM;
            else
                jsonout_text(&j, buf_slice(&line));
            buf_fini(&line);
        }
        jsonout_close(&j, ']');
        jsonout_close(&j, '}');
    }
    jsonout_close(&j, ']');

    a->failed |= j.rc != ERR_OK;
    patch = arena_copy(a, buf_slice(&out));
    linediff_fini(&d);
    buf_fini(&out);
    return patch;
}

/* ---- messages ---- */

static void put_results(struct block_list *b, struct slice message)
{
    struct arena *a = &b->arena;
    struct slice key, result;
    struct json_iter it;

    if (event_list(message, "tool_results", &it))
        while (json_iter_next(&it, &key, &result))
            transcript_block_put(
                b, (struct block){ .kind = BLOCK_TOOL_RESULT,
                                   .text = event_text(result, "content", a),
                                   .call_id = event_text(result, "tool_call_id", a),
                                   .patch = patch_of(a, result),
                                   .failed =
                                       json_type(event_member(result, "is_error")) == JSON_TRUE });
}

enum err_code exathena_blocks(const struct store *st, struct slice row, struct block_list *out,
                              struct err *e)
{
    struct event ev;
    struct slice key, call;
    struct json_iter it;

    (void)st;
    if (!event_read(row, &out->arena, &ev))
        transcript_block_put(out, (struct block){ .kind = BLOCK_RAW, .text = row });
    else if (ev.message.n) {
        struct block block = { .kind = BLOCK_TEXT, .text = event_message_text(&ev, &out->arena) };

        if (slice_eq(ev.role, SLICE("user")))
            block.kind = BLOCK_PROMPT;
        if (slice_eq(ev.role, SLICE("system"))) {
            block.kind = BLOCK_NOTE;
            block.name = ev.role;
        }
        if (block.text.n)
            transcript_block_put(out, block);
        if (event_list(ev.message, "tool_calls", &it))
            while (json_iter_next(&it, &key, &call))
                transcript_block_put(
                    out, (struct block){ .kind = BLOCK_TOOL_CALL,
                                         .name = event_text(call, "name", &out->arena),
                                         .input = event_member(call, "arguments"),
                                         .call_id = event_text(call, "id", &out->arena) });
        put_results(out, ev.message);
    } else if (!ev.kind.n && event_member(row, "subagent_id").p) {
        /* A finished run of a sub-agent. */
        struct slice result = event_member(row, "result");
        struct block end = { .kind = BLOCK_TEXT, .text = event_text(result, "text", &out->arena) };

        transcript_block_put(out, (struct block){ .kind = BLOCK_PROMPT,
                                                  .text = event_text(row, "prompt", &out->arena) });
        if (json_type(event_member(result, "ok")) != JSON_TRUE)
            end = (struct block){ .kind = BLOCK_NOTE,
                                  .name = SLICE("error"),
                                  .text = event_text(result, "error", &out->arena),
                                  .failed = true };
        transcript_block_put(out, end);
    } else
        transcript_block_put(
            out, (struct block){ .kind = BLOCK_NOTE, .name = ev.kind, .text = ev.data });
    if (out->n == 0)
        transcript_block_put(out, (struct block){ .kind = BLOCK_NOTE, .name = ev.kind });
    return out->arena.failed ? err_nomem(e) : ERR_OK;
}
