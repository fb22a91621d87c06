#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/base/cleanup.h"
#include "lite/base/utf8.h"
#include "store/bundle/bundle_internal.h"
#include "store/fs/copy.h"
#include "store/fs/path.h"
#include "store/journal/step.h"
#include "store/keep/keep.h"

/* The files are unpacked into a directory of ours, where those of one session are a store of its agent. So the code
 * for its agent has to find the session there, and each file has to be a part of it; nothing else gets into the real
 * store. */

static const struct scope unbundle_everywhere = { .all = true };

void unbundle_fini(struct unbundle *u)
{
    if (u->stage && !u->done && !(u->change && u->change->unfinished))
        (void)!copy_remove(u->stage, NULL);
    change_free(u->change);
    for (size_t i = 0; i < u->stores; i++)
        idset_fini(&u->ids[i].id);
    idset_fini(&u->taken);
    arena_fini(&u->arena);
    *u = (struct unbundle){ .n = 0 };
}

static void unbundle_refuse(struct unbundle_item *x, enum err_code code, const char *why)
{
    x->code = code;
    x->why = why;
}

/* ---- the directory on this machine ---- */

static bool unbundle_is_dir(const char *path)
{
    return path && path_is_dir(path);
}

/* `to` and what of a directory is below `root`; `to` itself if it is not below, or there is no such directory. */
static const char *unbundle_below(const char *to, const char *root, const char *dir,
                                  struct arena *a)
{
    if (!root || !path_under(slice_of(dir), slice_of(root)))
        return to;
    const char *path = arena_format(a, "%s%s", to, dir + strlen(root));

    return !path || unbundle_is_dir(path) ? path : to;
}

/* Where the next reader of a session's directory would look for the project, and whether it is there. */
static enum err_code unbundle_directory(struct unbundle *u, struct unbundle_item *x,
                                        const struct bundle *b, const struct store_env *env,
                                        const char *to, struct err *e)
{
    struct arena *a = &u->arena;
    const struct repo_identity *there = &x->session->repository;
    struct repo_identity here;

    if (to) {
        NEED(x->to = unbundle_below(to, there->root, x->from ? x->from : to, a));
        return ERR_OK;
    }
    if (!x->from || unbundle_is_dir(x->from)) {
        x->to = x->from;
        return ERR_OK;
    }

    /* The project may be at the same place below a home directory that has another name here. */
    if (b->home && env->home && b->home[1] && path_under(slice_of(x->from), slice_of(b->home))) {
        NEED(x->to = arena_format(a, "%s%s", env->home, x->from + strlen(b->home)));
        if (unbundle_is_dir(x->to))
            return ERR_OK;
        x->to = NULL;
    }

    /* The project may also be the repository in which the program was started. */
    TRY(repo_identify(env->cwd, a, NULL, &here, e));
    if (here.root && repo_identity_matches(&here, there)) {
        NEED(x->to = unbundle_below(here.root, there->root, x->from, a));
        return ERR_OK;
    }
    unbundle_refuse(
        x, ERR_NOT_FOUND,
        arena_format(a, "its directory %s is not here: name the project's with --to DIR", x->from));
    return x->why ? ERR_OK : err_nomem(e);
}

/* The copy names the directory on this machine, as `reprise move` would have it. */
static enum err_code unbundle_rehome(struct unbundle *u, struct unbundle_item *x, struct err *e)
{
    const struct store_ops *ops = x->ref.store->ops;
    CLEANUP(change_free_at) struct change *c = NULL;

