#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "store/api/store.h"
#include "store/fs/path.h"
#include "store/git/repo.h"
#include "store/rewind/plan/beneath.h"
#include "store/rewind/plan/by_snapshots.h"
#include "store/rewind/plan/origin.h"
#include "store/rewind/plan/plan.h"
#include "store/rewind/plan/rewind.h"
#include "store/rewind/record/host_work.h"
#include "store/rewind/record/records.h"

static void copy_source(struct arena *a, struct rewind_source *s)
{
    s->file = arena_copy_text(a, s->file);
    s->sha256 = arena_copy_text(a, s->sha256);
    s->objects = arena_copy_text(a, s->objects);
    s->blob = arena_copy_text(a, s->blob);
    if (s->bytes.p)
        s->bytes = arena_copy(a, s->bytes);
}

enum err_code rewind_plan_add(struct rewind_plan *plan, const struct rewind_target *t,
                              struct err *e)
{
    struct arena *a = &plan->arena;
    struct rewind_target copy = *t, *list = arena_grow(a, plan->target, plan->n, sizeof *list);

    copy.path = arena_copy_text(a, t->path);
    copy.real_parent = arena_copy_text(a, t->real_parent);
    copy.adopts = arena_copy_text(a, t->adopts);
    copy.why = arena_copy_text(a, t->why);
    copy.doubt = arena_copy_text(a, t->doubt);
    copy.left_sha256 = arena_copy_text(a, t->left_sha256);
    copy.work_sha256 = arena_copy_text(a, t->work_sha256);
    copy_source(a, &copy.source);
    copy_source(a, &copy.last);
    if (t->other) {
        struct rewind_other *other = arena_alloc(a, sizeof *other);

        NEED(other);
        *other = (struct rewind_other){ .session = arena_copy_text(a, t->other->session),
                                        .title = arena_copy_text(a, t->other->title),
                                        .system = arena_copy_text(a, t->other->system),
                                        .at_ms = t->other->at_ms };
        if (t->other->ref)
            other->ref = session_ref_keep(a, t->other->ref);
        copy.other = other;
    }
    if (t->like) {
        struct attrs *like = arena_alloc(a, sizeof *like);

        NEED(like);
        *like = *t->like;
        fs_attrs_copy(a, like);
        copy.like = like;
    }
    if (a->failed)
        return err_nomem(e);
    plan->target = list;
    plan->target[plan->n++] = copy;
    return ERR_OK;
}

void rewind_target_git_mode(struct rewind_target *t, unsigned mode)
{
    bool runs = mode & 0100;
    struct stat st;

    t->permissions = "only whether it is executable is recorded";
    if (lstat(t->path, &st) || !S_ISREG(st.st_mode)) {
        t->has_mode = true;
        t->mode = runs ? 0755 : 0644;
    } else if (runs != ((st.st_mode & 0100) != 0)) {
        unsigned present = st.st_mode & 07777;

        t->has_mode = true;
        t->mode = runs ? present | (present & 0444) >> 2 : present & ~0111u;
    }
}

enum err_code rewind_plan_note(struct rewind_plan *plan, const char *text, struct err *e)
{
    return arena_add_text(&plan->arena, &plan->note, &plan->notes, text) ? ERR_OK : err_nomem(e);
}

enum err_code rewind_plan_note_modes(struct rewind_plan *plan, struct err *e)
{
    bool any = false;

    for (size_t i = 0; i < plan->n; i++)
        any |= plan->target[i].want == REWIND_BYTES && !plan->target[i].has_mode &&
               !plan->target[i].permissions;
    return any ? rewind_plan_note(
                     plan,
                     "permissions are not recorded: files keep their present ones, and "
                     "a file that is created again gets default ones",
                     e)
               : ERR_OK;
}

void rewind_plan_fini(struct rewind_plan *plan)
{
    rewind_conversation_fini(&plan->conversation);
    arena_fini(&plan->arena);
    *plan = (struct rewind_plan){ 0 };
}

/* Returns true if dir is the path or above it, by their names or by where they really are. */
static bool dir_contains(const char *dir, const char *path)
{
    char real_dir[PATH_MAX], real_path[PATH_MAX];

    if (path_under(slice_of(path), slice_of(dir)))
        return true;
    return realpath(dir, real_dir) && realpath(path, real_path) &&
           path_under(slice_of(real_path), slice_of(real_dir));
}

enum err_code rewind_plan_root(const struct store_env *env, struct rewind_plan *plan,
                               const char *root, struct err *e)
{
    plan->root = root ? path_normalize("", root, &plan->arena) : NULL;
    if (root && !plan->root)
        return err_nomem(e);
    plan->wide = root && (dir_contains(plan->root, "/") ||
                          (env && env->home && *env->home && dir_contains(plan->root, env->home)));
    return ERR_OK;
}

