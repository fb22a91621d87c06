#include <stdio.h>

#include "store/git/repo.h"
#include "store/systems/entire/entire.h"
#include "store/systems/entire/names.h"
#include "store/systems/entire/read/catalog.h"
#include "store/systems/entire/read/conversation.h"
#include "store/systems/entire/rewind/plan_common.h"

/* Checks a session, and data that belongs to no session, for damage. Nothing is changed. */

enum { STUCK_MS = 60 * 60 * 1000 };

struct checking {
    struct slice session; /* empty: none */
    finding_fn *fn;
    void *arg;
    struct err *e;
};

static enum err_code report_damage(struct checking *x, enum finding_kind kind, const char *path,
                                   const char *why)
{
    const struct finding f = { .kind = kind, .session = x->session, .path = path, .why = why };

    return x->fn(&f, x->arg, x->e);
}

static enum err_code check_point(struct checking *x, git_repository *repo, const struct point *p)
{
    struct buf text = { 0 };
    enum transcript_hash verdict;
    char name[80];

    if (p->source == POINT_SHADOW)
        return ERR_OK;
    enum err_code rc = committed_transcript(repo, p, &text, &verdict, NULL);

    snprintf(name, sizeof name, "checkpoint %.40s", p->id.p);
    buf_fini(&text);
    if (rc == ERR_NOMEM)
        return rc;
    if (rc)
        return report_damage(x, FINDING_MISSING_BACKUP, name,
                             "its transcript is missing or damaged");
    return verdict == HASH_OTHER ? report_damage(x, FINDING_CHECKSUM, name,
                                                 "the transcript does not match content_hash.txt")
                                 : ERR_OK;
}

static bool is_active(const struct catalog_session *s)
{
    return s->state && s->state->phase == PHASE_ACTIVE;
}

/* Concurrent sessions share a shadow branch. This is not damage, but worth reporting. */
static enum err_code check_others(struct checking *x, const struct view *v, const char *path)
{
    const struct entire_state *mine = v->session->state;
    size_t n = 0;
    char why[120];

    if (!mine)
        return ERR_OK;
    for (size_t i = 0; i < v->catalog->n; i++) {
        const struct entire_state *s = v->catalog->session[i].state;

        n += catalog_is_concurrent(mine, s);
    }
    snprintf(why, sizeof why, "%zu other session%s active in the same work tree", n,
             n == 1 ? " is" : "s are");
    return n ? report_damage(x, FINDING_CONCURRENT, path, why) : ERR_OK;
}

enum err_code entire_check(const struct store *st, const struct session_ref *ref,
                           const atomic_bool *cancel, finding_fn *fn, void *arg, struct err *e)
{
    struct checking x = { .session = ref->id, .fn = fn, .arg = arg, .e = e };
    struct view v;
    enum err_code rc = view_open(st, ref, &v, e);

    if (rc)
        return rc;
    for (size_t i = 0; i < v.session->n && !rc; i++) {
        if (cancel && atomic_load(cancel))
            break;
        rc = check_point(&x, v.repo, &v.session->point[i]);
    }
    if (!rc && is_active(v.session) &&
        v.session->state->interaction_ms < st->env->now_ms - STUCK_MS)
        rc = report_damage(&x, FINDING_STUCK, ref->path.p,
                           "its state has recorded a turn in progress for more than an hour");
    if (!rc)
        rc = check_others(&x, &v, ref->path.p);
    view_close(&v);
    return rc;
}

/* Returns true if a commit of the branch names no session. */
static bool is_of_nobody(const struct catalog *c, const struct shadow *s)
{
    for (size_t i = 0; i < c->points.n; i++)
        if (c->points.point[i].source == POINT_SHADOW && c->points.point[i].session.n == 0 &&
            slice_eq(c->points.point[i].branch, s->branch))
            return true;
    return false;
}

/* Reports branches that only look like shadow branches, and checkpoints of sessions without a state. */
static enum err_code check_shadows(struct checking *x, const struct catalog *c)
{
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < c->shadows.n && !rc; i++)
        if (c->shadows.shadow[i].doubtful)
            rc = report_damage(x, FINDING_ORPHAN_BRANCH, c->shadows.shadow[i].branch.p,
                               "named like a shadow branch, but not Entire's; it is left alone");
    for (size_t i = 0; i < c->shadows.n && !rc; i++)
        if (is_of_nobody(c, &c->shadows.shadow[i]))
            rc = report_damage(x, FINDING_ORPHAN_BRANCH, c->shadows.shadow[i].branch.p,
                               "contains a commit that names no session");
    for (size_t i = 0; i < c->n && !rc; i++)
        if (!catalog_listed(&c->session[i]) && c->session[i].n)
            rc = report_damage(x, FINDING_ORPHAN_BRANCH, c->session[i].point->branch.p,
                               "contains checkpoints of a session without a state file");
    return rc;
}

enum err_code entire_check_store(const struct store *st, const struct scope *scope, finding_fn *fn,
                                 void *arg, struct err *e)
{
    const struct entire *s = entire_of(st);
    struct checking x = { .fn = fn, .arg = arg, .e = e };
    struct catalog *c;
    enum err_code rc = entire_catalog(s, true, &c, e);

    (void)scope;
    if (rc)
        return rc;
    for (size_t i = 0; i < c->problems.n && !rc; i++)
        rc = report_damage(&x, FINDING_UNREADABLE, c->problems.problem[i].path,
                           c->problems.problem[i].why);
    if (!rc)
        rc = check_shadows(&x, c);
    catalog_close(s->cache, c);
    return rc;
}
