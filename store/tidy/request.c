#include "store/tidy/request.h"

static enum err_code check_quiet(const struct session_ref *ref, bool unsure, struct err *e)
{
    struct live live = { .state = LIVE_QUIET };
    enum err_code rc =
        ref->store->ops->live ? ref->store->ops->live(ref->store, ref, &live, e) : ERR_OK;

    if (rc || live.state == LIVE_QUIET || (live.state == LIVE_UNKNOWN && unsure))
        return rc;
    if (live.pid == 0)
        return err_set(e, ERR_LOCKED, ref->path.p, "delete: an agent may be writing to it (%s)",
                       live.why ? live.why : "it is registered");
    return err_set(e, ERR_LOCKED, ref->path.p,
                   "delete: process %ld may be writing to it (%s); end it first", (long)live.pid,
                   live.why ? live.why : "it is registered");
}

enum err_code trash_request_of(const struct session_ref *ref, struct slice title, unsigned what,
                               struct arena *a, struct trash_request *out, struct err *e)
{
    const struct store_ops *ops = ref->store->ops;
    const char **part;
    struct tied_refs tied = { .n = 0 };
    size_t n;

    if (!ops->parts)
        return err_set(e, ERR_UNSUPPORTED, ref->path.p, "delete: %s sessions cannot", ops->name);
    enum err_code rc = check_quiet(ref, what & REQUEST_UNSURE, e);

    if (!rc)
        rc = ops->parts(ref->store, ref, what & REQUEST_ALL, a, &part, &n, e);
    if (!rc && ops->tied)
        rc = ops->tied(ref->store, ref, a, &tied, e);
    if (!rc && n == 0)
        rc = err_set(e, ERR_UNSUPPORTED, ref->path.p, "delete: %s",
                     tied.stays ? tied.stays : "nothing of it can go");
    if (rc)
        return rc;
    *out = (struct trash_request){
        .system = ops->name,
        .store = ref->store->path,
        .id = ref->id,
        .title = title,
        .part = part,
        .parts = n,
        .tied = tied.ref,
        .tieds = tied.n,
        .stays = tied.stays,
    };
    return ERR_OK;
}
