#include "tui/data/findings.h"

#include <stdlib.h>

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

enum err_code findings_add(struct findings *fs, const char *system, const struct finding *f,
                           struct err *e)
{
    const char **more = arena_grow(&fs->list.arena, fs->system, fs->list.n, sizeof *more);

    if (!more)
        return err_nomem(e);
    fs->system = more;
    fs->system[fs->list.n] = system;
    return doctor_list_add(f, &fs->list, e);
}

size_t findings_fixable(const struct findings *fs)
{
    size_t n = 0;

    for (size_t i = 0; i < fs->list.n; i++)
        n += fs->list.finding[i].fixable && !fs->list.finding[i].fixed;
    return n;
}
