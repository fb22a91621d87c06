#include "store/systems/entire/read/point.h"

enum err_code point_add(struct point_list *list, struct arena *a, const struct point *p)
{
    struct point *more = arena_grow(a, list->point, list->n, sizeof *more);

    if (!more)
        return ERR_NOMEM;
    list->point = more;
    more[list->n] = *p;
    more[list->n].order = list->n;
    list->n++;
    return ERR_OK;
}

enum err_code entire_problem_add(struct problem_list *list, struct arena *a, const char *path,
                                 const char *why)
{
    struct problem *more = arena_grow(a, list->problem, list->n, sizeof *more);
    struct slice text = slice_of(path);

    if (!more)
        return ERR_NOMEM;
    list->problem = more;
    more[list->n] = (struct problem){ arena_copy(a, text).p, why };
    return more[list->n++].path ? ERR_OK : ERR_NOMEM;
}
