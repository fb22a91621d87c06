#include "tui/data/change_request.h"

#include <stdlib.h>

struct change_result *change_result_new(enum change_request request)
{
    struct change_result *c = calloc(1, sizeof *c);

    if (c)
        c->request = request;
    return c;
}

void change_result_free(struct change_result *c)
{
    if (!c)
        return;
    buf_fini(&c->text);
    name_list_fini(&c->sessions);
    name_list_fini(&c->edited);
    free(c);
}
