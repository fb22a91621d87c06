#include <stdlib.h>
#include <string.h>

#include "store/api/edit.h"
#include "store/api/store.h"
#include "store/rewind/plan/plan.h"

/* Other sessions that changed the files of a plan after its point. Those of the same store are found by their
 * checkpoints: one is made before a session's first edit of a file in a turn, so its time is that of the session's work
 * on its files. Those of other stores are found by the edits that they record. */

enum { SESSIONS_MAX = 32, BYTES_MAX = 256 << 20 };

struct other_sessions {
    const struct session_ref *mine;
    struct rewind_plan *plan;
    struct rewind_target **sorted; /* by path */
    const atomic_bool *cancel;     /* may be NULL */
    struct arena arena;
    struct session_ref *young; /* younger than the point, the newest first */
    size_t n;
    bool no_memory;
};

/* ---- which sessions ---- */

static bool add_young(const struct session_ref *ref, void *arg)
{
    struct other_sessions *r = arg;
    const struct store_ops *ops = ref->store->ops, *own = r->mine->store->ops;

    /* The system of the agent knows Entire's sessions by the same id. */
    if (slice_eq(ops->agent_id ? ops->agent_id(ref->id) : ref->id,
                 own->agent_id ? own->agent_id(r->mine->id) : r->mine->id) ||
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

static int other_sessions_newest_first(const void *x, const void *y)
{
    const int64_t a = session_recent_ns(x), b = session_recent_ns(y);

    return (a < b) - (a > b);
}

/* Adds those of a store. */
static enum err_code other_sessions_find_young(struct other_sessions *r, const struct store *st,
                                               struct err *e)
{
    enum err_code rc = st->ops->enumerate(st, &(struct scope){ .all = true }, add_young, r, NULL);

    if (r->no_memory || rc == ERR_NOMEM)
        return err_nomem(e);
    if (r->n)
        qsort(r->young, r->n, sizeof *r->young, other_sessions_newest_first);
    if (r->n > SESSIONS_MAX)
        r->n = SESSIONS_MAX;
    return ERR_OK;
}

/* ---- what they did ---- */

static int other_sessions_compare_target_path(const void *x, const void *y)
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
    qsort(r->sorted, r->plan->n, sizeof *r->sorted, other_sessions_compare_target_path);
    return true;
}

static struct rewind_target *other_sessions_find_target(const struct other_sessions *r,
                                                        const char *path)
{
    const struct rewind_target wanted = { .path = path }, *key = &wanted;
    struct rewind_target **found =
        bsearch(&key, r->sorted, r->plan->n, sizeof *r->sorted, other_sessions_compare_target_path);

    return found ? *found : NULL;
}

/* A state that a session found after another one had changed the file is not that of the point. */
static void doubt_late(struct rewind_target *t, int64_t at_ms)
{
    if (t && t->is_late && t->want != REWIND_UNKNOWN && at_ms < t->found_ms)
        t->doubt = "another session changed it before this one first did";
}

static bool is_newer(const struct rewind_target *t, int64_t at_ms)
{
    return t && (!t->other || t->other->at_ms < at_ms);
}

/* The session as a target names it, in the plan's arena. NULL if out of memory. */
static struct rewind_other *name_other_session(const struct other_sessions *r,
                                               const struct session_ref *ref, int64_t at_ms)
{
    const struct scope everywhere = { .all = true };
    struct arena *a = &r->plan->arena;
    struct rewind_other *other = arena_alloc(a, sizeof *other);
    struct session_row *row = session_row_new();

    if (other && row) {
        *other = (struct rewind_other){ .session = arena_copy(a, ref->id).p, .at_ms = at_ms };
        if (ref->store != r->mine->store)
            other->system = arena_copy_text(a, ref->store->ops->name);
        other->ref = session_ref_keep(a, ref);
        if (ref->store->ops->describe(ref->store, &everywhere, ref, row, NULL) == ERR_OK &&
            row->summary.n)
            other->title = arena_copy(a, row->summary).p;
    }
    bool ok = other && row && other->session && other->ref;

    session_row_free(row);
    return ok ? other : NULL;
}

/* The files that one turn of another session changed. If the system's own rule goes back further
 * than the point, the inferred plan does not. */
static enum err_code note_changes_of_turn(const struct other_sessions *r,
                                          const struct session_ref *ref, const struct checkpoint *c,
                                          struct err *e)
{
    const struct store *st = ref->store;
    struct rewind_plan theirs = { 0 };
    struct rewind_other *other = NULL;
    enum err_code rc = (st->ops->plan_inferred ? st->ops->plan_inferred
                                               : st->ops->plan)(st, ref, c->id, &theirs, NULL);

    if (rc)
        return rc == ERR_NOMEM ? err_nomem(e) : ERR_OK;
    for (size_t i = 0; i < theirs.n && !rc; i++) {
        struct rewind_target *t = other_sessions_find_target(r, theirs.target[i].path);

        if (!st->ops->edits)
            doubt_late(t, c->time_ms);
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

static enum err_code note_changes_of_session(const struct other_sessions *r,
                                             const struct session_ref *ref, struct err *e)
{
    struct checkpoint_list list = { 0 };
    enum err_code rc = ref->store->ops->checkpoints(ref->store, ref, &list, NULL);

    if (rc)
        return rc == ERR_NOMEM ? err_nomem(e) : ERR_OK;
    for (size_t i = 0; i < list.n && !rc; i++) {
        const struct checkpoint *c = &list.checkpoint[i];

        if (c->kind != CHECKPOINT_SESSION_END && c->files && !c->why && !c->copied &&
            c->time_ms != TIME_NONE && c->time_ms > r->plan->point_ms)
            rc = note_changes_of_turn(r, ref, c, e);
    }
    checkpoint_list_fini(&list);
    return rc;
}

static enum err_code read_young(struct other_sessions *r,
                                enum err_code (*take)(const struct other_sessions *r,
                                                      const struct session_ref *ref, struct err *e),
                                struct err *e)
{
    enum err_code rc = ERR_OK;
    int64_t bytes = 0;

    for (size_t i = 0; i < r->n && !rc; i++) {
        bytes += r->young[i].file.size;
        rc = bytes <= BYTES_MAX ? take(r, &r->young[i], e) : ERR_OK;
    }
    return rc;
}

/* ---- what they recorded ---- */

/* One session, which records what it did to files. */
struct reading_edits {
    const struct other_sessions *all;
    const struct session_ref *ref;
    const struct rewind_other *other; /* its name and title; NULL until it changed a file */
};

static enum err_code note_edit(const struct edit *edit, void *arg, struct err *e)
{
    struct reading_edits *r = arg;
    const char *const path[] = { edit->path, edit->kind == EDIT_RENAME ? edit->to : NULL };

    if (edit->kind == EDIT_SEEN || edit->copied || edit->time_ms <= r->all->plan->point_ms)
        return ERR_OK;
    for (size_t i = 0; i < 2 && path[i]; i++) {
        struct rewind_target *t = other_sessions_find_target(r->all, path[i]);

        doubt_late(t, edit->time_ms);
        if (!is_newer(t, edit->time_ms))
            continue;
        if (!r->other && !(r->other = name_other_session(r->all, r->ref, edit->time_ms)))
            return err_nomem(e);
        struct rewind_other *other = arena_alloc(&r->all->plan->arena, sizeof *other);

        if (!other)
            return err_nomem(e);
        *other = *r->other;
        other->at_ms = edit->time_ms;
        t->other = other;
    }
    return ERR_OK;
}

static enum err_code note_edits(const struct other_sessions *r, const struct session_ref *ref,
                                struct err *e)
{
    struct reading_edits reading = { .all = r, .ref = ref };
    struct edit_query q = { .paths = r->plan->n, .files_only = true, .cancel = r->cancel };
    const char **path = arena_alloc(&r->plan->arena, r->plan->n * sizeof *path);

    if (!path)
        return err_nomem(e);
    for (size_t i = 0; i < r->plan->n; i++)
        path[i] = r->plan->target[i].path;
    q.path = path;
    enum err_code rc = ref->store->ops->edits(ref->store, ref, &q, note_edit, &reading, NULL);

    return rc == ERR_NOMEM       ? err_nomem(e)
           : rc == ERR_CANCELLED ? err_set(e, rc, ref->path.p, "read the edits of other sessions")
                                 : ERR_OK;
}

enum err_code rewind_concurrent_sessions(const struct session_ref *ref, struct rewind_plan *plan,
                                         struct err *e)
{
    const struct store_ops *ops = ref->store->ops;
    struct other_sessions r = { .mine = ref, .plan = plan };
    enum err_code rc = ERR_OK;
    bool late = false;

    if (ops->finds_other_sessions || !ops->checkpoints || !ops->enumerate || plan->n == 0 ||
        plan->point_ms == TIME_NONE)
        return ERR_OK;
    if (!sort_targets(&r))
        rc = err_nomem(e);
    if (!rc)
        rc = other_sessions_find_young(&r, ref->store, e);
    if (!rc)
        rc = read_young(&r, note_changes_of_session, e);
    for (size_t i = 0; i < plan->n; i++)
        late |= plan->target[i].is_late;
    if (!rc && ops->edits && late)
        rc = read_young(&r, note_edits, e);
    arena_fini(&r.arena);
    return rc;
}

/* ---- sessions of other stores ---- */

enum err_code rewind_other_stores(struct store *const store[], size_t n,
                                  const struct session_ref *ref, const atomic_bool *cancel,
                                  struct rewind_plan *plan, struct err *e)
{
    struct other_sessions r = { .mine = ref, .plan = plan, .cancel = cancel };
    enum err_code rc = ERR_OK;

    if (plan->n == 0 || plan->point_ms == TIME_NONE)
        return ERR_OK;
    if (!sort_targets(&r))
        rc = err_nomem(e);
    for (size_t i = 0; i < n && !rc;
         /* Entire records other agents, whose own stores have better records. */
         i++)
        if (store[i] != ref->store && !store[i]->ops->remote && store[i]->ops->enumerate &&
            store[i]->ops->edits && !store[i]->ops->agent)
            rc = other_sessions_find_young(&r, store[i], e);
    if (!rc)
        rc = read_young(&r, note_edits, e);
    arena_fini(&r.arena);
    return rc;
}
