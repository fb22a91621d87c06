#include <stdlib.h>

#include "lite/base/buf.h"
#include "store/host/host_state.h"
#include "store/library/call.h"

_Static_assert((int)REPRISE_IDLE == (int)SESSION_IDLE &&
                   (int)REPRISE_RUNNING == (int)SESSION_RUNNING &&
                   (int)REPRISE_REQUIRES_ACTION == (int)SESSION_REQUIRES_ACTION,
               "the values equal the internal ones");

struct reprise_state {
    struct host_state *state;
    struct adapter *adapters; /* owned */
};

/* A listener of the caller's. */
struct adapter {
    struct adapter *next;
    struct reprise_listener listener;
};

/* ---- listeners ---- */

/* The texts of a step come from reprise_state_change, so they are NUL-terminated. */
static void pass_state(enum session_state state, const struct host_action *action, void *arg)
{
    const struct adapter *a = arg;
    struct reprise_action copy = { .size = sizeof copy };

    if (action) {
        copy.tool_name = action->tool_name.p;
        copy.description = action->description.p;
        copy.tool_use_id = action->tool_use_id.p;
        copy.request_id = action->request_id.p;
        copy.input = action->input.p;
    }
    if (a->listener.changed)
        a->listener.changed((int32_t)state, action ? &copy : NULL, a->listener.data);
}

/* A listener is not called for a patch that cannot be copied. */
static void pass_metadata(struct slice patch, void *arg)
{
    const struct adapter *a = arg;
    struct buf text = { 0 };

    if (a->listener.metadata && buf_add(&text, patch) == ERR_OK &&
        buf_add_byte(&text, '\0') == ERR_OK)
        a->listener.metadata(text.p, a->listener.data);
    buf_fini(&text);
}

static void pass_title(struct slice title, void *arg)
{
    const struct adapter *a = arg;

    if (a->listener.title)
        a->listener.title(title.p, a->listener.data);
}

static void pass_last_prompt(struct slice prompt, void *arg)
{
    const struct adapter *a = arg;

    if (a->listener.last_prompt)
        a->listener.last_prompt(prompt.p, a->listener.data);
}

static enum err_code add_listener(struct reprise_state *s, const struct reprise_listener *given,
                                  struct err *e)
{
    struct adapter *a = calloc(1, sizeof *a);
    enum err_code rc = a ? call_options(given, &a->listener, sizeof a->listener, e) : err_nomem(e);
    const struct host_listener l = { .state = pass_state,
                                     .metadata = pass_metadata,
                                     .title = pass_title,
                                     .last_prompt = pass_last_prompt,
                                     .arg = a };

    if (!rc)
        rc = host_state_listen(s->state, &l, e);
    if (rc) {
        free(a);
        return rc;
    }
    a->next = s->adapters;
    s->adapters = a;
    return ERR_OK;
}

int reprise_state_listen(struct reprise_state *s, const struct reprise_listener *listener,
                         struct reprise_error *error)
{
    if (!s || !listener)
        return call_refuse(error);
    CALL_RETURN(error, add_listener(s, listener, e));
}

/* ---- the state ---- */

static enum err_code open_state(const struct reprise_session *session, struct reprise_state **out,
                                struct err *e)
{
    const struct host_published where = { .env = &session->stores->env,
                                          .system = session->ref.store->ops->name,
                                          .session = session->ref.id,
                                          .cwd = slice_of(session->stores->env.cwd) };
    struct reprise_state *s = calloc(1, sizeof *s);
    enum err_code rc = s ? host_state_open(&where, &s->state, e) : err_nomem(e);

    if (rc)
        free(s);
    else
        *out = s;
    return rc;
}

int reprise_state_open(const struct reprise_session *session, struct reprise_state **out,
                       struct reprise_error *error)
{
    if (!session || !out)
        return call_refuse(error);
    CALL_RETURN(error, open_state(session, out, e));
}

void reprise_state_close(struct reprise_state *s)
{
    struct adapter *next;

    if (!s)
        return;
    host_state_close(s->state);
    for (struct adapter *a = s->adapters; a; a = next) {
        next = a->next;
        free(a);
    }
    free(s);
}

/* Members that are NULL become "", so that listeners get texts. */
static struct slice text_or_none(const char *text)
{
    return text ? slice_of(text) : SLICE("");
}

static enum err_code change_state(struct reprise_state *s, int32_t state,
                                  const struct reprise_action *given, struct err *e)
{
    struct reprise_action q;

    TRY(call_options(given, &q, sizeof q, e));
    if (state < REPRISE_IDLE || state > REPRISE_REQUIRES_ACTION)
        return err_set(e, ERR_USAGE, "", "change the state: there is no such state");
    const struct host_action action = { .tool_name = text_or_none(q.tool_name),
                                        .description = text_or_none(q.description),
                                        .tool_use_id = text_or_none(q.tool_use_id),
                                        .request_id = text_or_none(q.request_id),
                                        .input = text_or_none(q.input) };

    return host_state_change(s->state, (enum session_state)state, given ? &action : NULL, e);
}

int reprise_state_change(struct reprise_state *s, int32_t state,
                         const struct reprise_action *action, struct reprise_error *error)
{
    if (!s)
        return call_refuse(error);
    CALL_RETURN(error, change_state(s, state, action, e));
}

int reprise_state_merge(struct reprise_state *s, const char *patch, struct reprise_error *error)
{
    if (!s || !patch)
        return call_refuse(error);
    CALL_RETURN(error, host_state_merge(s->state, call_text(patch), e));
}

int reprise_state_title(struct reprise_state *s, const char *title, struct reprise_error *error)
{
    if (!s || !title)
        return call_refuse(error);
    CALL_RETURN(error, host_state_title(s->state, text_or_none(title), e));
}

int reprise_state_last_prompt(struct reprise_state *s, const char *prompt,
                              struct reprise_error *error)
{
    if (!s || !prompt)
        return call_refuse(error);
    CALL_RETURN(error, host_state_last_prompt(s->state, text_or_none(prompt), e));
}
