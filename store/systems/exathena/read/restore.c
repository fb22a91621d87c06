#include <stdlib.h>
#include <unistd.h>

#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/systems/exathena/exathena.h"
#include "store/systems/exathena/read/message_walk.h"
#include "store/systems/exathena/rewind/point.h"

/* What the library's resume makes of a log: every message, also the system's. Permissions are not restored; each
 * session asks for them again. */

struct restoring {
    struct restore out;
    size_t cap;
    struct slice prompt; /* the last message where that is a person's; in the arena */
    bool waits;          /* the last message is a tool's, or calls one */
};

static enum err_code append_restored(struct restoring *r, struct slice json)
{
    if (r->out.messages == r->cap) {
        size_t cap = r->cap ? 2 * r->cap : 64;
        struct slice *more = arena_alloc(&r->out.arena, cap * sizeof *more);

        if (!more)
            return ERR_NOMEM;
        if (r->out.messages)
            memcpy(more, r->out.messages_json, r->out.messages * sizeof *more);
        r->out.messages_json = more;
        r->cap = cap;
    }
    struct slice copy = arena_copy(&r->out.arena, json);

    r->out.messages_json[r->out.messages] = copy;
    r->out.messages += copy.p != NULL;
    return copy.p ? ERR_OK : ERR_NOMEM;
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
    struct restoring r = { .cap = 0 };
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
