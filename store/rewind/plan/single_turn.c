#include "store/rewind/plan/by_snapshots.h"
#include "store/rewind/plan/plan.h"

#include <string.h>

#include "lite/base/slice.h"
#include "store/api/store.h"
#include "store/rewind/diff/linediff.h"
#include "store/rewind/plan/source.h"

/* A turn is between two points: the files as they were at its own point, and at the next one (or,
 * for the newest turn, as the session last left them). If points come after their turns, the system
 * itself reports the files before and after a turn. */
struct turn_removal {
    struct rewind_plan *plan; /* that is made */
    struct source_content found, left;
    struct rewind_inspected look;
};

/* ---- one file ---- */

static enum err_code add_conflict(struct turn_removal *o, const struct rewind_target *found,
                                  const char *why, struct err *e)
{
    struct rewind_target t = *found;

    t.want = REWIND_UNKNOWN;
    t.conflict = true;
    t.why = why;
    return rewind_plan_add(o->plan, &t, e);
}

/* A NULL source means that the file should not exist. */
static enum err_code add_single_target(struct turn_removal *o, const struct rewind_target *found,
                                       const struct rewind_source *source, struct err *e)
{
    struct rewind_target t = *found;
    bool exists = o->look.seen.exists;
    char seen[SHA256_BYTES * 2 + 1];

    /* An existing file keeps its mode; the bytes that were read are what the preview must find. */
    t.has_mode = t.has_mode && !exists;
    hasher_hex(o->look.seen.sha256, seen);
    t.has_last = true;
    t.last_absent = !exists;
    t.last = (struct rewind_source){ .sha256 = seen };
    t.want = source ? REWIND_BYTES : REWIND_ABSENT;
    t.source = source ? *source : (struct rewind_source){ 0 };
    return rewind_plan_add(o->plan, &t, e);
}

/* Returns true if the present file is what the session last knew, so that no part of it that a
 * merge keeps is a person's. */
static bool is_last_known(const struct turn_removal *o, const struct rewind_target *found)
{
    struct source_content last = { 0 };
    char seen[SHA256_BYTES * 2 + 1];
    bool same = false;

    hasher_hex(o->look.seen.sha256, seen);
    if (found->has_last && !found->last_absent && found->last.sha256)
        same = strcmp(seen, found->last.sha256) == 0;
    else if (found->has_last && !found->last_absent)
        same = source_read(&found->last, &o->look.present, &last, NULL) == ERR_OK &&
               source_content_same(&o->look.present, &last);
    source_content_fini(&last);
    return same;
}

static enum err_code merge_target(struct turn_removal *o, const struct rewind_target *found,
                                  bool left_absent, struct err *e)
{
    bool found_absent = found->want == REWIND_ABSENT;

    /* nothing came after it: like an ordinary rewind */
    if (left_absent || !o->look.seen.exists ? left_absent && !o->look.seen.exists
                                            : source_content_same(&o->look.present, &o->left))
        return add_single_target(o, found, found_absent ? NULL : &found->source, e);
    if (found_absent == !o->look.seen.exists &&
        (found_absent || source_content_same(&o->look.present, &o->found)))
        return ERR_OK; /* it was undone already */
    if (left_absent)
        return add_conflict(o, found, "this turn deleted it, and a new file is there now", e);
    if (found_absent)
        return add_conflict(o, found, "this turn created it, and it was changed since", e);
    if (!o->look.seen.exists)
        return add_conflict(o, found, "it was deleted since", e);
    if (o->found.kind || o->left.kind || o->look.present.kind)
        return add_conflict(o, found, "it is another link, or another kind of file, since", e);
    if (!o->found.held || !o->left.held || !o->look.present.held)
        return add_conflict(o, found, "it is too large to be merged", e);

    /* The turn and what came later both changed it, so the turn's changes alone are taken out. */
    struct rewind_source merged = { 0 };
    struct rewind_target t = *found;
    bool clean;
    enum err_code rc =
        linediff_merge(buf_slice(&o->left.bytes), buf_slice(&o->look.present.bytes),
                       buf_slice(&o->found.bytes), &o->plan->arena, &merged.bytes, &clean, e);

    if (rc)
        return rc;
    t.mixed = !is_last_known(o, found);
    return clean ? add_single_target(o, &t, &merged, e)
                 : add_conflict(o, found,
                                "later changes overlap this turn's: it cannot be undone "
                                "alone",
                                e);
}

