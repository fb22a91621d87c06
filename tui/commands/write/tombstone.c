#include <string.h>

#include "tui/commands/write/change.h"

static enum err_code plan_tombstone(struct invocation *in, struct sessions *s,
                                    const struct session_ref *ref, struct change *c, struct err *e)
{
    const struct store_ops *ops = ref->store->ops;
    const char *message = in->argv[1];
    enum err_code rc =
        ops->tombstone ? ERR_OK : unsupported_error(ref, CAN_TOMBSTONE, "tombstone", e);

    c->text = arena_format(&c->arena, "message %s removed", message);
    if (!rc && !c->text)
        rc = err_nomem(e);
    (void)s;
    return rc ? rc
              : ops->tombstone(ref->store, ref, slice_of(message),
                               option_given(&in->options, OPTION_CUT), c, e);
}

enum err_code tombstone_run(struct invocation *in, struct err *e)
{
    return change_sessions(in, "tombstone", 1, plan_tombstone, e);
}
