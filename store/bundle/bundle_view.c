#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "lite/base/cleanup.h"
#include "lite/base/id.h"
#include "store/bundle/bundle_internal.h"
#include "store/fs/copy.h"
#include "store/fs/path.h"

/* A store of a bundle has a table of operations of its own, of which it is the first member. */
struct view_ops {
    struct store_ops ops;
    const struct store_ops *agent;
    const struct bundle *bundle;
    struct slice path; /* The path of the bundle. */
};

static const char view_why[] =
    "it is in a bundle; reprise unbundle FILE puts it where its agent finds it";

void bundle_view_close(struct bundle_view *v)
{
    if (!v)
        return;
    for (size_t i = 0; i < v->n; i++)
        store_close(v->store[i]);
    if (v->dir)
        (void)!copy_remove(v->dir, NULL);
    if (v->lock >= 0)
        close(v->lock);
    bundle_close(v->reader);
    arena_fini(&v->arena);
    free(v);
}

DEFINE_CLEANUP(struct bundle_view, bundle_view_close);

/* ---- the stores ---- */

static enum err_code view_describe(const struct store *st, const struct scope *scope,
                                   const struct session_ref *ref, struct session_row *row,
                                   struct err *e)
{
    const struct view_ops *own = (const struct view_ops *)st->ops;
    const struct bundle *b = own->bundle;

    TRY(own->agent->describe(st, scope, ref, row, e));
    row->can = 0;
    row->undeletable = NULL;
    row->expires_ms = TIME_NONE;
    NEED((row->bundle = arena_copy(&row->arena, own->path)).p);

    /* Some agents keep the directory in a document of several sessions, which is in no bundle. */
    for (size_t i = 0; i < b->n && !row->cwd.n; i++)
        if (b->session[i].directory && slice_eq(ref->id, slice_of(b->session[i].id)) &&
            strcmp(b->session[i].agent, own->agent->name) == 0)
            NEED((row->cwd = arena_copy(&row->arena, slice_of(b->session[i].directory))).p);
    return ERR_OK;
}

/* ---- the place ---- */

/* Removes what programs left that no longer run: those that do have a lock. */
static void view_sweep(const char *dir)
{
    CLEANUP(closedir_at) DIR *d = opendir(dir);
    char path[PATH_MAX];

    for (const struct dirent *x = d ? readdir(d) : NULL; x; x = readdir(d)) {
        AUTO_FD fd = x->d_name[0] == '.' ? -1
                                         : openat(dirfd(d), x->d_name,
                                                  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

        if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
            snprintf(path, sizeof path, "%s/%s", dir, x->d_name) < (int)sizeof path)
            (void)!copy_remove(path, NULL);
    }
}

/* A name in a store: the id of a session, or the path of a file. */
static enum err_code view_name(const struct bundle_session *s, const char *name, struct arena *a,
                               struct id128 *out, struct err *e)
{
    const char *text;

    arena_reset(a);
    NEED(text = arena_format(a, "%s:%s", s->agent, name));
    *out = id128_of(slice_of(text));
    return ERR_OK;
}

/* Sessions of one agent share a directory, and so a store, with the first of them: root[i] is the number of that one. A
 * session with the id of another, or with a file of the same path, is alone. */
static enum err_code view_roots(const struct bundle *b, struct idset *taken, size_t *root,
                                struct err *e)
{
    AUTO_ARENA a = { 0 };
    struct id128 name;
    uint32_t number;

    for (size_t i = 0; i < b->n; i++) {
        const struct bundle_session *s = &b->session[i];

        TRY(view_name(s, s->id, &a, &name, e));
        bool alone = idset_has(taken, name);

        NEED(!idset_add(taken, name, &number));
        for (size_t k = 0; k < s->n && !alone; k++) {
            TRY(view_name(s, s->file[k].path, &a, &name, e));
            alone = idset_has(taken, name);
        }
        root[i] = i;
        for (size_t k = 0; k < s->n && !alone; k++) {
            TRY(view_name(s, s->file[k].path, &a, &name, e));
            NEED(!idset_add(taken, name, &number));
        }
        for (size_t first = 0; first < i && !alone && root[i] == i; first++)
            if (strcmp(b->session[first].agent, s->agent) == 0)
                root[i] = first;
    }
    return ERR_OK;
}

/* ---- opening one ---- */