/* ---- the turn's own files ---- */

/* The file as the turn left it: at the next point, or as the session knows. If source.file and
 * bytes are NULL, only the hash is known. */
struct left {
    bool known, absent;
    const struct rewind_source *source;
};

/* The files of the next point by their paths, each path once. */
struct next {
    const struct rewind_plan *plan; /* may be NULL */
    struct slice_set path;
    size_t *first; /* by number: the target */
};

static enum err_code next_init(struct next *next, const struct rewind_plan *plan, struct arena *a,
                               struct err *e)
{
    uint32_t number;

    *next = (struct next){ .plan = plan };
    if (!plan)
        return ERR_OK;
    next->first = arena_alloc(a, sizeof *next->first * (plan->n + 1));
    if (!next->first)
        return err_nomem(e);
    for (size_t i = 0; i < plan->n; i++) {
        size_t before = next->path.n;

        if (slice_set_add(&next->path, slice_of(plan->target[i].path), &number))
            return err_nomem(e);
        if (next->path.n > before)
            next->first[number] = i;
    }
    return ERR_OK;
}

static enum err_code single_turn_read_both(struct turn_removal *o,
                                           const struct rewind_target *found,
                                           const struct left *left, const char **why, struct err *e)
{
    struct err ignored;
    enum err_code rc = ERR_OK;

    *why = NULL;
    if (found->want == REWIND_BYTES)
        rc = source_read(&found->source, NULL, &o->found, &ignored);
    if (!rc && !left->absent)
        rc = source_read(left->source, NULL, &o->left, &ignored);
    if (rc == ERR_NOMEM)
        return err_nomem(e);
    if (rc)
        *why = "a saved copy of it is missing or damaged";
    return ERR_OK;
}

static enum err_code single_turn_plan_file(struct turn_removal *o,
                                           const struct rewind_target *found,
                                           const struct left *left, struct err *e)
{
    const char *why;

    if (found->want == REWIND_UNKNOWN)
        return rewind_plan_add(o->plan, found, e);
    if (found->doubt)
        return add_conflict(o, found, found->doubt, e);
    if (!left->known)
        return add_conflict(o, found, "its content after this turn is unknown", e);
    enum err_code rc = single_turn_read_both(o, found, left, &why, e);

    if (rc || why)
        return rc ? rc : add_conflict(o, found, why, e);
    const bool found_absent = found->want == REWIND_ABSENT;

    if (left->absent || found_absent ? left->absent && found_absent
                                     : source_content_same(&o->found, &o->left))
        return ERR_OK; /* the turn did not change it */
    TRY(rewind_inspect(o->plan, found, &o->look, e));
    /* The preview refuses what it cannot compare. */
    return o->look.rule && !(found->exact && rewind_inspected_has_kind(&o->look))
               ? rewind_plan_add(o->plan, found, e)
               : merge_target(o, found, left->absent, e);
}

static enum err_code plan_files(struct turn_removal *o, const struct rewind_plan *found,
                                const struct rewind_plan *behind, struct err *e)
{
    struct next next;
    enum err_code rc = next_init(&next, behind, &o->plan->arena, e);

    for (size_t i = 0; i < found->n && !rc; i++) {
        const struct rewind_target *t = &found->target[i];
        struct left left = { t->has_last, t->last_absent, &t->last };

        if (behind) {
            uint32_t number = slice_set_find(&next.path, slice_of(t->path));

            left = (struct left){ .known = false };
            if (number != SLICE_SET_NONE) {
                const struct rewind_target *x = &next.plan->target[next.first[number]];

                left = (struct left){ x->want != REWIND_UNKNOWN && !x->doubt,
                                      x->want == REWIND_ABSENT, &x->source };
            }
        }
        rc = single_turn_plan_file(o, t, &left, e);
    }
    slice_set_fini(&next.path);
    source_content_fini(&o->found);
    source_content_fini(&o->left);
    rewind_inspected_fini(&o->look);
    return rc;
}

