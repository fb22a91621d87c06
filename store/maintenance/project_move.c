#include "store/maintenance/project_move.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/base/utf8.h"
#include "store/fs/disk.h"
#include "store/fs/path.h"
#include "store/keep/keep.h"
#include "store/proc/live.h"
#include "store/query/listing.h"

void project_move_fini(struct project_move *m)
{
    change_free(m->change);
    idset_fini(&m->taken);
    arena_fini(&m->arena);
    *m = (struct project_move){ 0 };
}

/* ---- which sessions ---- */

struct project_move_search {
    struct project_move *m;
    struct scope old;
    const char *
        real; /* where the old directory's name leads through links; NULL: links are not followed */
    const struct session_ref *const *ref;
};

/* Where a path leads through links, even if its last parts are gone. NULL: out of memory. */
static const char *project_move_real(const char *path, struct arena *a)
{
    enum { LINKS_MOST = 40 };
    char above[PATH_MAX], parent[PATH_MAX], target[PATH_MAX];
    size_t n = 1, links = 0;

    while (path && path[n - 1] && links < LINKS_MOST) {
        n += strcspn(path + n, "/");
        if (n >= sizeof above)
            return path;
        memcpy(above, path, n);
        above[n] = '\0';
        const ssize_t got = readlink(above, target, sizeof target - 1);

        if (got <= 0 || !path_parent(above, parent)) {
            n += path[n] != '\0';
            if (!path[n])
                return path;
            continue;
        }
        target[got] = '\0';
        const char *to = arena_format(a, "%s%s", target, path + n);

        path = to ? path_normalize(parent, to, a) : NULL;
        n = 1;
        links++;
    }
    return path;
}

/* The part of a directory below the old one, "" or "/sub"; NULL: it is elsewhere. Other spellings of the old directory
 * count, so each directory above is compared, the topmost first. */
static const char *project_move_below(const struct project_move_search *s, const char *dir)
{
    struct arena *a = &s->m->arena;
    const char *real = s->real ? project_move_real(dir, a) : NULL;
    const bool linked = real && path_under(slice_of(real), slice_of(s->real));

    for (const char *p = dir + 1;; p++) {
        const struct slice part = { dir, (size_t)(p - dir) };

        if ((*p == '/' || !*p) && session_scope_has(&s->old, part))
            return p;
        if ((*p == '/' || !*p) && linked) {
            const char *copy = arena_copy(a, part).p;

            real = copy ? project_move_real(copy, a) : NULL;
            if (real && strcmp(real, s->real) == 0)
                return p;
        }
        if (!*p)
            return NULL;
    }
}

static enum err_code project_move_found(size_t i, struct session_row *row, void *arg, struct err *e)
{
    struct project_move_search *s = arg;
    struct project_move *m = s->m;
    const char *dir = row && row->cwd.n ? arena_copy(&m->arena, row->cwd).p : NULL;
    const char *below = dir && dir[0] == '/' ? project_move_below(s, dir) : NULL;

    if (!below || row->hidden == HIDDEN_UNREADABLE)
        return m->arena.failed ? err_nomem(e) : ERR_OK;
    NEED(m->item = arena_grow(&m->arena, m->item, m->n, sizeof *m->item));
    struct project_move_item *x = &m->item[m->n++];

    *x = (struct project_move_item){ .from = dir,
                                     .to = arena_format(&m->arena, "%s%s", m->to, below),
                                     .title = arena_copy(&m->arena, session_row_title(row)) };
    NEED(x->to && x->title.p && session_ref_copy(&m->arena, s->ref[i], &x->ref));
    x->path = x->ref.path.p;
    return ERR_OK;
}

enum err_code project_each_row(struct store *const stores[], size_t n, describe_pool_fn *fn,
                               void *arg, const struct session_ref *const **ref, struct err *e)
{
    AUTO_ARENA a = { 0 };
    const struct listing_query q = { .scope = { .all = true },
                                     .since_ms = TIME_NONE,
                                     .before_ms = TIME_NONE };
    CLEANUP(listing_close_at) struct listing *l = NULL;
    struct store **local = arena_alloc(&a, (n + 1) * sizeof(struct store *));
    size_t locals = 0, refs;

    NEED(local);
    for (size_t i = 0; i < n; i++)
        if (!stores[i]->ops->remote && !keep_store_is(stores[i]))
            local[locals++] = stores[i];
    TRY(listing_open(local, locals, &q, &l, e));
    *ref = listing_refs(l, &refs);
    return describe_pool_run(&q.scope, *ref, refs, DESCRIBE_POOL_AHEAD, fn, arg, e);
}

