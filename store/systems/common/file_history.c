#include "store/systems/common/saved_states.h"

#include <string.h>

#include "lite/base/cleanup.h"
#include "lite/base/id.h"
#include "lite/base/time.h"
#include "store/fs/path.h"
#include "store/rewind/plan/plan.h"
#include "store/systems/common/jsonl.h"

const char *file_history_path(struct file_history *h, struct slice name)
{
    struct arena *a = &h->states.arena;

    if (!name.n || memchr(name.p, '\0', name.n) || (name.p[0] != '/' && !h->cwd))
        return NULL;
    const char *text = arena_copy(a, name).p;

    const char *path = text ? path_normalize(h->cwd ? h->cwd : "/", text, a) : NULL;

    h->former.now = h->cwd;
    path = former_path(&h->former, path, a);

    const int64_t begun_ms = h->n ? h->point[0].time_ms : TIME_NONE;

    return path && h->cwd ? path_real_below(h->cwd, path, begun_ms, a) : path;
}

enum err_code file_history_point(struct file_history *h, struct file_point point, struct err *e)
{
    struct arena *a = &h->states.arena;
    struct file_point *more = arena_grow(a, h->point, h->n, sizeof *more);

    point.prompt = arena_copy(a, point.prompt);
    point.id = arena_copy(a, point.id);
    if (!more || a->failed)
        return err_nomem(e);
    h->point = more;
    h->point[h->n++] = point;
    return ERR_OK;
}

enum err_code file_history_call(struct file_history *h, const struct file_call *call, struct err *e)
{
    struct arena *a = &h->states.arena;
    struct file_call *more = arena_grow(a, h->call, h->calls, sizeof *more);
    struct file_call c = *call;

    c.id = arena_copy(a, c.id);
    c.old = arena_copy(a, c.old);
    c.new = arena_copy(a, c.new);
    if (!more || a->failed)
        return err_nomem(e);
    h->call = more;
    h->call[h->calls++] = c;
    return ERR_OK;
}

const struct file_call *file_history_call_of(const struct file_history *h, struct slice id)
{
    for (size_t i = h->calls; i > 0; i--)
        if (slice_eq(h->call[i - 1].id, id))
            return &h->call[i - 1];
    return NULL;
}

enum err_code file_history_written(struct file_history *h, const struct file_call *call,
                                   struct saved_state *out, struct err *e)
{
    out->content = SAVED_BYTES;
    out->bytes = call->new;
    return call->whole || !call->path ||
                   !saved_states_edit(&h->states, call->path, call->old, call->new, call->all, out)
               ? ERR_OK
               : err_nomem(e);
}

bool file_history_is_version(struct slice name, size_t digits)
{
    size_t i = digits + 2;

    if (name.n <= i || name.p[digits] != '@' || name.p[digits + 1] != 'v')
        return false;
    while (i < name.n && name.p[i] >= '0' && name.p[i] <= '9')
        i++;
    return i == name.n && slice_is_of((struct slice){ name.p, digits }, "0123456789abcdef");
}

enum err_code file_history_shell(struct file_history *h, int64_t time_ms, struct slice command,
                                 const char *dir, struct err *e)
{
    const bool former =
        former_is_in(&h->former, command, &h->states.arena); /* its paths are not those of today */
    const struct saved_shell x = { time_ms, former ? SLICE("") : command,
                                   dir ? former_path(&h->former, dir, &h->states.arena) : h->cwd };

    return saved_states_shell(&h->states, &x, e);
}

static bool file_history_ran_shell(const struct file_history *h, int64_t from, int64_t to)
{
    for (size_t i = 0; i < h->states.shells; i++)
        if (h->states.shell[i].time_ms >= from && h->states.shell[i].time_ms < to)
            return true;
    return false;
}

/* ---- the checkpoints ---- */

