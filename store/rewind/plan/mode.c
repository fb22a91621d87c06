#include "store/rewind/plan/mode.h"

#include <string.h>

#include "store/api/store.h"
#include "store/rewind/plan/concurrent_sessions.h"
#include "store/rewind/plan/origin.h"
#include "store/rewind/plan/single_turn.h"
#include "store/rewind/record/known_state.h"

const char *rewind_mode_unavailable(const struct session_ref *ref, enum rewind_mode mode)
{
    const struct store_ops *ops = ref->store->ops;
    const char *why = store_unsupported_reason(ops, CAN_REWIND);

    if (mode != REWIND_CONVERSATION && !ops->plan)
        return why ? why : "sessions of this system keep no file checkpoints";
    if ((mode == REWIND_CONVERSATION || mode == REWIND_BOTH) && !ops->plan_conversation)
        return "conversations of this system cannot be rewound";
    if (mode == REWIND_INFERRED && !ops->plan_inferred)
        return "this system needs no inferring: it keeps every state";
    return NULL;
}

/* A plan without files. */
static enum err_code begin_empty_plan(const struct session_ref *ref, struct slice point,
                                      struct rewind_plan *plan, struct err *e)
{
    *plan = (struct rewind_plan){ .system = ref->store->ops->name, .point_ms = TIME_NONE };
    plan->session = arena_copy(&plan->arena, ref->id).p;
    plan->point = arena_copy(&plan->arena, point).p;
    return plan->session && plan->point ? ERR_OK : err_nomem(e);
}

static enum err_code add_conversation(const struct session_ref *ref, struct rewind_plan *plan,
                                      struct err *e)
{
    const struct slice point = slice_of(plan->point);
    enum err_code rc = ref->store->ops->plan_conversation(ref->store, ref, point, plan, e);

    if (!rc && plan->conversation.change)
        rc = change_add_session(plan->conversation.change, plan->system, ref->id, e);
    return rc;
}

enum err_code rewind_plan_origin(const struct session_ref *ref, struct rewind_plan *plan,
                                 struct err *e)
{
    struct change_origin o = { 0 };
    enum err_code rc = origin_of(ref, &plan->arena, &o, e);

    plan->store = o.store;
    plan->title = o.title;
    return rc;
}

typedef enum err_code files_fn(const struct store *st, const struct session_ref *ref,
                               struct slice point, struct rewind_plan *out, struct err *e);

static enum err_code make(const struct session_ref *ref, struct slice point, enum rewind_mode mode,
                          files_fn *files, struct rewind_plan *out, struct err *e)
{
    const char *why = rewind_mode_unavailable(ref, mode);
    struct rewind_plan plan = { 0 };
    enum err_code rc = why ? err_set(e, ERR_UNSUPPORTED, ref->path.p, "rewind: %s", why) : ERR_OK;

    if (!rc)
        rc = mode == REWIND_CONVERSATION ? begin_empty_plan(ref, point, &plan, e)
             : mode == REWIND_TURN       ? rewind_plan_single_turn(ref, point, &plan, e)
                                         : files(ref->store, ref, point, &plan, e);
    if (!rc && mode != REWIND_CONVERSATION && mode != REWIND_TURN)
        rc = rewind_concurrent_sessions(ref, &plan, e);
    if (!rc && (mode == REWIND_CONVERSATION || mode == REWIND_BOTH))
        rc = add_conversation(ref, &plan, e);
    if (!rc && mode != REWIND_TURN) /* that one knows what lies there by itself */
        rc = rewind_plan_known_state(ref->store->env, &plan, e);
    if (!rc)
        rc = rewind_plan_origin(ref, &plan, e);
    if (!rc)
        rc = rewind_plan_hold(ref->store->env, &plan, e);
    if (rc)
        rewind_plan_fini(&plan);
    else
        *out = plan;
    return rc;
}

enum err_code rewind_plan_make(const struct session_ref *ref, struct slice point,
                               enum rewind_mode mode, struct rewind_plan *out, struct err *e)
{
    const struct store_ops *ops = ref->store->ops;

    return make(ref, point, mode, mode == REWIND_INFERRED ? ops->plan_inferred : ops->plan, out, e);
}

enum err_code rewind_plan_infer(const struct session_ref *ref, struct slice point,
                                enum rewind_mode mode, struct rewind_plan *out, struct err *e)
{
    const char *why = rewind_mode_unavailable(ref, REWIND_INFERRED);

    if (why)
        return err_set(e, ERR_UNSUPPORTED, ref->path.p, "rewind: %s", why);
    return make(ref, point, mode, ref->store->ops->plan_inferred, out, e);
}