/* ---- what changes ---- */

/* Where the name of a session's folder begins in its path; NULL: it has no folder, or out of memory. A directory of the
 * store above it, such as `tmp`, may have the same name. */
static const char *project_move_folder_in(const struct session_ref *ref, struct arena *a)
{
    const char *at = arena_format(a, "/%.*s/", SLICE_ARG(ref->folder)), *root = ref->store->path;
    const char *path = ref->path.p + (path_under(ref->path, slice_of(root)) ? strlen(root) : 0);
    const char *below = *path ? strchr(path + 1, '/') : NULL, *in = NULL;

    if (!at || !ref->folder.n)
        return NULL;
    if (below)
        in = strstr(below, at);
    in = in ? in : strstr(path, at);
    return in ? in + 1 : NULL;
}

static void project_move_refuse(struct project_move_item *x, enum err_code code, const char *why)
{
    x->code = code;
    x->why = why;
}

/* A part of the session that is inside its folder, and where it moves to. */
static enum err_code project_move_part(struct project_move *m, struct project_move_item *x,
                                       const char *part, size_t prefix, struct slice folder,
                                       struct change *c, struct err *e)
{
    const char *rest = part + prefix + x->ref.folder.n;
    char *to = arena_format(&m->arena, "%.*s%.*s%s", (int)prefix, part, SLICE_ARG(folder), rest);
    struct stat st;

    NEED(to);
    if (lstat(part, &st))
        return errno == ENOENT ? ERR_OK : err_sys(e, part, "move");
    const size_t places = m->taken.n;
    uint32_t number;

    NEED(!idset_add(&m->taken, id128_of(slice_of(to)), &number));
    if (lstat(to, &st) == 0 || number < places) {
        project_move_refuse(x, ERR_STALE,
                            arena_format(&m->arena, "a session is already there: %s", to));
        return x->why ? ERR_OK : err_nomem(e);
    }
    /* The transcript, or a directory that it is in. */
    if (path_under(x->ref.path, slice_of(part)))
        NEED(x->path = arena_format(&m->arena, "%s%s", to, x->ref.path.p + strlen(part)));
    const struct step move = { .kind = STEP_MOVE, .path = part, .to = to };

    return change_add(c, &move, e);
}

static enum err_code project_move_parts(struct project_move *m, struct project_move_item *x,
                                        struct change *c, struct err *e)
{
    const struct store_ops *ops = x->ref.store->ops;
    const struct slice was = ops->folder_of(x->ref.store, slice_of(x->from), &m->arena),
                       folder = ops->folder_of(x->ref.store, slice_of(x->to), &m->arena);
    const char *inside = project_move_folder_in(&x->ref, &m->arena);
    const char *path = x->ref.path.p, **part = NULL;
    struct stat st;
    size_t n = 0;

    NEED(was.p && folder.p && !m->arena.failed);

    if (inside && !ops->adopt && !slice_eq(x->ref.folder, was) &&
        !slice_eq(x->ref.folder, folder)) {
        project_move_refuse(x, ERR_STALE, "it is in the folder of another directory");
        return ERR_OK;
    }
    if (!inside || slice_eq(folder, x->ref.folder))
        return ERR_OK;
    const size_t prefix = (size_t)(inside - path);
    const char *there = arena_format(&m->arena, "%.*s%.*s", (int)prefix, path, SLICE_ARG(folder));

    NEED(there);
    if (!path_is_dir(there) && (lstat(there, &st) == 0 || errno != ENOENT)) {
        project_move_refuse(x, ERR_STALE,
                            arena_format(&m->arena, "its new folder is none: %s", there));
        return x->why ? ERR_OK : err_nomem(e);
    }
    TRY(store_session_parts(ops)(x->ref.store, &x->ref, true, &m->arena, &part, &n, e));
    for (size_t i = 0; i < n && !x->why; i++)
        if (strncmp(part[i], path, prefix + x->ref.folder.n + 1) == 0)
            TRY(project_move_part(m, x, part[i], prefix, folder, c, e));
    return ERR_OK;
}

/* The steps of one session, which has all of them or none. */
static enum err_code project_move_item(struct project_move *m, struct project_move_item *x,
                                       struct live live, struct err *e)
{
    const struct store *st = x->ref.store;
    const struct change_origin origin = { st->path, x->from, arena_copy(&m->arena, x->title).p };
    CLEANUP(change_free_at) struct change *c = change_new("move");
    struct err why = { 0 };