/* ---- the plan ---- */

/* The point after this one; empty if this one is the newest. */
static enum err_code find_next(const struct session_ref *ref, const char *point, struct arena *a,
                               struct slice *next, struct err *e)
{
    CLEANUP(checkpoint_list_fini) struct checkpoint_list list = { 0 };
    const struct slice id = slice_of(point);

    *next = (struct slice){ NULL, 0 };
    TRY(ref->store->ops->checkpoints(ref->store, ref, &list, e));
    for (size_t i = 0; i + 1 < list.n; i++)
        if (slice_eq(list.checkpoint[i].id, id))
            NEED((*next = arena_copy(a, list.checkpoint[i + 1].id)).p);
    return ERR_OK;
}

static enum err_code begin_turn_plan(const struct rewind_plan *found, struct rewind_plan *plan,
                                     struct err *e)
{
    const char *const from[] = { found->session, found->point, found->root };
    const char **const to[] = { &plan->session, &plan->point, &plan->root };

    plan->system = found->system;
    plan->before = found->before;
    plan->wide = found->wide;
    plan->point_ms = found->point_ms;
    for (size_t i = 0; i < sizeof from / sizeof *from; i++) {
        *to[i] = from[i] ? arena_format(&plan->arena, "%s", from[i]) : NULL;
        if (from[i] && !*to[i])
            return err_nomem(e);
    }
    return ERR_OK;
}

static enum err_code between_points(const struct session_ref *ref, struct slice point,
                                    struct turn_removal *o, struct err *e)
{
    const struct store_ops *ops = ref->store->ops;
    CLEANUP(rewind_plan_fini) struct rewind_plan found = { 0 };
    CLEANUP(rewind_plan_fini) struct rewind_plan next = { 0 };
    struct slice behind;

    TRY(ops->plan(ref->store, ref, point, &found, e));
    TRY(find_next(ref, found.point, &o->plan->arena, &behind, e));
    if (behind.p)
        TRY(ops->plan(ref->store, ref, behind, &next, e));
    TRY(begin_turn_plan(&found, o->plan, e));
    return plan_files(o, &found, behind.p ? &next : NULL, e);
}

static enum err_code by_system(const struct session_ref *ref, struct slice point,
                               struct turn_removal *o, struct err *e)
{
    CLEANUP(rewind_plan_fini) struct rewind_plan found = { 0 };

    TRY(ref->store->ops->plan_turn(ref->store, ref, point, &found, e));
    TRY(begin_turn_plan(&found, o->plan, e));
    for (size_t i = 0; i < found.notes; i++)
        TRY(rewind_plan_note(o->plan, found.note[i], e));
    return plan_files(o, &found, NULL, e);
}

enum err_code rewind_plan_single_turn(const struct session_ref *ref, struct slice point,
                                      struct rewind_plan *out, struct err *e)
{
    const struct store_ops *ops = ref->store->ops;
    CLEANUP(rewind_plan_fini) struct rewind_plan plan = { 0 };
    CLEANUP(rewind_plan_fini) struct rewind_plan found = { 0 };
    struct turn_removal o = { .plan = &plan };
    bool has_snapshots;

    if (!store_can_rewind(ops))
        return err_set(e, ERR_UNSUPPORTED, ref->path.p,
                       "rewind: this agent keeps no checkpoints of files");
    TRY(rewind_plan_turn_files(ref, point, &found, &has_snapshots, e));
    if (has_snapshots) {
        TRY(begin_turn_plan(&found, &plan, e));
        TRY(plan_files(&o, &found, NULL, e));
    } else if (!ops->plan) {
        return err_set(e, ERR_NOT_FOUND, ref->path.p,
                       "rewind: there are no snapshots from before and after this turn");
    } else {
        TRY((ops->plan_turn ? by_system : between_points)(ref, point, &o, e));
    }
    HAND_OVER(out, plan);
    return ERR_OK;
}
