#include "store/api/restore.h"

void restore_fini(struct restore *r)
{
    arena_fini(&r->arena);
    *r = (struct restore){ 0 };
}
