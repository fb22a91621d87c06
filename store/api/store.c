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
