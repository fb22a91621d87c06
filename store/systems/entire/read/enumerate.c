#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "lite/base/time.h"
#include "store/rewind/plan/pathrule.h"
#include "store/systems/entire/entire.h"
#include "store/systems/entire/names.h"

/* Sessions by their names: from state files, and from committed checkpoints that outlived them. */

/* ---- scope ---- */

/* The work tree of the repository that a directory lies in: the deepest. */
static const char *deepest_worktree(const struct entire *x, struct slice dir)
{
    const char *best = NULL;

    for (size_t i = 0; i < x->trees; i++)
        if (pathrule_under(dir, slice_of(x->tree[i])) &&
            (!best || strlen(x->tree[i]) > strlen(best)))
            best = x->tree[i];
    if (!best && pathrule_under(dir, slice_of(x->common)))
        best = x->common;
    return best;
}

/* A session without a work tree (committed, perhaps pushed by somebody else) belongs to all of them. */
static bool is_of_tree(const struct entire *x, const struct catalog_session *s, struct slice dir)
{
    const char *tree = deepest_worktree(x, dir);

    if (!tree)
        return false;
    return !s->state || s->state->worktree_path.n == 0 || strcmp(tree, x->common) == 0 ||
           slice_eq(s->state->worktree_path, slice_of(tree));
}

/* One whose work tree is gone is shown where the repository is. */
static bool is_homeless(const struct entire *x, const struct catalog_session *s)
{
    if (!s->state || s->state->worktree_path.n == 0)
        return false;
    for (size_t i = 0; i < x->trees; i++)
        if (slice_eq(s->state->worktree_path, slice_of(x->tree[i])))
            return false;
    return true;
}

bool entire_in_scope(const struct entire *x, const struct scope *scope,
                     const struct catalog_session *s)
{
    if (scope->all || is_of_tree(x, s, scope->project))
        return true;
    if (deepest_worktree(x, scope->project) && is_homeless(x, s))
        return true;
    for (size_t i = 0; i < scope->trees; i++)
        if (is_of_tree(x, s, scope->tree[i]))
            return true;
    return false;
}

/* ---- refs ---- */

/* A session that lies in objects only has no file: what tells it apart is its newest checkpoint. */
static struct file_id file_of(const struct catalog_session *s)
{
    const struct point *p = catalog_newest(s);
    struct file_id id = { 0 };

    if (s->state)
        return s->state->file;
    if (!p)
        p = s->n ? &s->point[s->n - 1] : NULL;
    if (p) {
        memcpy(&id.ino, p->tree.id, sizeof id.ino);
        id.mtime_ns = p->time_ms == TIME_NONE ? 0 : time_ns_of_ms(p->time_ms);
    }
    return id;
}

bool entire_ref(const struct entire *x, const struct catalog_session *s, struct arena *a,
                struct session_ref *out)
{
    const char *path = arena_format(a, "%s/%.*s.json", x->states, SLICE_ARG(s->id));

    *out = (struct session_ref){
        .store = &x->base, .id = arena_copy(a, s->id), .folder = SLICE(""), .file = file_of(s)
    };
    if (!path || !out->id.p)
        return false;
    int64_t recent = catalog_activity(s);

    out->path = slice_of(path);
    out->recent_ms = recent == TIME_NONE ? 0 : recent;
    return true;
}

enum err_code entire_enumerate(const struct store *st, const struct scope *scope,
                               session_ref_fn *fn, void *arg, struct err *e)
{
    const struct entire *x = entire_of(st);
    struct catalog *c;
    struct arena a = { 0 };
    bool go_on = true;
    enum err_code rc = entire_catalog(x, true, &c, e);

    if (rc)
        return rc;
    for (size_t i = 0; !rc && go_on && i < c->n; i++) {
        struct session_ref ref;

        if (!catalog_listed(&c->session[i]) || !entire_in_scope(x, scope, &c->session[i]))
            continue;
        arena_reset(&a);
        if (entire_ref(x, &c->session[i], &a, &ref))
            go_on = fn(&ref, arg);
        else
            rc = err_nomem(e);
    }
    arena_fini(&a);
    catalog_close(x->cache, c);
    return rc;
}

enum err_code entire_unreadable(const struct store *st, const struct scope *scope, trouble_fn *fn,
                                void *arg, struct err *e)
{
    const struct entire *x = entire_of(st);
    struct err trouble = { 0 };
    struct catalog *c;
    enum err_code rc = entire_catalog(x, false, &c, e);

    (void)scope;
    if (rc)
        return rc;
    if (c->problems.cut) {
        err_set(&trouble, ERR_UNSUPPORTED, x->base.path, "list sessions: %s", c->problems.cut);
        fn(&trouble, arg);
    }
    catalog_close(x->cache, c);
    return ERR_OK;
}

/* ---- by name ---- */

enum err_code entire_find(const struct store *st, const struct scope *scope, struct slice id,
                          struct arena *a, struct session_ref *ref, struct err *e)
{
    const struct entire *x = entire_of(st);
    const struct catalog_session *s;
    struct catalog *c;

    if (!entire_session_id_ok(id))
        return err_set(e, ERR_USAGE, "", "find session: not an Entire session id");
    enum err_code rc = entire_session(st, id, &c, &s, e);

    if (rc)
        return rc;
    if (!entire_in_scope(x, scope, s))
        rc = err_set(e, ERR_NOT_FOUND, "", "find session %.*s: not in this scope",
                     (int)(id.n > 64 ? 64 : id.n), id.p);
    else if (!entire_ref(x, s, a, ref))
        rc = err_nomem(e);
    catalog_close(x->cache, c);
    return rc;
}

enum err_code entire_at_path(const struct store *st, struct slice path, struct arena *a,
                             struct session_ref *ref, struct err *e)
{
    const struct entire *x = entire_of(st);
    size_t n = strlen(x->states);
    struct slice id = SLICE("");
    static const char suffix[] = ".json";
    size_t k = sizeof suffix - 1;

    if (path.n > n + 1 + k && memcmp(path.p, x->states, n) == 0 && path.p[n] == '/' &&
        memcmp(path.p + path.n - k, suffix, k) == 0)
        id = (struct slice){ path.p + n + 1, path.n - n - 1 - k };
    if (!entire_session_id_ok(id))
        return err_set(e, ERR_NOT_FOUND, path.p, "open session: there is none");
    return entire_find(st, &(struct scope){ .all = true }, id, a, ref, e);
}