    if (ops->shared && !ops->adopt)
        x->note = "the index of its agent stays where it was: resume it by its id";
    if (!x->from || !x->to || strcmp(x->from, x->to) == 0)
        return ERR_OK;
    if (!ops->set_directory) {
        if (x->ref.folder.n)
            unbundle_refuse(x, ERR_UNSUPPORTED,
                            "its agent would look for it in another folder, which is not known: "
                            "unpack it where the project has the same directory");
        else
            x->note = "it still names its old directory: resume it by its id";
        return ERR_OK;
    }
    NEED(c = change_new("unbundle"));
    TRY(ops->set_directory(x->ref.store, &x->ref, slice_of(x->from), slice_of(x->to), c, e));
    for (size_t i = 0; i < c->n; i++) {
        TRY(step_prepare(&c->step[i], &u->arena, e));
        TRY(step_do(&c->step[i], &u->arena, e));
    }
    return ERR_OK;
}

/* ---- the place in the store ---- */

/* The path below the store, with the folder of the new directory. */
static const char *unbundle_place(struct unbundle *u, const struct unbundle_item *x,
                                  const char *path, const char *root)
{
    const struct store_ops *ops = x->ref.store->ops;
    const char *rest = path + strlen(root) + 1;
    const char *at = arena_format(&u->arena, "/%.*s/", SLICE_ARG(x->ref.folder));
    const char *in = at && x->ref.folder.n ? strstr(x->ref.path.p + strlen(root), at) : NULL;
    const size_t before = in ? (size_t)(in + 1 - x->ref.path.p) : 0,
                 after = before + x->ref.folder.n;

    if (!in || !ops->folder_of || !x->to || (!ops->adopt && strcmp(x->from, x->to) == 0) ||
        strncmp(path, x->ref.path.p, after) != 0)
        return arena_format(&u->arena, "%s/%s", x->store->path, rest);
    const struct slice folder = ops->folder_of(x->store, slice_of(x->to), &u->arena);

    return folder.p ? arena_format(&u->arena, "%s/%.*s%.*s%s", x->store->path,
                                   (int)(before - strlen(root) - 1), rest, SLICE_ARG(folder),
                                   path + after)
                    : NULL;
}

static bool unbundle_is_taken(const struct unbundle *u, const char *to)
{
    struct stat st;

    return lstat(to, &st) == 0 || idset_has(&u->taken, id128_of(slice_of(to)));
}

static bool unbundle_note_id(const struct session_ref *ref, void *arg)
{
    uint32_t number;

    return idset_add(arg, id128_of(ref->id), &number) == ERR_OK;
}

/* The ids of all sessions of a store, which are read once: looking up each of thousands may read all of them each time.
 * *ids is NULL if they cannot be read. */
static enum err_code unbundle_ids_of(struct unbundle *u, const struct store *st,
                                     const struct idset **ids, struct err *e)
{
    size_t i = 0;

    *ids = NULL;
    while (i < u->stores && u->ids[i].store != st)
        i++;
    if (i == u->stores) {
        struct unbundle_ids *list = arena_grow(&u->arena, u->ids, u->stores, sizeof *list);
        struct unbundle_ids one = { .store = st };

        NEED(list);
        u->ids = list;
        if (st->ops->enumerate(st, &unbundle_everywhere, unbundle_note_id, &one.id, NULL)) {
            idset_fini(&one.id);
            return ERR_OK;
        }
        u->ids[u->stores++] = one;
    }
    *ids = &u->ids[i].id;
    return ERR_OK;
}

/* Whether the store has a session with the id, and where. */
static enum err_code unbundle_find(struct unbundle *u, const struct unbundle_item *x,
                                   const char **path, struct err *e)
{
    const struct store *st = x->store;
    const struct idset *ids;
    struct session_ref other;

    *path = NULL;
    TRY(unbundle_ids_of(u, st, &ids, e));
    if (ids && !idset_has(ids, id128_of(x->ref.id)))
        return ERR_OK;
    if (st->ops->find(st, &unbundle_everywhere, x->ref.id, &u->arena, &other, NULL) == ERR_OK)
        *path = other.path.p;
    return ERR_OK;
}

static enum err_code unbundle_places(struct unbundle *u, struct unbundle_item *x, const char *root,
                                     struct err *e)
{
    const char *other;

