#include "store/api/store.h"

#include <stdlib.h>

#include "store/proc/write_watch.h"

const struct store_ops *const store_systems[] = { &claude_ops, &goat_ops, &exathena_ops,
                                                  &entire_ops, NULL };

const struct store_ops *store_system(struct slice name)
{
    for (size_t i = 0; store_systems[i]; i++) {
        const char *known = store_systems[i]->name;

        if (slice_eq(name, slice_of(known)))
            return store_systems[i];
    }
    return NULL;
}

void store_close(struct store *st)
{
    if (st)
        st->ops->close(st);
}

enum err_code store_live(const struct session_ref *const ref[], size_t n, struct live out[],
                         struct err *e)
{
    enum err_code rc = ERR_OK;

    for (size_t i = 0, run; i < n && !rc; i += run) {
        const struct store *st = ref[i]->store;

        run = 1;
        out[i] = (struct live){ .state = LIVE_QUIET };
        if (st->ops->live_many) {
            while (i + run < n && ref[i + run]->store == st)
                run++;
            rc = st->ops->live_many(st, &ref[i], run, &out[i], e);
        } else if (st->ops->live) {
            rc = st->ops->live(st, ref[i], &out[i], e);
        }
    }
    return rc ? rc : write_watch_run(ref, n, out, e);
}
