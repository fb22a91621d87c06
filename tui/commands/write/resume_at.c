#include <string.h>

#include "tui/commands/write/change.h"

static enum err_code plan_resume_at_change(struct invocation *in, struct sessions *s,
                                           const struct session_ref *ref, struct change *c,
                                           struct err *e)
{
    const struct store_ops *ops = ref->store->ops;
    bool clear = option_given(&in->options, OPTION_CLEAR);
    const char *message = in->argc > 1 ? in->argv[1] : "";
    enum err_code rc =
        ops->resume_at ? ERR_OK : unsupported_error(ref, CAN_RESUME_AT, "resume-at", e);

    if (!rc && (clear == (in->argc > 1) || (!clear && *message == '\0')))
        rc = err_set(e, ERR_USAGE, "resume-at", "give either a message or --clear");
    c->text = clear ? "resumes with an empty conversation"
                    : arena_format(&c->arena, "resumes after %s", message);
    if (!rc && !c->text)
        rc = err_nomem(e);
    (void)s;
    return rc ? rc : ops->resume_at(ref->store, ref, slice_of(message), c, e);
}

enum err_code resume_at_run(struct invocation *in, struct err *e)
{
    return change_sessions(in, "resume-at", 1, plan_resume_at_change, e);
}