    for (size_t i = 0; i < x->n; i++) {
        NEED(x->part[i].to = unbundle_place(u, x, x->part[i].from, root));
        if (strcmp(x->part[i].from, x->ref.path.p) == 0 || !x->path)
            x->path = x->part[i].to;
        if (unbundle_is_taken(u, x->part[i].to)) {
            unbundle_refuse(x, ERR_STALE,
                            arena_format(&u->arena, "it is there already: %s", x->part[i].to));
            return x->why ? ERR_OK : err_nomem(e);
        }
    }
    TRY(unbundle_find(u, x, &other, e));
    if (other)
        unbundle_refuse(
            x, ERR_STALE,
            arena_format(&u->arena, "a session with its id is there already: %s", other));
    return x->code == ERR_STALE && !x->why ? err_nomem(e) : ERR_OK;
}

/* ---- the plan ---- */

static struct store *unbundle_store(struct store *const stores[], size_t n, const char *agent)
{
    for (size_t i = 0; i < n; i++)
        if (!stores[i]->ops->remote && !keep_store_is(stores[i]) &&
            store_session_parts(stores[i]->ops) && strcmp(store_format(stores[i]->ops), agent) == 0)
            return stores[i];
    return NULL;
}

static enum err_code unbundle_prepare(struct unbundle *u, struct unbundle_item *x,
                                      const struct bundle *b, const struct store_env *env,
                                      const char *root, const char *to, struct err *e)
{
    struct store *staged = NULL;
    const char **part;

    TRY(bundle_staged_open(x->store->ops, env, root, &u->arena, &staged, e));
    enum err_code rc =
        bundle_staged_find(staged, root, x->session, &u->arena, &x->ref, &x->from, e);

    if (!rc)
        rc = bundle_staged_parts(&x->ref, root, x->session, &u->arena, &part, &x->n, e);
    if (!rc && !(x->part = arena_zalloc(&u->arena, (x->n + 1) * sizeof *x->part)))
        rc = err_nomem(e);
    for (size_t i = 0; i < x->n && !rc; i++)
        x->part[i].from = part[i];
    if (!rc)
        rc = unbundle_directory(u, x, b, env, to, e);
    if (!rc && !x->why)
        rc = unbundle_rehome(u, x, e);
    if (!rc && !x->why)
        rc = unbundle_places(u, x, root, e);
    x->ref.store = x->store;
    staged->ops->close(staged);
    return rc;
}

static enum err_code unbundle_steps(struct unbundle *u, const struct unbundle_item *x,
                                    struct err *e)
{
    const struct change_origin origin = { x->store->path, x->to, x->session->title };
    char parent[PATH_MAX];
    uint32_t number;

    TRY(change_add_session(u->change, x->store->ops->name, slice_of(x->session->id), e));
    TRY(change_set_origin(u->change, &origin, e));
    if (x->store->ops->adopt && x->to)
        TRY(x->store->ops->adopt(x->store,
                                 x->store->ops->folder_of(x->store, slice_of(x->to), &u->arena),
                                 slice_of(x->to), u->change, e));
    for (size_t i = 0; i < x->n; i++) {
        const struct step move = {
            .kind = STEP_MOVE, .path = x->part[i].from, .to = x->part[i].to, .made = true
        };

        if (!path_parent(move.to, parent))
            return err_set(e, ERR_UNSAFE, move.to, "unbundle: the path is too long");
        if (u->folders == 0 || strcmp(u->folder[u->folders - 1], parent) != 0)
            NEED(arena_add_text(&u->arena, &u->folder, &u->folders,
                                arena_copy_text(&u->arena, parent)));
        TRY(change_add(u->change, &move, e));
        NEED(!idset_add(&u->taken, id128_of(slice_of(move.to)), &number));
    }
    u->placing++;
    return ERR_OK;
}

