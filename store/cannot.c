#include "store/cannot.h"

#include "store/store.h"

const char *store_cannot(const struct store_ops *ops, unsigned ability)
{
    return ops->cannot ? ops->cannot(ability) : NULL;
}

enum err_code store_refuse(const struct session_ref *ref, unsigned ability, const char *what,
                           struct err *e)
{
    const struct store_ops *ops = ref->store->ops;
    const char *why = store_cannot(ops, ability);

    return why ? err_set(e, ERR_UNSUPPORTED, ref->path.p, "%s: %s", what, why)
               : err_set(e, ERR_UNSUPPORTED, ref->path.p, "%s: %s sessions cannot", what,
                         ops->name);
}
