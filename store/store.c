#include "store/store.h"

#include <stdlib.h>

const struct store_ops *const store_systems[] = { &claude_ops, &goat_ops, &exathena_ops,
                                                  &entire_ops, NULL };

const struct store_ops *store_system(struct slice name)
{
    for (size_t i = 0; store_systems[i]; i++) {
        const char *known = store_systems[i]->name;

        if (slice_eq(name, (struct slice){ known, strlen(known) }))
            return store_systems[i];
    }
    return NULL;
}

void store_close(struct store *st)
{
    if (st)
        st->ops->close(st);
}
