#include "store/systems/entire/rewind/concurrent_sessions.h"

#include <stdlib.h>
#include <string.h>

#include "store/systems/entire/rewind/turn.h"

enum { ID_SHOWN = 8, DATED_SHOWN = 19 };

/* ---- who is there ---- */

static bool shares(const struct entire_state *mine, const struct entire_state *other)
{
    return other && other != mine && slice_eq(other->base, mine->base) &&
           slice_eq(other->worktree_id, mine->worktree_id);
}

bool entire_concurrent_is_active(const struct entire_state *mine, const struct entire_state *other)
{
    return shares(mine, other) && other->phase == PHASE_ACTIVE;
}

static bool has_work(const struct entire_state *mine, const struct entire_state *other)
{
    return shares(mine, other) && other->phase != PHASE_ENDED && other->checkpoint_count > 0;
}

const char *entire_concurrent_note(const struct catalog *c, const struct catalog_session *s,
                                   struct arena *a)
{
    const struct entire_state *one = NULL;
    size_t n = 0;

    for (size_t i = 0; s->state && i < c->n; i++) {
        const struct entire_state *other = c->session[i].state;
        bool active = entire_concurrent_is_active(s->state, other);

        if (!active && !has_work(s->state, other))
            continue;
        if (!one || (active && one->phase != PHASE_ACTIVE))
            one = other; /* one at work is the one to name */
        n++;
    }
    if (n == 0)
        return NULL;
    size_t most =
        one->id.n > 4 && one->id.p[4] == '-' ? DATED_SHOWN : ID_SHOWN; /* 2026-01-06-... */
    int shown = (int)(one->id.n < most ? one->id.n : most);
    const char *does = one->phase == PHASE_ACTIVE ? "is at work" : "has checkpoints not committed";

    return n == 1 ? arena_format(a, "another session shares this work tree: %.*s %s", shown,
                                 one->id.p, does)
                  : arena_format(a, "%zu other sessions share this work tree: %.*s %s", n, shown,
                                 one->id.p, does);
}

/* ---- what they changed ---- */

struct naming {
    const struct planning *p;
    struct rewind_plan *plan;
    struct rewind_target **sorted; /* by path */
    enum err_code rc;
};

static int compare_target_path(const void *x, const void *y)
{
    return strcmp((*(struct rewind_target *const *)x)->path,
                  (*(struct rewind_target *const *)y)->path);
}

static struct rewind_target *find_named_target(struct naming *x, const char *name)
{
    struct arena a = { 0 };
    struct rewind_target key = { .path = arena_format(&a, "%s/%s", x->p->view.root, name) };
    struct rewind_target *at = &key, **found = NULL;

    if (key.path)
        found = bsearch(&at, x->sorted, x->plan->n, sizeof *x->sorted, compare_target_path);
    else
        x->rc = ERR_NOMEM;
    arena_fini(&a);
    return found ? *found : NULL;
}

static void name_file(struct naming *x, const struct point *by, const char *file)
{
    const struct catalog_session *s = catalog_find(x->p->view.catalog, by->session);
    struct arena *a = &x->plan->arena;
    struct rewind_target *t = find_named_target(x, file);

    if (!t || (t->other && t->other->at_ms >= by->time_ms))
        return;
    struct rewind_other *other = arena_zalloc(a, sizeof *other);

    if (other) {
        *other =
            (struct rewind_other){ .session = arena_copy(a, by->session).p, .at_ms = by->time_ms };
        if (s && s->state && s->state->first_prompt.n)
            other->title = arena_copy(a, s->state->first_prompt).p;
    }
    if (!other || !other->session)
        x->rc = ERR_NOMEM;
    t->other = other;
}

/* A step that cannot be read (a hole in the objects) changed nothing that we know of. */
static void name_step(struct naming *x, const struct point *by)
{
    struct turn_diff t;

    if (turn_diff_open(&x->p->view, by, NULL, &t))
        for (size_t i = 0; i < git_diff_num_deltas(t.diff) && !x->rc; i++)
            name_file(x, by, git_diff_get_delta(t.diff, i)->new_file.path);
    turn_diff_close(&t);
}

/* On the same branch, of somebody else, and later: a branch was walked from its tip. */
static bool is_later(const struct point *p, const struct point *by)
{
    return by->source == POINT_SHADOW && slice_eq(by->branch, p->branch) && by->session.n &&
           !slice_eq(by->session, p->session) && by->order < p->order;
}

enum err_code entire_concurrent_mark(const struct planning *p, struct rewind_plan *plan,
                                     struct err *e)
{
    const struct point_list *all = &p->view.catalog->points;
    struct naming x = { .p = p, .plan = plan };

    if (p->point->source != POINT_SHADOW || plan->n == 0)
        return ERR_OK;
    x.sorted = malloc(plan->n * sizeof *x.sorted);
    if (!x.sorted)
        return err_nomem(e);
    for (size_t i = 0; i < plan->n; i++)
        x.sorted[i] = &plan->target[i];
    qsort(x.sorted, plan->n, sizeof *x.sorted, compare_target_path);
    for (size_t i = 0; i < all->n && !x.rc; i++)
        if (is_later(p->point, &all->point[i]))
            name_step(&x, &all->point[i]);
    free(x.sorted);
    return x.rc ? err_nomem(e) : ERR_OK;
}
