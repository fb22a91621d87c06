#include "store/rewind/apply/reach.h"

#include <string.h>
#include <unistd.h>

#include "store/rewind/plan/beneath.h"

static enum err_code open_root(struct reach *r, const struct rewind_tx_entry *x, struct err *e)
{
    if (r->root && strcmp(r->root, x->root) == 0)
        return ERR_OK;
    reach_fini(r);
    enum err_code rc = beneath_same_root(x->root, x->root_id, &r->fd, e);

    if (!rc)
        r->root = x->root;
    return rc;
}

enum err_code reach_dir(struct reach *r, const struct rewind_tx_entry *x, int *dir,
                        const char **name, struct err *e)
{
    enum err_code rc = open_root(r, x, e);

    return rc ? rc : beneath_parent(r->fd, x->root, x->path, dir, name, e);
}

enum err_code reach_make_dir(struct reach *r, const struct rewind_tx_entry *x, struct dirs *like,
                             int *dir, const char **name, struct err *e)
{
    enum err_code rc = open_root(r, x, e);

    return rc ? rc : beneath_make_parent(r->fd, x->root, x->path, like, dir, name, e);
}

void reach_fini(struct reach *r)
{
    if (r->root)
        close(r->fd);
    r->root = NULL;
}