/* A session has to be what unbundle would put in its place. */
static enum err_code view_check(struct bundle_view *v, const struct store *st, const char *root,
                                const struct bundle_session *s, struct err *e)
{
    struct session_ref ref;
    const char *dir, **part;
    size_t n;
    struct err why = { 0 };
    char text[512];
    enum err_code rc = bundle_staged_find(st, root, s, &v->arena, &ref, &dir, &why);

    if (!rc)
        rc = bundle_staged_parts(&ref, root, s, &v->arena, &part, &n, &why);
    if (!rc || rc == ERR_NOMEM)
        return rc ? err_nomem(e) : ERR_OK;
    why.path[0] = '\0'; /* it is in a directory that will not be there */
    err_format(&why, text, sizeof text);
    return err_set(e, rc, "", "read the bundle: %s:%s: %s", s->agent, s->id, text);
}

/* The store in which session `first` and others are. */
static enum err_code view_add_store(struct bundle_view *v, const struct store_env *env,
                                    const size_t *root, size_t first, struct err *e)
{
    const struct bundle *b = bundle_manifest(v->reader);
    const struct store_ops *agent = store_system(slice_of(b->session[first].agent));
    const char *path = arena_format(&v->arena, "%s/%zu", v->dir, first);
    struct store *st;

    NEED(path);
    TRY(bundle_staged_open(agent, env, path, &v->arena, &st, e));
    v->store[v->n++] = st;
    for (size_t i = first; i < b->n; i++)
        if (root[i] == first)
            TRY(view_check(v, st, path, &b->session[i], e));

    /* Takes from a store whose sessions were checked all that needs more than the sessions. */
    struct view_ops *own = arena_alloc(&v->arena, sizeof *own);

    NEED(own);
    *own = (struct view_ops){ *st->ops, st->ops, bundle_manifest(v->reader), v->path };
    store_ops_only_read(&own->ops, view_why);
    own->ops.describe = view_describe;
    own->ops.check = NULL;
    own->ops.plan = NULL;
    own->ops.plan_turn = NULL;
    own->ops.plan_inferred = NULL;
    own->ops.plan_own = NULL;
    st->ops = &own->ops;
    return ERR_OK;
}

static enum err_code view_fill(struct bundle_view *v, const struct store_env *env, struct err *e)
{
    const struct bundle *b = bundle_manifest(v->reader);
    size_t *root = arena_alloc(&v->arena, b->n * sizeof *root);

    NEED(root && (v->store = arena_alloc(&v->arena, b->n * sizeof *v->store)));
    for (size_t i = 0; i < b->n; i++) {
        const struct store_ops *agent = store_system(slice_of(b->session[i].agent));

        if (!agent || agent->remote || !store_session_parts(agent))
            return err_set(e, ERR_UNSUPPORTED, "", "read the bundle: %s is no agent with files",
                           b->session[i].agent);
    }
    struct idset taken = { 0 };
    const enum err_code rc = view_roots(b, &taken, root, e);

    idset_fini(&taken);
    if (rc)
        return rc;

    /* The bundle is unpacked into a directory that no other program uses. */
    char top[PATH_MAX];
    char *dir;

    TRY(env_data_path(env, "bundles", top, e));
    TRY(disk_private_dir(top, e));

    /* No program may sweep between the creation of the directory and its lock. */
    AUTO_FD turn = open(top, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (turn < 0 || flock(turn, LOCK_EX))
        return err_sys(e, top, "read the bundle: lock");
    view_sweep(top);
    TRY(disk_check_space(top, bundle_manifest(v->reader)->bytes, "the bundle", e));
    NEED(dir = arena_format(&v->arena, "%s/XXXXXX", top));
    if (!mkdtemp(dir))
        return err_sys(e, top, "unpack the bundle");
    v->dir = dir;
    v->lock = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (v->lock < 0 || flock(v->lock, LOCK_EX | LOCK_NB))
        return err_sys(e, dir, "read the bundle: lock");

    TRY(bundle_unpack(v->reader, v->dir, root, e));
    for (size_t i = 0; i < b->n; i++)
        if (root[i] == i)
            TRY(view_add_store(v, env, root, i, e));
    return ERR_OK;
}

enum err_code bundle_view_open(const char *path, const struct store_env *env,
                               struct bundle_view **out, struct err *e)
{
    CLEANUP(bundle_view_close_at) struct bundle_view *v = calloc(1, sizeof *v);

    NEED(v);
    v->lock = -1;
    TRY(bundle_open(path, &v->reader, e));
    char real[PATH_MAX];

    NEED((v->path = arena_copy(&v->arena, slice_of(realpath(path, real) ? real : path))).p);
    const enum err_code rc = view_fill(v, env, e);

    if (rc)
        return rc == ERR_NOMEM ? err_nomem(e) : err_at(e, rc, path);
    *out = v;
    v = NULL;
    return ERR_OK;
}
