#include "tui/data/name_list.h"

#include <stdlib.h>
#include <string.h>

#include "lite/base/array.h"

struct name_list *name_list_new(void)
{
    return calloc(1, sizeof(struct name_list));
}

/* Room for one more: 1, 3, 7, ... The array moves when it grows; the old one stays in the arena. */
bool name_list_add(struct name_list *list, struct slice name)
{
    if ((list->n & (list->n + 1)) == 0) {
        struct slice *more = arena_alloc(&list->arena, (list->n * 2 + 1) * sizeof *more);

        if (!more)
            return false;
        if (list->n > 0)
            memcpy(more, list->name, list->n * sizeof *more);
        list->name = more;
    }
    name = arena_copy(&list->arena, name);
    if (!name.p)
        return false;
    list->name[list->n++] = name;
    return true;
}

void name_list_fini(struct name_list *list)
{
    arena_fini(&list->arena);
    *list = (struct name_list){ 0 };
}

void name_list_free(struct name_list *list)
{
    if (!list)
        return;
    name_list_fini(list);
    free(list);
}

struct problem_list *problem_list_new(void)
{
    return calloc(1, sizeof(struct problem_list));
}

bool problem_list_add(struct problem_list *list, const char *system, const struct err *e)
{
    if (!array_reserve(list->problem, list->cap, list->n + 1))
        return false;
    list->problem[list->n++] = (struct problem){ system, *e };
    return true;
}

static bool same_problem(const struct err *a, const struct err *b)
{
    return a->code == b->code && a->sys == b->sys && strcmp(a->path, b->path) == 0 &&
           strcmp(a->text, b->text) == 0;
}

bool problem_list_same(const struct problem_list *a, const struct problem_list *b)
{
    size_t n = a ? a->n : 0;

    if (n != (b ? b->n : 0))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!same_problem(&a->problem[i].err, &b->problem[i].err))
            return false;
    return true;
}

void problem_list_free(struct problem_list *list)
{
    if (!list)
        return;
    free(list->problem);
    free(list);
}
