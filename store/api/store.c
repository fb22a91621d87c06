#include "store/api/store.h"

bool store_has_size(const struct session_ref *ref)
{
    return ref->file.size > 0 || !(ref->store->ops->remote || ref->store->ops->unsized);
}

void store_close(struct store *st)
{
    if (st)
        st->ops->close(st);
}

enum err_code store_open_named(const struct store_ops *ops, const struct store_env *env,
                               const char *path, const char *name, struct arena *a,
                               struct store **out, struct err *e)
{
    struct store_ops *own = arena_alloc(a, sizeof *own);

    if (!own)
        return err_nomem(e);
    *own = *ops;
    own->name = arena_copy_text(a, name);
    own->format = ops->name;
    if (!own->name)
        return err_nomem(e);
    enum err_code rc = ops->open(env, path, out, e);

    if (!rc)
        (*out)->ops = own;
    return rc;
}

const char *store_format(const struct store_ops *ops)
{
    return ops->format ? ops->format : ops->name;
}

const char *store_unsupported_reason(const struct store_ops *ops, unsigned ability)
{
    return ops->unsupported ? ops->unsupported(ability) : NULL;
}

enum err_code store_unsupported_error(const struct session_ref *ref, unsigned ability,
                                      const char *what, struct err *e)
{
    const struct store_ops *ops = ref->store->ops;
    const char *why = store_unsupported_reason(ops, ability);

    return why ? err_set(e, ERR_UNSUPPORTED, ref->path.p, "%s: %s", what, why)
               : err_set(e, ERR_UNSUPPORTED, ref->path.p, "%s: %s sessions cannot", what,
                         ops->name);
}
