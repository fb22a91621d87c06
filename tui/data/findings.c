#include "tui/data/findings.h"
#include "lite/base/array.h"

#include <stdlib.h>
#include <string.h>

struct findings *findings_new(void)
{
    return calloc(1, sizeof(struct findings));
}

void findings_free(struct findings *fs)
{
    if (!fs)
        return;
    arena_fini(&fs->list.arena);
    free(fs);
}

enum err_code findings_add(struct findings *fs, const char *system, const struct store *store,
                           const struct finding *f, struct err *e)
{
    const char **more = arena_grow(&fs->list.arena, fs->system, fs->list.n, sizeof *more);
    const struct store **stores =
        arena_grow(&fs->list.arena, fs->store, fs->list.n, sizeof(const struct store *));

    if (!more || !stores)
        return err_nomem(e);
    fs->system = more;
    fs->system[fs->list.n] = system;
    fs->store = stores;
    fs->store[fs->list.n] = store;
    return doctor_list_add(f, &fs->list, e);
}

size_t findings_fixable(const struct findings *fs)
{
    size_t n = 0;

    for (size_t i = 0; i < fs->list.n; i++)
        n += fs->list.finding[i].fixable && !fs->list.finding[i].fixed;
    return n;
}

/* ---- problems ---- */

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

bool problem_list_same(const struct problem_list *a, const struct problem_list *b)
{
    size_t n = a ? a->n : 0;

    if (n != (b ? b->n : 0))
        return false;
    for (size_t i = 0; i < n; i++)
        if (a->problem[i].err.code != b->problem[i].err.code ||
            a->problem[i].err.sys != b->problem[i].err.sys ||
            strcmp(a->problem[i].err.path, b->problem[i].err.path) != 0 ||
            strcmp(a->problem[i].err.text, b->problem[i].err.text) != 0)
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