/* The ids of the conversation's messages. */
static enum err_code file_history_read_conversation(const struct session_ref *ref,
                                                    struct idset *ids, struct err *e)
{
    struct transcript *t;
    uint32_t number;
    enum err_code rc = ref->store->ops->load(ref->store, ref, NULL, &t, e);

    if (rc)
        return rc;
    for (size_t i = 0; !rc && i < t->n; i++)
        if (!id128_none(t->message[i].id) && idset_add(ids, t->message[i].id, &number))
            rc = err_nomem(e);
    transcript_free(t);
    return rc;
}

static struct checkpoint checkpoint_of(const struct file_history *h, size_t i)
{
    const struct file_point *p = &h->point[i];
    int64_t next = i + 1 < h->n ? h->point[i + 1].time_ms : INT64_MAX;

    return (struct checkpoint){
        .id = p->id,
        .message = p->id,
        .prompt = p->prompt,
        .time_ms = p->time_ms,
        .kind = CHECKPOINT_TURN,
        .files = p->turn < 0 ? 0 : saved_states_written(&h->states, p->turn),
        .shell = file_history_ran_shell(h, p->time_ms, next),
        .why = p->turn < 0 ? h->no_turn : NULL,
    };
}

enum err_code file_history_checkpoints(struct file_history *h, struct checkpoint_list *out,
                                       struct err *e)
{
    struct checkpoint_list list = { .n = 0 };
    struct idset shown = { 0 };
    enum err_code rc = file_history_read_conversation(h->ref, &shown, e);

    list.checkpoint = arena_zalloc(&h->states.arena, (h->n + 1) * sizeof *list.checkpoint);
    if (!rc && !list.checkpoint)
        rc = err_nomem(e);
    for (size_t i = 0; !rc && i < h->n; i++)
        if (idset_has(&shown, id128_of(h->point[i].id)))
            list.checkpoint[list.n++] = checkpoint_of(h, i);
    idset_fini(&shown);
    if (!rc) {
        list.arena = h->states.arena; /* it owns the texts */
        h->states.arena = (struct arena){ 0 };
        *out = list;
    }
    saved_states_fini(&h->states);
    return rc;
}

/* ---- the plan ---- */

static enum err_code file_history_fill_plan(struct file_history *h, const struct file_point *p,
                                            const char *root, struct rewind_plan *plan,
                                            struct err *e)
{
    struct arena *a = &plan->arena;

    plan->system = h->ref->store->ops->name;
    plan->session = arena_copy(a, h->ref->id).p;
    plan->point = arena_copy(a, p->id).p;
    plan->point_ms = p->time_ms;
    if (!plan->session || !plan->point)
        return err_nomem(e);
    TRY(rewind_plan_root(h->ref->store->env, plan, root, e));
    TRY(former_note(&h->former, plan, e));
    TRY(saved_states_plan(&h->states, p->turn, plan, e));
    if (!h->states.keeps_modes)
        TRY(rewind_plan_note_modes(plan, e));
    if (file_history_ran_shell(h, p->time_ms, INT64_MAX))
        TRY(rewind_plan_note(
            plan, "shell commands ran since; their changes to other files cannot be rewound", e));
    return ERR_OK;
}

enum err_code file_history_plan(struct file_history *h, struct slice point, const char *root,
                                struct rewind_plan *out, struct err *e)
{
    struct rewind_plan plan = { 0 };
    struct point_search search = { .id = point };

    for (size_t i = 0; i < h->n; i++)
        point_search_offer(&search, h->point[i].id, i);
    enum err_code rc = point_search_result(&search, h->ref, e);

    if (!rc && h->point[search.at].turn < 0)
        rc = err_set(e, ERR_NOT_FOUND, h->ref->path.p, "rewind: %s", h->no_turn);
    if (!rc)
        rc = file_history_fill_plan(h, &h->point[search.at], root, &plan, e);
    saved_states_fini(&h->states);
    if (rc)
        rewind_plan_fini(&plan);
    else
        *out = plan;
    return rc;
}
