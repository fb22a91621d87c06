#include "tui/data/preview.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct preview *preview_new(void)
{
    struct preview *p = calloc(1, sizeof *p);

    if (p)
        atomic_init(&p->holders, 1);
    return p;
}

struct preview *preview_retain(struct preview *p)
{
    atomic_fetch_add(&p->holders, 1);
    return p;
}

void preview_free(struct preview *p)
{
    if (!p || atomic_fetch_sub(&p->holders, 1) != 1)
        return;
    rewind_preview_fini(&p->preview);
    rewind_plan_fini(&p->plan);
    free(p);
}

struct checkpoint_list *preview_checkpoints_new(void)
{
    return calloc(1, sizeof(struct checkpoint_list));
}

void preview_checkpoints_free(struct checkpoint_list *list)
{
    if (list)
        checkpoint_list_fini(list);
    free(list);
}

void preview_comparison_free(struct comparison *c)
{
    if (!c)
        return;
    linediff_fini(&c->diff);
    rewind_sides_fini(&c->sides);
    free(c);
}

struct preview_selection *preview_selection_new(size_t n)
{
    struct preview_selection *p = calloc(1, sizeof *p);

    if (!p)
        return NULL;
    p->n = n;
    p->pick = calloc(n ? n : 1, sizeof *p->pick);
    if (p->pick)
        return p;
    free(p);
    return NULL;
}

static bool *copy_hunks(const bool *from, size_t n)
{
    bool *to = malloc(n ? n : 1);

    if (to && from)
        memcpy(to, from, n);
    else if (to)
        memset(to, true, n);
    return to;
}

struct preview_selection *preview_selection_copy(const struct preview_selection *from)
{
    struct preview_selection *p = preview_selection_new(from->n);

    for (size_t i = 0; p && i < from->n; i++) {
        const struct rewind_selection *pick = &from->pick[i];

        p->pick[i] = *pick;
        p->pick[i].hunk = pick->hunk ? copy_hunks(pick->hunk, pick->hunks) : NULL;
        if (pick->hunk && !p->pick[i].hunk) {
            preview_selection_free(p);
            p = NULL;
        }
    }
    return p;
}

/* The flags are allocated and owned here; they are const only for the engine. */
static bool *mutable_hunks(const bool *hunk)
{
    return (bool *)(uintptr_t)hunk;
}

bool *preview_selection_hunks(struct preview_selection *p, size_t entry, size_t n)
{
    struct rewind_selection *pick = &p->pick[entry];

    if (!pick->hunk || pick->hunks != n) {
        bool *all = copy_hunks(NULL, n);

        if (!all)
            return NULL;
        free(mutable_hunks(pick->hunk));
        pick->hunk = all;
        pick->hunks = n;
    }
    return mutable_hunks(pick->hunk);
}

void preview_selection_free(struct preview_selection *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->n; i++)
        free(mutable_hunks(p->pick[i].hunk));
    free(p->pick);
    free(p);
}
