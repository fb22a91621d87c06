#include <string.h>

#include "tui/commands/write/change.h"

/* rename, tag, archive, unarchive and reappend: one small change of a session each. */

static enum err_code plan_rename(struct invocation *in, struct sessions *s,
                                 const struct session_ref *ref, struct change *c, struct err *e)
{
    const struct store_ops *ops = ref->store->ops;
    struct slice title = slice_of(in->argv[1]);
    enum err_code rc = ops->rename ? ERR_OK : unsupported_error(ref, CAN_RENAME, "rename", e);

    c->text = arena_format(&c->arena, "renamed to %s", in->argv[1]);
    if (!rc && !c->text)
        rc = err_nomem(e);
    (void)s;
    return rc ? rc : ops->rename(ref->store, ref, title, c, e);
}

enum err_code rename_run(struct invocation *in, struct err *e)
{
    return change_sessions(in, "rename", 1, plan_rename, e);
}

static enum err_code plan_tag(struct invocation *in, struct sessions *s,
                              const struct session_ref *ref, struct change *c, struct err *e)
{
    const struct store_ops *ops = ref->store->ops;
    bool none = option_given(&in->options, OPTION_NONE);
    const char *tag = in->argc > 1 ? in->argv[1] : "";
    enum err_code rc = ops->tag ? ERR_OK : unsupported_error(ref, CAN_TAG, "tag", e);

    if (!rc && none == (in->argc > 1))
        rc = err_set(e, ERR_USAGE, "tag", "give either a tag or --none");
    c->text = none ? "tag removed" : arena_format(&c->arena, "tagged %s", tag);
    if (!rc && !c->text)
        rc = err_nomem(e);
    (void)s;
    return rc ? rc : ops->tag(ref->store, ref, slice_of(tag), none, c, e);
}

enum err_code tag_run(struct invocation *in, struct err *e)
{
    return change_sessions(in, "tag", 1, plan_tag, e);
}

static enum err_code plan_archive_mark(struct sessions *s, const struct session_ref *ref,
                                       bool archived, struct change *c, struct err *e)
{
    const struct store_ops *ops = ref->store->ops;
    enum err_code rc =
        ops->archive ? ERR_OK
                     : unsupported_error(ref, CAN_ARCHIVE, archived ? "archive" : "unarchive", e);

    c->text = archived ? "archived" : "unarchived";
    return rc ? rc : ops->archive(ref->store, &s->scope, ref, archived, c, e);
}

static enum err_code plan_archive(struct invocation *in, struct sessions *s,
                                  const struct session_ref *ref, struct change *c, struct err *e)
{
    (void)in;
    return plan_archive_mark(s, ref, true, c, e);
}

static enum err_code plan_unarchive(struct invocation *in, struct sessions *s,
                                    const struct session_ref *ref, struct change *c, struct err *e)
{
    (void)in;
    return plan_archive_mark(s, ref, false, c, e);
}

enum err_code archive_run(struct invocation *in, struct err *e)
{
    return change_sessions(in, "archive", 0, plan_archive, e);
}

enum err_code unarchive_run(struct invocation *in, struct err *e)
{
    return change_sessions(in, "unarchive", 0, plan_unarchive, e);
}
