#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "lite/base/time.h"
#include "store/api/finding.h"
#include "store/git/repo.h"
#include "store/systems/entire/entire.h"
#include "store/systems/entire/names.h"
#include "store/systems/entire/rewind/plan_common.h"

/* Deleting a session removes its state file, what its agent's hooks keep in the work tree, and its shadow branch if no
 * other session works on it (docs/formats/entire.md 2.10). Committed checkpoints stay: they are history that others may
 * have, and a commit of the user names them. The agent's own transcript is a session of the agent. */

enum { PARTS = 3 };

const char entire_only_committed[] =
    "only its committed checkpoints are left: they are history of the repository, which others may "
    "have";

enum err_code entire_parts(const struct store *st, const struct session_ref *ref, bool all,
                           struct arena *a, const char ***part, size_t *n, struct err *e)
{
    const struct entire *x = entire_of(st);
    const struct catalog_session *s;
    struct catalog *c;
    const char **list = arena_zalloc(a, (PARTS + 1) * sizeof *list), *root;
    size_t k = 0;
    enum err_code rc = list ? entire_session(st, ref->id, &c, &s, e) : err_nomem(e);

    if (rc)
        return rc;
    root = view_root(x, s);
    if (s->state)
        list[k++] = arena_format(a, "%s/%s.json", x->states, s->id.p);
    if (s->state && root && all) {
        list[k++] = arena_format(a, "%s/.entire/metadata/%s", root, s->id.p);
        list[k++] = arena_format(a, "%s/.entire/tmp/pre-prompt-%s.json", root, s->id.p);
    }
    catalog_close(x->cache, c);
    for (size_t i = 0; i < k; i++)
        if (!list[i])
            return err_nomem(e);
    *part = list;
    *n = k;
    return ERR_OK;
}

/* ---- the shadow branch ---- */

struct owning {
    struct view *v;
    struct arena *a;
    struct owned_refs out;
    bool shared; /* a branch stays because others work on it */
    bool cut;    /* or because a part of it cannot be read */
};

static bool add_ref(struct owning *t, const struct shadow *shadow)
{
    struct owned_ref *list = arena_grow(t->a, (void *)t->out.ref, t->out.n, sizeof *list);
    char hex[GIT_OID_HEXSZ + 1];

    if (!list)
        return false;
    git_oid_tostr(hex, sizeof hex, &shadow->tip);
    list[t->out.n] =
        (struct owned_ref){ .git = arena_format(t->a, "%s", t->v->store->common),
                            .name = arena_format(t->a, ENTIRE_HEADS "%s", shadow->branch.p),
                            .tip = arena_format(t->a, "%s", hex) };
    t->out.ref = list;
    return list[t->out.n].git && list[t->out.n].name && list[t->out.n++].tip;
}

/* Returns true if a commit of the branch names no session, or another one that has a state, even a damaged one. */
static bool is_used(const struct view *v, const struct shadow *shadow)
{
    const struct point_list *all = &v->catalog->points;

    for (size_t i = 0; i < all->n; i++) {
        const struct point *p = &all->point[i];

        if (p->source == POINT_SHADOW && slice_eq(p->branch, shadow->branch) &&
            !slice_eq(p->session, v->session->id) &&
            (p->session.n == 0 || state_exists(v->store->states, p->session)))
            return true;
    }
    return false;
}

static bool add_shadow(struct owning *t, const struct shadow *shadow)
{
    if (!view_owns_shadow(t->v, shadow))
        return true;
    if (shadow->cut) {
        t->cut = true;
        return true;
    }
    if (shadow->doubtful || repo_is_checked_out(t->v->repo, shadow->branch.p) ||
        is_used(t->v, shadow)) {
        t->shared = true;
        return true;
    }
    return add_ref(t, shadow);
}

static const char *what_stays(const struct owning *t)
{
    const struct catalog_session *s = t->v->session;

    if (!s->state)
        return entire_only_committed;
    if (s->committed)
        return t->cut ? "its committed checkpoints stay (they are history of the repository), and "
                        "so does its shadow branch, not all of which can be read"
               : t->shared
                   ? "its committed checkpoints stay (they are history of the repository), and "
                     "so does its shadow branch, which others use"
                   : "its committed checkpoints stay: they are history of the repository";
    return t->cut      ? "its shadow branch stays: not all of it can be read"
           : t->shared ? "its shadow branch stays: others use it"
                       : NULL;
}

enum err_code entire_owned_refs(const struct store *st, const struct session_ref *ref,
                                struct arena *a, struct owned_refs *out, struct err *e)
{
    struct view v;
    struct owning t = { .v = &v, .a = a };
    enum err_code rc = view_open(st, ref, &v, e);

    if (rc)
        return rc;
    t.cut = v.session->state && view_shadow_is_unread(&v);
    for (size_t i = 0; v.session->state && i < v.catalog->shadows.n && !rc; i++)
        if (!add_shadow(&t, &v.catalog->shadows.shadow[i]))
            rc = err_nomem(e);
    t.out.stays = what_stays(&t);
    view_close(&v);
    if (!rc)
        *out = t.out;
    return rc;
}

