#include "store/rewind/plan/concurrent_sessions.h"

#include <stdlib.h>
#include <string.h>

#include "store/api/store.h"

/* A checkpoint is made before a session's first edit of a file in a turn: its time is that of the session's work on the
 * files that it has. */

enum { SESSIONS_MAX = 32, BYTES_MAX = 256 << 20 };

struct other_sessions {
    const struct session_ref *mine;
    struct rewind_plan *plan;
    struct rewind_target **sorted; /* by path */
    struct arena arena;
    struct session_ref *young; /* younger than the point, the newest first */
    size_t n;
    bool no_memory;
};

/* ---- which sessions ---- */

static bool take_young(const struct session_ref *ref, void *arg)
{
    struct other_sessions *r = arg;

    if (slice_eq(ref->id, r->mine->id) ||
        session_recent_ns(ref) <= time_ns_of_ms(r->plan->point_ms))
        return true;
    struct session_ref *more = arena_grow(&r->arena, r->young, r->n, sizeof *more);

    r->no_memory = !more || !session_ref_copy(&r->arena, ref, &more[r->n]);
    if (r->no_memory)
        return false;
    r->young = more;
    r->n++;
    return true;
}

static int newest_first(const void *x, const void *y)
{
    const int64_t a = session_recent_ns(x), b = session_recent_ns(y);

    return (a < b) - (a > b);
}

static enum err_code find_young(struct other_sessions *r, struct err *e)
{
    const struct store *st = r->mine->store;
    enum err_code rc = st->ops->enumerate(st, &(struct scope){ .all = true }, take_young, r, NULL);

    if (r->no_memory || rc == ERR_NOMEM)
        return err_nomem(e);
    if (r->n)
        qsort(r->young, r->n, sizeof *r->young, newest_first);
    if (r->n > SESSIONS_MAX)
        r->n = SESSIONS_MAX;
    return ERR_OK;
}

/* ---- what they did ---- */

static int compare_target_path(const void *x, const void *y)
{
    const struct rewind_target *const *a = x, *const *b = y;

    return strcmp((*a)->path, (*b)->path);
}

static bool sort_targets(struct other_sessions *r)
{
    r->sorted = arena_alloc(&r->arena, r->plan->n * sizeof *r->sorted);
    if (!r->sorted)
        return false;
    for (size_t i = 0; i < r->plan->n; i++)
        r->sorted[i] = &r->plan->target[i];
    qsort(r->sorted, r->plan->n, sizeof *r->sorted, compare_target_path);
    return true;
}

static struct rewind_target *find_target(const struct other_sessions *r, const char *path)
{
    const struct rewind_target wanted = { .path = path }, *key = &wanted;
    struct rewind_target **found =
        bsearch(&key, r->sorted, r->plan->n, sizeof *r->sorted, compare_target_path);

    return found ? *found : NULL;
}

static bool is_newer(const struct rewind_target *t, int64_t at_ms)
{
    return t && (!t->other || t->other->at_ms < at_ms);
}

/* The session as a target names it; in the plan's arena. NULL without memory. */
static struct rewind_other *name_other_session(const struct other_sessions *r,
                                               const struct session_ref *ref, int64_t at_ms)
{
    const struct scope everywhere = { .all = true };
    struct arena *a = &r->plan->arena;
    struct rewind_other *other = arena_alloc(a, sizeof *other);
    struct session_row *row = session_row_new();

    if (other && row) {
        *other = (struct rewind_other){ .session = arena_copy(a, ref->id).p, .at_ms = at_ms };
        if (ref->store->ops->describe(ref->store, &everywhere, ref, row, NULL) == ERR_OK &&
            row->summary.n)
            other->title = arena_copy(a, row->summary).p;
    }
    bool ok = other && row && other->session;

    session_row_free(row);
    return ok ? other : NULL;
}

/* What one turn of another session worked on. Where the system's own rule goes back further than to the point, what can be
 * inferred does not. */
static enum err_code take_point(const struct other_sessions *r, const struct session_ref *ref,
                                const struct checkpoint *c, struct err *e)
{
    const struct store *st = ref->store;
    struct rewind_plan theirs = { 0 };
    struct rewind_other *other = NULL;
    enum err_code rc = (st->ops->plan_inferred ? st->ops->plan_inferred
                                               : st->ops->plan)(st, ref, c->id, &theirs, NULL);

    if (rc)
        return rc == ERR_NOMEM ? err_nomem(e) : ERR_OK;
    for (size_t i = 0; i < theirs.n && !rc; i++) {
        struct rewind_target *t = find_target(r, theirs.target[i].path);

        if (!is_newer(t, c->time_ms))
            continue;
        if (!other && !(other = name_other_session(r, ref, c->time_ms)))
            rc = err_nomem(e);
        if (!rc)
            t->other = other;
    }
    rewind_plan_fini(&theirs);
    return rc;
}

static enum err_code take_session(const struct other_sessions *r, const struct session_ref *ref,
                                  struct err *e)
{
    struct checkpoint_list list = { 0 };
    enum err_code rc = ref->store->ops->checkpoints(ref->store, ref, &list, NULL);

    if (rc)
        return rc == ERR_NOMEM ? err_nomem(e) : ERR_OK;
    for (size_t i = 0; i < list.n && !rc; i++) {
        const struct checkpoint *c = &list.checkpoint[i];

        if (c->kind != CHECKPOINT_SESSION_END && c->files && !c->why && c->time_ms != TIME_NONE &&
            c->time_ms > r->plan->point_ms)
            rc = take_point(r, ref, c, e);
    }
    checkpoint_list_fini(&list);
    return rc;
}

enum err_code rewind_concurrent_sessions(const struct session_ref *ref, struct rewind_plan *plan,
                                         struct err *e)
{
    const struct store_ops *ops = ref->store->ops;
    struct other_sessions r = { .mine = ref, .plan = plan };
    enum err_code rc = ERR_OK;
    int64_t bytes = 0;

    if (ops->names_others || !ops->checkpoints || !ops->enumerate || plan->n == 0 ||
        plan->point_ms == TIME_NONE)
        return ERR_OK;
    if (!sort_targets(&r))
        rc = err_nomem(e);
    if (!rc)
        rc = find_young(&r, e);
    for (size_t i = 0; i < r.n && !rc; i++) {
        bytes += r.young[i].file.size;
        rc = bytes <= BYTES_MAX ? take_session(&r, &r.young[i], e) : ERR_OK;
    }
    arena_fini(&r.arena);
    return rc;
}
