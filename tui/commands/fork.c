#include "store/fork.h"
#include "store/origin.h"

#include <string.h>

#include "lite/jsonout.h"
#include "tui/commands/change.h"
#include "tui/commands/report.h"

static struct slice text_of(const char *text)
{
    return (struct slice){ text, text ? strlen(text) : 0 };
}

static enum err_code write_answer(struct invocation *in, const struct session_ref *ref,
                                  const struct fork_result *fork, struct err *e)
{
    const struct store_ops *ops = ref->store->ops;
    /* As the rows of the copy name it, which are the agent's. */
    struct slice parent = ops->agent_id ? ops->agent_id(ref->id) : ref->id;
    struct jsonout j;

    if (!option_given(&in->options, OPTION_JSON))
        return out_addf(&in->out, e, "%s\n", fork->id.p);
    jsonout_init(&j, &in->out.buf);
    jsonout_open(&j, '{');
    jsonout_member(&j, "sessionId", fork->id);
    jsonout_member(&j, "path", text_of(fork->path));
    jsonout_member(&j, "parentId", parent);
    jsonout_close(&j, '}');
    return j.rc ? err_nomem(e) : out_add(&in->out, SLICE("\n"), e);
}

/* A title that was asked for and has no place. */
static void say_nameless(const struct invocation *in, const struct session_ref *ref)
{
    const char *why = store_cannot(ref->store->ops, CAN_NAME_FORK);
    struct err note;

    if (!in->options.title || !why)
        return;
    err_set(&note, ERR_UNSUPPORTED, ref->path.p, "fork: the fork gets no title: %s", why);
    report_line(in->err_fd, &note);
}

static enum err_code make(struct invocation *in, const struct session_ref *ref, struct change *c,
                          struct err *e)
{
    const struct fork_request request = { .at = text_of(in->options.at),
                                          .title = text_of(in->options.title),
                                          .with_files =
                                              option_given(&in->options, OPTION_WITH_FILES) };
    const struct store_ops *ops = ref->store->ops;
    struct fork_result fork = { .path = NULL };
    enum err_code rc = origin_add_session(c, ref, e);

    fork_sweep(&in->world->env);
    if (!rc)
        rc = ops->fork(ref->store, ref, &request, c, &fork, e);
    if (rc)
        return rc;
    c->text = arena_format(&c->arena, "forked as %s", fork.id.p);
    rc = c->text ? change_name(c,
                               arena_format(&c->arena, "%s:%s",
                                            fork.system ? fork.system : ops->name, fork.id.p),
                               e)
                 : err_nomem(e);
    if (!rc)
        rc = change_do(&in->world->env, c, e);
    in->done = !rc;
    if (rc)
        fork_drop(&fork);
    else
        say_nameless(in, ref);
    return rc ? rc : write_answer(in, ref, &fork, e);
}

enum err_code fork_run(struct invocation *in, struct err *e)
{
    struct sessions s;
    struct session_ref ref;
    enum err_code rc = sessions_of_operand(in, &s, &ref, e);

    if (rc)
        return rc;
    struct change *c = change_new("fork");

    if (!c)
        rc = err_nomem(e);
    else if (!ref.store->ops->fork)
        rc = store_refuse(&ref, CAN_FORK, "fork", e);
    if (!rc)
        rc = make(in, &ref, c, e);
    change_free(c);
    sessions_close(&s);
    return rc;
}