/* Leftovers are shadow branches whose commits all belong to sessions without a state, because
 * nothing will continue or condense them. A damaged or half-written state still counts as a state. */

struct look {
    const struct entire *x;
    const struct catalog *c;
    git_repository *repo;
    struct arena arena;
    leftover_fn *fn;
    void *arg;
};

/* *newest: the newest of its commits. */
static bool is_left(struct look *l, const struct shadow *s, const struct point **newest)
{
    const struct point_list *all = &l->c->points;

    *newest = NULL;
    if (s->doubtful || s->cut || entire_shadow_shape(s->branch) != ENTIRE_SHADOW ||
        repo_is_checked_out(l->repo, s->branch.p))
        return false;
    for (size_t i = 0; i < all->n; i++) {
        const struct point *p = &all->point[i];
        const struct catalog_session *owner;

        if (p->source != POINT_SHADOW || !slice_eq(p->branch, s->branch))
            continue;
        owner = p->session.n ? catalog_find(l->c, p->session) : NULL;
        if (!owner || owner->state || state_exists(l->x->states, p->session))
            return false;
        if (!*newest || p->order < (*newest)->order)
            *newest = p;
    }
    return *newest != NULL && git_oid_equal(&(*newest)->commit, &s->tip);
}

static enum err_code report_shadow(struct look *l, const struct shadow *s,
                                   const struct point *newest, struct err *e)
{
    char hex[GIT_OID_HEXSZ + 1];

    git_oid_tostr(hex, sizeof hex, &s->tip);
    const struct owned_ref ref = { .git = l->x->common,
                                   .name = arena_format(&l->arena, ENTIRE_HEADS "%s", s->branch.p),
                                   .tip = hex };
    const struct leftover left = {
        .id = { s->branch.p + strlen("entire/"), s->branch.n - strlen("entire/") },
        .folder = SLICE(""),
        .owned_refs = &ref,
        .owned_refs_n = 1,
        .owned_refs_ms = newest->time_ms == TIME_NONE ? 0 : newest->time_ms,
    };

    return ref.name ? l->fn(&left, l->arg, e) : err_nomem(e);
}

static enum err_code report_refs(struct look *l, const char *glob, struct err *e)
{
    git_reference_iterator *it = NULL;
    const char *name;
    enum err_code rc = ERR_OK;

    if (git_reference_iterator_glob_new(&it, l->repo, glob))
        return ERR_OK;
    while (!rc && git_reference_next_name(&name, it) == 0) {
        char hex[GIT_OID_HEXSZ + 1];
        git_commit *c = NULL;
        git_oid tip;

        if (!repo_has_ref(l->repo, name, &tip) || git_commit_lookup(&c, l->repo, &tip))
            continue;
        git_oid_tostr(hex, sizeof hex, &tip);
        const struct owned_ref ref = { .git = l->x->common, .name = name, .tip = hex };
        const struct leftover left = {
            .id = slice_of(name + strlen("refs/reprise/")),
            .folder = SLICE(""),
            .owned_refs = &ref,
            .owned_refs_n = 1,
            .owned_refs_ms = (int64_t)git_commit_time(c) * 1000,
        };

        git_commit_free(c);
        rc = l->fn(&left, l->arg, e);
    }
    git_reference_iterator_free(it);
    return rc;
}

/* Reports what reprise keeps: the work trees before rewinds that were not undone, and the former
 * tips of shadow branches. */
static enum err_code report_kept_refs(struct look *l, struct err *e)
{
    static const char *const globs[] = { REF_BEFORE "*", ENTIRE_MOVED "*", ENTIRE_CONDENSED "*" };
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < sizeof globs / sizeof *globs && !rc; i++)
        rc = report_refs(l, globs[i], e);
    return rc;
}

/* Branches belong to all work trees of the repository. */
static bool is_asked_for(const struct entire *x, const struct scope *scope)
{
    const struct catalog_session any = { .n = 0 };

    return entire_in_scope(x, scope, &any);
}

enum err_code entire_leftovers(const struct store *st, const struct scope *scope, leftover_fn *fn,
                               void *arg, struct err *e)
{
    struct look l = { .x = entire_of(st), .fn = fn, .arg = arg };
    struct catalog *c;
    enum err_code rc = is_asked_for(l.x, scope) ? entire_catalog(l.x, true, &c, e) : ERR_NOT_FOUND;

    if (rc)
        return rc == ERR_NOT_FOUND ? ERR_OK : rc;
    l.c = c;
    rc = repo_open(l.x->git, &l.repo, e);
    if (!rc && access(l.x->states, R_OK | X_OK) && errno != ENOENT)
        rc = err_sys(e, l.x->states, "look for states");
    for (size_t i = 0; i < c->shadows.n && !rc; i++) {
        const struct point *newest;

        if (is_left(&l, &c->shadows.shadow[i], &newest))
            rc = report_shadow(&l, &c->shadows.shadow[i], newest, e);
    }
    if (!rc)
        rc = report_kept_refs(&l, e);
    repo_close(l.repo);
    catalog_close(l.x->cache, c);
    arena_fini(&l.arena);
    return rc;
}
