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

static enum err_code entire_check_point(struct checking *x, git_repository *repo,
                                        const struct point *p)
{
    AUTO_BUF text = { 0 };
    enum transcript_hash verdict;
    char name[80];

    if (p->source == POINT_SHADOW)
        return ERR_OK;
    enum err_code rc = committed_transcript(repo, p, &text, &verdict, NULL);

    if (rc == ERR_NOMEM)
        return rc;
    snprintf(name, sizeof name, "checkpoint %.40s", p->id.p);
    if (rc)
        return report_damage(x, FINDING_MISSING_BACKUP, name,
                             "its transcript is missing or damaged");
    return verdict == HASH_OTHER ? report_damage(x, FINDING_CHECKSUM, name,
                                                 "the transcript does not match content_hash.txt")
                                 : ERR_OK;
}

enum err_code entire_check(const struct store *st, const struct session_ref *ref,
                           const atomic_bool *cancel, finding_fn *fn, void *arg, struct err *e)
{
    struct checking x = { .session = ref->id, .fn = fn, .arg = arg, .e = e };
    CLEANUP(view_close) struct view v = { 0 };
    size_t others = 0;
    char why[120];

    TRY(view_open(st, ref, &v, e));
    for (size_t i = 0; i < v.session->n && !(cancel && atomic_load(cancel)); i++)
        TRY(entire_check_point(&x, v.repo, &v.session->point[i]));

    const struct entire_state *state = v.session->state;

    if (!state)
        return ERR_OK;
    if (state->phase == PHASE_ACTIVE && state->interaction_ms < st->env->now_ms - STUCK_MS)
        TRY(report_damage(&x, FINDING_STUCK, ref->path.p,
                          "its state has recorded a turn in progress for more than an hour"));

    /* Concurrent sessions share a shadow branch. This is not damage, but worth reporting. */
    for (size_t i = 0; i < v.catalog->n; i++)
        others += catalog_is_concurrent(state, v.catalog->session[i].state);
    snprintf(why, sizeof why, "%zu other session%s active in the same work tree", others,
             others == 1 ? " is" : "s are");
    return others ? report_damage(&x, FINDING_CONCURRENT, ref->path.p, why) : ERR_OK;
}

/* Returns true if a commit of the branch names no session. */
static bool has_anonymous_commit(const struct catalog *c, const struct shadow *s)
{
    for (size_t i = 0; i < c->points.n; i++)
        if (c->points.point[i].source == POINT_SHADOW && c->points.point[i].session.n == 0 &&
            slice_eq(c->points.point[i].branch, s->branch))
            return true;
    return false;
}

enum err_code entire_check_store(const struct store *st, const struct scope *scope, finding_fn *fn,
                                 void *arg, struct err *e)
{
    struct checking x = { .fn = fn, .arg = arg, .e = e };
    AUTO_CATALOG *c = NULL;

    (void)scope;
    TRY(entire_catalog(entire_of(st), true, &c, e));
    for (size_t i = 0; i < c->problems.n; i++)
        TRY(report_damage(&x, FINDING_UNREADABLE, c->problems.problem[i].path,
                          c->problems.problem[i].why));

    /* Branches that only look like shadow branches, and checkpoints of sessions without a state. */
    for (size_t i = 0; i < c->shadows.n; i++)
        if (c->shadows.shadow[i].doubtful)
            TRY(report_damage(&x, FINDING_ORPHAN_BRANCH, c->shadows.shadow[i].branch.p,
                              "named like a shadow branch, but not Entire's; it is left alone"));
    for (size_t i = 0; i < c->shadows.n; i++)
        if (has_anonymous_commit(c, &c->shadows.shadow[i]))
            TRY(report_damage(&x, FINDING_ORPHAN_BRANCH, c->shadows.shadow[i].branch.p,
                              "contains a commit that names no session"));
    for (size_t i = 0; i < c->n; i++)
        if (!catalog_listed(&c->session[i]) && c->session[i].n)
            TRY(report_damage(&x, FINDING_ORPHAN_BRANCH, c->session[i].point->branch.p,
                              "contains checkpoints of a session without a state file"));
    return ERR_OK;
}
