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
    AUTO_CATALOG *c = NULL;
    const char **list = arena_zalloc(a, (PARTS + 1) * sizeof *list), *root;
    size_t k = 0;

    NEED(list);
    TRY(entire_session(st, ref->id, &c, &s, e));
    root = view_root(x, s);
    if (s->state)
        NEED(list[k++] = arena_format(a, "%s/%s.json", x->states, s->id.p));
    if (s->state && root && all) {
        NEED(list[k++] = arena_format(a, "%s/.entire/metadata/%s", root, s->id.p));
        NEED(list[k++] = arena_format(a, "%s/.entire/tmp/pre-prompt-%s.json", root, s->id.p));
    }
    *part = list;
    *n = k;
    return ERR_OK;
}

/* ---- the shadow branch ---- */

/* Returns true if a commit of the branch names no session, or another one that has a state, even a damaged one. */
static bool is_used_by_others(const struct view *v, const struct shadow *shadow)
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

enum err_code entire_owned_refs(const struct store *st, const struct session_ref *ref,
                                struct arena *a, struct owned_refs *out, struct err *e)
{
    CLEANUP(view_close) struct view v = { 0 };
    struct owned_refs refs = { .stays = entire_only_committed };
    char hex[GIT_OID_HEXSZ + 1];
    bool shared = false, cut = false;

    TRY(view_open(st, ref, &v, e));
    if (v.session->state)
        cut = view_shadow_is_unread(&v);
    for (size_t i = 0; v.session->state && i < v.catalog->shadows.n; i++) {
        const struct shadow *shadow = &v.catalog->shadows.shadow[i];
        struct owned_ref *more;

        if (!view_owns_shadow(&v, shadow))
            continue;
        if (shadow->cut) {
            cut = true;
            continue;
        }
        if (shadow->doubtful || repo_is_checked_out(v.repo, shadow->branch.p) ||
            is_used_by_others(&v, shadow)) {
            shared = true;
            continue;
        }
        NEED(more = arena_grow(a, (void *)refs.ref, refs.n, sizeof *more));
        git_oid_tostr(hex, sizeof hex, &shadow->tip);
        more[refs.n] =
            (struct owned_ref){ .git = arena_copy_text(a, v.store->common),
                                .name = arena_format(a, ENTIRE_HEADS "%s", shadow->branch.p),
                                .tip = arena_copy_text(a, hex) };
        NEED(more[refs.n].git && more[refs.n].name && more[refs.n].tip);
        refs.ref = more;
        refs.n++;
    }
    if (v.session->state) {
        /* Not all of a branch may be readable (cut), and others may work on it (shared). */
        refs.stays =
            v.session->committed
                ? cut ? "its committed checkpoints stay (they are history of the repository), and "
                        "so does its shadow branch, not all of which can be read"
                  : shared
                      ? "its committed checkpoints stay (they are history of the repository), and "
                        "so does its shadow branch, which others use"
                      : "its committed checkpoints stay: they are history of the repository"
            : cut    ? "its shadow branch stays: not all of it can be read"
            : shared ? "its shadow branch stays: others use it"
                     : NULL;
    }
    *out = refs;
    return ERR_OK;
}

/* ---- leftovers ---- */

/* Leftovers are shadow branches whose commits all belong to sessions without a state, because
 * nothing will continue or condense them. A damaged or half-written state still counts as a state. */

struct leftover_walk {
    const struct entire *x;
    const struct catalog *c;
    git_repository *repo;
    leftover_fn *fn;
    void *arg;
};

/* Returns true if a shadow branch is a leftover, and the newest of its commits. */
static bool entire_is_left(const struct leftover_walk *l, const struct shadow *s,
                           const struct point **newest)
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

/* The name without its first part is the id. */
static enum err_code report_ref(const struct leftover_walk *l, const char *name, const char *first,
                                const git_oid *tip, int64_t time_ms, struct err *e)
{
    char hex[GIT_OID_HEXSZ + 1];
    const struct owned_ref ref = { .git = l->x->common, .name = name, .tip = hex };
    const struct leftover left = {
        .id = slice_of(name + strlen(first)),
        .folder = SLICE(""),
        .owned_refs = &ref,
        .owned_refs_n = 1,
        .owned_refs_ms = time_ms,
    };

    git_oid_tostr(hex, sizeof hex, tip);
    return l->fn(&left, l->arg, e);
}

/* Reports what reprise keeps: the work trees before rewinds that were not undone, and the former
 * tips of shadow branches. */
static enum err_code report_kept_refs(const struct leftover_walk *l, struct err *e)
{
    static const char *const globs[] = { REF_BEFORE "*", ENTIRE_MOVED "*", ENTIRE_CONDENSED "*" };
    const char *name;

    for (size_t i = 0; i < COUNT_OF(globs); i++) {
        AUTO_REFS *it = NULL;

        if (git_reference_iterator_glob_new(&it, l->repo, globs[i]))
            continue;
        while (git_reference_next_name(&name, it) == 0) {
            AUTO_COMMIT *c = NULL;
            git_oid tip;

            if (repo_has_ref(l->repo, name, &tip) && git_commit_lookup(&c, l->repo, &tip) == 0)
                TRY(report_ref(l, name, "refs/reprise/", &tip, (int64_t)git_commit_time(c) * 1000,
                               e));
        }
    }
    return ERR_OK;
}

enum err_code entire_leftovers(const struct store *st, const struct scope *scope, leftover_fn *fn,
                               void *arg, struct err *e)
{
    struct leftover_walk l = { .x = entire_of(st), .fn = fn, .arg = arg };
    AUTO_CATALOG *c = NULL;
    AUTO_REPO *repo = NULL;

    /* Branches belong to all work trees of the repository. */
    if (!entire_in_scope(l.x, scope, &(struct catalog_session){ .n = 0 }))
        return ERR_OK;
    enum err_code rc = entire_catalog(l.x, true, &c, e);

    if (rc)
        return rc == ERR_NOT_FOUND ? ERR_OK : rc;
    TRY(repo_open(l.x->git, &repo, e));
    if (access(l.x->states, R_OK | X_OK) && errno != ENOENT)
        return err_sys(e, l.x->states, "look for states");
    l.c = c;
    l.repo = repo;
    for (size_t i = 0; i < c->shadows.n; i++) {
        const struct shadow *s = &c->shadows.shadow[i];
        const struct point *newest;
        AUTO_ARENA a = { 0 };

        if (!entire_is_left(&l, s, &newest))
            continue;
        const char *name = arena_format(&a, ENTIRE_HEADS "%s", s->branch.p);

        NEED(name);
        TRY(report_ref(&l, name, ENTIRE_HEADS "entire/", &s->tip,
                       newest->time_ms == TIME_NONE ? 0 : newest->time_ms, e));
    }
    return report_kept_refs(&l, e);
}