bool rewind_root_is_above(const struct store_env *env, const char *root)
{
    git_repository *repo = NULL;

    if (!env || !env->cwd || !dir_contains(root, env->cwd) || dir_contains(env->cwd, root))
        return false;
    const char *top = repo_open(env->cwd, &repo, NULL) ? NULL : git_repository_workdir(repo);
    bool above = !top || !dir_contains(top, root);

    repo_close(repo);
    return above;
}

bool rewind_is_inside(const struct rewind_plan *plan, const char *path)
{
    return plan->root && !plan->wide && path_under(slice_of(path), slice_of(plan->root));
}

const char *rewind_mode_unavailable(const struct session_ref *ref, enum rewind_mode mode)
{
    const struct store_ops *ops = ref->store->ops;
    const char *why = store_unsupported_reason(ops, CAN_REWIND);

    if (mode != REWIND_CONVERSATION && !store_can_rewind(ops))
        return why ? why : "this agent keeps no checkpoints of files";
    if ((mode == REWIND_CONVERSATION || mode == REWIND_BOTH) && !ops->plan_conversation)
        return "conversations of this agent cannot be rewound";
    if (mode == REWIND_INFERRED && !ops->plan_inferred)
        return "not needed: files are restored as of this turn anyway";
    return NULL;
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

static enum err_code make(const struct session_ref *ref, struct slice point, enum rewind_mode mode,
                          bool inferred, struct rewind_plan *out, struct err *e)
{
    const char *why = rewind_mode_unavailable(ref, mode);
    struct rewind_plan plan = { 0 };
    enum err_code rc = why ? err_set(e, ERR_UNSUPPORTED, ref->path.p, "rewind: %s", why) : ERR_OK;

    if (!rc && mode == REWIND_CONVERSATION) { /* without files */
        plan.point_ms = TIME_NONE;
        plan.session = arena_copy(&plan.arena, ref->id).p;
        plan.point = arena_copy(&plan.arena, point).p;
        rc = plan.session && plan.point ? ERR_OK : err_nomem(e);
    } else if (!rc)
        rc = mode == REWIND_TURN ? rewind_plan_single_turn(ref, point, &plan, e)
             : inferred          ? ref->store->ops->plan_inferred(ref->store, ref, point, &plan, e)
                                 : rewind_plan_files(ref, point, &plan, e);
    plan.system = ref->store->ops->name;
    struct session_ref *own = rc ? NULL : arena_zalloc(&plan.arena, sizeof *own);

    if (!rc) {
        plan.format = arena_copy_text(&plan.arena, store_format(ref->store->ops));
        if (!plan.format || !own || !session_ref_copy(&plan.arena, ref, own))
            rc = err_nomem(e);
    }
    plan.ref = own;
    if (!rc && mode != REWIND_CONVERSATION && mode != REWIND_TURN)
        rc = rewind_check_found(ref, &plan, e);
    if (!rc && mode != REWIND_CONVERSATION && mode != REWIND_TURN)
        rc = rewind_concurrent_sessions(ref, &plan, e);
    if (!rc && (mode == REWIND_CONVERSATION || mode == REWIND_BOTH)) {
        rc = ref->store->ops->plan_conversation(ref->store, ref, slice_of(plan.point), &plan, e);
        if (!rc && plan.conversation.change)
            rc = change_add_session(plan.conversation.change, plan.system, ref->id, e);
    }
    if (!rc && mode != REWIND_TURN) /* that one reads the present files itself */
        rc = rewind_plan_known_state(ref->store->env, &plan, e);
    if (!rc && mode != REWIND_TURN)
        rc = host_work_add(ref->store->env, &plan, e);
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
    return make(ref, point, mode, mode == REWIND_INFERRED, out, e);
}

enum err_code rewind_plan_infer(const struct session_ref *ref, struct slice point,
                                enum rewind_mode mode, struct rewind_plan *out, struct err *e)
{
    const char *why = rewind_mode_unavailable(ref, REWIND_INFERRED);

    if (why)
        return err_set(e, ERR_UNSUPPORTED, ref->path.p, "rewind: %s", why);
    return make(ref, point, mode, true, out, e);
}

enum err_code rewind_plan_check_files(const struct rewind_plan *plan,
                                      const struct rewind_options *options, struct err *e)
{
    CLEANUP(slice_set_fini) struct slice_set known = { .n = 0 };
    uint32_t number;

    for (size_t i = 0; i < plan->n; i++)
        if (slice_set_add(&known, slice_of(plan->target[i].path), &number))
            return err_nomem(e);
    for (size_t i = 0; i < options->only_n; i++)
        if (slice_set_find(&known, slice_of(options->only[i])) == SLICE_SET_NONE)
            TRY(err_set(e, ERR_NOT_FOUND, options->only[i],
                        plan->undoes
                            ? "undo: the rewind did not change this file, or it was undone already"
                            : "rewind: the session never changed this file"));
    return ERR_OK;
}
