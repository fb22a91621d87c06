#include "tui/changed.h"

#include <stdlib.h>

struct changed *changed_new(enum wish wish)
{
    struct changed *c = calloc(1, sizeof *c);

    if (c)
        c->wish = wish;
    return c;
}

void changed_free(struct changed *c)
{
    if (!c)
        return;
    buf_fini(&c->text);
    name_list_fini(&c->sessions);
    name_list_fini(&c->edited);
    free(c);
}