static enum err_code unbundle_item(struct unbundle *u, size_t i, const struct bundle *b,
                                   struct store *const stores[], size_t n,
                                   const struct store_env *env, const char *to, struct err *e)
{
    struct unbundle_item *x = &u->item[i];
    const char *root = arena_format(&u->arena, "%s/%zu", u->stage, i);
    struct err why = { 0 };
    char text[512];

    NEED(root);
    x->session = &b->session[i];
    x->from = x->session->directory;
    x->store = unbundle_store(stores, n, x->session->agent);
    if (!x->store) {
        unbundle_refuse(x, ERR_NOT_FOUND,
                        "its agent has no sessions here: run the agent once, or name a store with "
                        "--store");
        return ERR_OK;
    }
    const enum err_code rc = unbundle_prepare(u, x, b, env, root, to, &why);

    if (rc == ERR_NOMEM)
        return err_nomem(e);
    if (rc) {
        why.path[0] = '\0'; /* it is in a directory that will not be there */
        err_format(&why, text, sizeof text);
        unbundle_refuse(x, rc, arena_copy_text(&u->arena, text));
        NEED(x->why);
    }
    return x->why ? ERR_OK : unbundle_steps(u, x, e);
}

static enum err_code unbundle_stage(struct unbundle *u, struct bundle_reader *r,
                                    const struct store_env *env, struct err *e)
{
    char forks[PATH_MAX];
    char *stage;

    change_sweep_forks(env);
    TRY(env_data_path(env, "forks", forks, e));
    TRY(disk_private_dir(forks, e));
    TRY(disk_check_space(forks, bundle_manifest(r)->bytes, "the bundle", e));
    NEED(stage = arena_format(&u->arena, "%s/bundle-XXXXXX", forks));
    if (!mkdtemp(stage))
        return err_sys(e, forks, "unpack the bundle");
    u->stage = stage;
    return bundle_unpack(r, stage, NULL, e);
}

enum err_code unbundle_plan(struct bundle_reader *r, struct store *const stores[], size_t n,
                            const struct store_env *env, const char *to, struct unbundle *out,
                            struct err *e)
{
    const struct bundle *b = bundle_manifest(r);
    char real[PATH_MAX];
    enum err_code rc = ERR_OK;

    *out = (struct unbundle){ .n = b->n };
    if (to && (!realpath(to, real) || !unbundle_is_dir(real)))
        return err_set(e, ERR_USAGE, to, "unbundle: --to is no directory");
    if (to && !utf8_valid(slice_of(real)))
        return err_set(e, ERR_UNSUPPORTED, to,
                       "unbundle: sessions name directories in UTF-8, and --to is not in it");
    out->change = change_new("unbundle");
    out->item = arena_zalloc(&out->arena, b->n * sizeof *out->item);
    if (to)
        to = arena_copy_text(&out->arena, real);
    if (!out->change || !out->item || out->arena.failed)
        rc = err_nomem(e);
    if (!rc)
        rc = unbundle_stage(out, r, env, e);
    for (size_t i = 0; i < b->n && !rc; i++)
        rc = unbundle_item(out, i, b, stores, n, env, to, e);
    if (!rc && !(out->change->text = arena_format(&out->change->arena, "unpacked %zu session%s",
                                                  out->placing, out->placing == 1 ? "" : "s")))
        rc = err_nomem(e);
    if (rc)
        unbundle_fini(out);
    return rc;
}

enum err_code unbundle_do(struct unbundle *u, const struct store_env *env, struct err *e)
{
    /* An undo needs only what was put in its place. */
    for (size_t i = 0; i < u->n; i++) {
        const char *root = arena_format(&u->arena, "%s/%zu", u->stage, i);

        NEED(root);
        if (u->item[i].why)
            TRY(copy_remove(root, e));
    }
    for (size_t i = 0; i < u->folders; i++)
        TRY(disk_make_dir(u->folder[i], 0700, e));
    TRY(change_do(env, u->change, e));
    u->done = true;
    return ERR_OK;
}
