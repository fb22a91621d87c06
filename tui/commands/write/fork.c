#include "store/api/fork.h"
#include "store/rewind/plan/origin.h"

#include <string.h>

#include "lite/json/jsonout.h"
#include "tui/commands/report.h"
#include "tui/commands/write/change.h"

static struct slice optional_text(const char *text)
{
    return (struct slice){ text, text ? strlen(text) : 0 };
}

static enum err_code write_fork_answer(struct invocation *in, const struct session_ref *ref,
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
    jsonout_member(&j, "path", optional_text(fork->path));
    jsonout_member(&j, "parentId", parent);
    jsonout_close(&j, '}');
    return j.rc ? err_nomem(e) : out_add(&in->out, SLICE("\n"), e);
}

/* A title that was asked for and has no place. */
static void report_missing_title(const struct invocation *in, const struct session_ref *ref)
{
    const char *why = unsupported_reason(ref->store->ops, CAN_NAME_FORK);
    struct err note;

    if (!in->options.title || !why)
        return;
    err_set(&note, ERR_UNSUPPORTED, ref->path.p, "fork: the fork gets no title: %s", why);
    out_report(in->err_fd, &note);
}

static enum err_code make_fork_change(struct invocation *in, const struct session_ref *ref,
                                      struct change *c, struct err *e)
{
    const struct fork_request request = { .at = optional_text(in->options.at),
                                          .title = optional_text(in->options.title),
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
    rc = c->text ? change_add_session_name(c,
                                           arena_format(&c->arena, "%s:%s",
                                                        fork.system ? fork.system : ops->name,
                                                        fork.id.p),
                                           e)
                 : err_nomem(e);
    if (!rc)
        rc = change_do(&in->world->env, c, e);
    in->done = !rc;
    if (rc)
        fork_discard(&fork);
    else
        report_missing_title(in, ref);
    return rc ? rc : write_fork_answer(in, ref, &fork, e);
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
        rc = unsupported_error(&ref, CAN_FORK, "fork", e);
    if (!rc)
        rc = make_fork_change(in, &ref, c, e);
    change_free(c);
    sessions_close(&s);
    return rc;
}
