#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "lite/base/time.h"
#include "store/api/leftover.h"
#include "store/git/ref.h"
#include "store/git/repo.h"
#include "store/systems/entire/entire.h"
#include "store/systems/entire/names.h"

/* Shadow branches of which every commit is of a session that has no state any more: nobody can go on with them, and no
 * commit takes them up. What cannot be read says nothing: a state that is broken or half-written is one all the same. */

struct look {
    const struct entire *x;
    const struct catalog *c;
    git_repository *repo;
    struct arena arena;
    leftover_fn *fn;
    void *arg;
};

/* newest: of its commits. */
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

/* What lay there before rewinds: those that nobody undid. */
static enum err_code report_before_refs(struct look *l, struct err *e)
{
    git_reference_iterator *it = NULL;
    const char *name;
    enum err_code rc = ERR_OK;

    if (git_reference_iterator_glob_new(&it, l->repo, REF_BEFORE "*"))
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

/* A repository has its branches for all of its work trees. */
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
        rc = err_sys(e, l.x->states, "look for states, without which nothing can be said");
    for (size_t i = 0; i < c->shadows.n && !rc; i++) {
        const struct point *newest;

        if (is_left(&l, &c->shadows.shadow[i], &newest))
            rc = report_shadow(&l, &c->shadows.shadow[i], newest, e);
    }
    if (!rc)
        rc = report_before_refs(&l, e);
    repo_close(l.repo);
    catalog_close(l.x->cache, c);
    arena_fini(&l.arena);
    return rc;
}