    NEED(c);
    if (live.state != LIVE_QUIET) {
        project_move_refuse(x, ERR_LOCKED,
                            arena_format(&m->arena, "an agent may have it open: %s",
                                         live.why ? live.why : "it is running"));
        return x->why ? ERR_OK : err_nomem(e);
    }

    /* The session is planned in a change of its own, so that a refusal leaves no steps behind. */
    enum err_code rc =
        st->ops->set_directory(st, &x->ref, slice_of(x->from), slice_of(x->to), c, &why);

    if (!rc)
        rc = project_move_parts(m, x, c, &why);
    for (size_t i = 0; i < c->n && !rc && !x->why; i++)
        rc = step_check_allowed(&c->step[i], &why);
    if (rc == ERR_NOMEM)
        return err_nomem(e);
    if (rc) {
        char text[512];

        err_format(&why, text, sizeof text);
        project_move_refuse(x, rc, arena_copy_text(&m->arena, text));
    }
    if (x->why || c->n == 0) {
        x->path = x->ref.path.p;
        return ERR_OK;
    }
    m->moving++;
    TRY(change_add_session(m->change, st->ops->name, x->ref.id, e));
    TRY(change_set_origin(m->change, &origin, e));
    if (st->ops->adopt)
        TRY(st->ops->adopt(st, st->ops->folder_of(st, slice_of(x->to), &m->arena), slice_of(x->to),
                           m->change, e));
    for (size_t i = 0; i < c->n; i++)
        TRY(change_add(m->change, &c->step[i], e));
    return ERR_OK;
}

static enum err_code project_move_steps(struct project_move *m, struct err *e)
{
    const struct session_ref **ref =
        arena_alloc(&m->arena, (m->n + 1) * sizeof(struct session_ref *));
    struct live *live = arena_zalloc(&m->arena, (m->n + 1) * sizeof *live);
    size_t movable = 0, k = 0;

    NEED(ref && live);
    for (size_t i = 0; i < m->n; i++) {
        const struct store_ops *ops = m->item[i].ref.store->ops;

        if (ops->set_directory)
            ref[movable++] = &m->item[i].ref;
        else {
            const char *why = store_unsupported_reason(ops, CAN_MOVE);

            project_move_refuse(&m->item[i], ERR_UNSUPPORTED,
                                why ? why : "its agent cannot move it; resume it by its id");
        }
    }
    TRY(live_check(ref, movable, live, e));
    for (size_t i = 0; i < m->n; i++)
        if (!m->item[i].why)
            TRY(project_move_item(m, &m->item[i], live[k++], e));
    return ERR_OK;
}

/* ---- the move ---- */

static enum err_code project_move_places(struct project_move *m, const struct store_env *env,
                                         const char *from, const char *to, struct err *e)
{
    char real[PATH_MAX];

    m->from = path_normalize(env->cwd, from, &m->arena);
    NEED(m->from);
    if (!realpath(to, real))
        return err_sys(e, to, "move: examine the new directory");
    if (!path_is_dir(real))
        return err_set(e, ERR_USAGE, to, "move: the new place is not a directory");
    if (!utf8_valid(slice_of(real)))
        return err_set(e, ERR_UNSUPPORTED, to,
                       "move: sessions name directories in UTF-8, and this name is not in it");
    NEED(m->to = arena_copy_text(&m->arena, real));
    if (strcmp(m->from, "/") == 0 || path_under(slice_of(m->to), slice_of(m->from)))
        return err_set(e, ERR_USAGE, to, "move: the new directory is the old one, or in it");
    return ERR_OK;
}

enum err_code project_move_plan(struct store *const stores[], size_t n, const struct store_env *env,
                                const char *from, const char *to, struct project_move *out,
                                struct err *e)
{
    *out = (struct project_move){ 0 };
    NEED(out->change = change_new("move"));
    enum err_code rc = project_move_places(out, env, from, to, e);
    struct project_move_search s = { .m = out };

    if (!rc) {
        s.old.project = slice_of(out->from);
        s.real = project_move_real(out->from, &out->arena);
        rc = s.real ? ERR_OK : err_nomem(e);
    }

    /* A link that leads to the new place already is no name of the old one. */
    if (!rc && (strcmp(s.real, "/") == 0 || path_under(slice_of(out->to), slice_of(s.real))))
        s.real = NULL;
    if (!rc)
        rc = project_each_row(stores, n, project_move_found, &s, &s.ref, e);
    if (!rc)
        rc = project_move_steps(out, e);
    if (!rc && !(out->change->text =
                     arena_format(&out->change->arena, "%s moved to %s", out->from, out->to)))
        rc = err_nomem(e);
    if (rc)
        project_move_fini(out);
    return rc;
}
