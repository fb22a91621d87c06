#include "tui/jobs/jobs_internal.h"

#include <stdio.h>
#include <string.h>

#include "store/maintenance/doctor.h"

static void post_findings(const struct reply *r, const struct effect *q, struct findings *found)
{
    jobs_post(r, q, (struct msg){ .kind = MSG_FINDINGS, .u.findings = found });
}

/* ---- one session ---- */

struct findings_sink {
    struct findings *findings;
    const char *system;
};

static enum err_code collect_finding(const struct finding *f, void *arg, struct err *e)
{
    const struct findings_sink *n = arg;

    return findings_add(n->findings, n->system, f, e);
}

enum err_code jobs_check_session(struct job_context *d, const struct effect *q,
                                 const struct reply *r, struct err *e)
{
    const struct session_ref *ref = &q->refs->ref[0];
    struct findings_sink n = { findings_new(), ref->store->ops->name };
    struct doctor doctor = { .env = d->env, .only = ref, .cancel = r->cancelled };
    enum err_code rc = n.findings ? jobs_scope(d, q->scope, &doctor.scope, e) : err_nomem(e);

    if (rc == ERR_OK && !d->env)
        rc = err_set(e, ERR_UNSUPPORTED, "", "nothing to check here");
    if (rc == ERR_OK)
        rc = doctor_examine(&doctor, collect_finding, &n, e);
    if (rc) {
        findings_free(n.findings);
        return rc;
    }
    post_findings(r, q, n.findings);
    return ERR_OK;
}

/* ---- files around the sessions ---- */

/* Damage of what belongs to no session, or to none that is listed. What is merely left behind is for the cleanup, and
 * what is merely strange for the doctor. */
static bool is_damage(enum finding_kind kind)
{
    switch (kind) {
    case FINDING_UNREADABLE:
    case FINDING_CHECKSUM:
    case FINDING_MISSING_BACKUP:
    case FINDING_WRONG_BACKUP:
    case FINDING_UNFINISHED_CHANGE:
    case FINDING_DAMAGED_CHANGE:
    case FINDING_UNFINISHED_REWIND:
    case FINDING_DAMAGED_REWIND:
    case FINDING_DAMAGED_TRASH: return true;
    default: return false;
    }
}

static enum err_code note_damage(const struct finding *f, void *arg, struct err *e)
{
    return is_damage(f->kind) ? collect_finding(f, arg, e) : ERR_OK;
}

enum err_code jobs_check_store(struct job_context *d, const struct effect *q, const struct reply *r,
                               struct err *e)
{
    struct findings_sink n = { .findings = findings_new(), .system = "reprise" };
    struct doctor own = { .env = d->env };
    struct scope scope = { 0 };
    enum err_code rc = n.findings ? jobs_scope(d, q->scope, &scope, e) : err_nomem(e);

    if (!rc && d->env)
        rc = doctor_own(&own, note_damage, &n, e);
    for (size_t i = 0; i < d->stores && !rc && !atomic_load(r->cancelled); i++) {
        const struct store *st = d->store[i];

        n.system = st->ops->name;
        if (st->ops->check_store)
            rc = st->ops->check_store(st, &scope, note_damage, &n, e);
    }
    if (rc) {
        findings_free(n.findings);
        return rc;
    }
    post_findings(r, q, n.findings);
    return ERR_OK;
}

/* ---- repairs ---- */

struct repair_job {
    struct change_result *out;
    bool metadata;  /* some was written again: all of it at once */
    char left[200]; /* why the first that could not be repaired was not */
};

static enum err_code count_repaired(const struct finding *f, void *arg, struct err *e)
{
    struct repair_job *p = arg;

    (void)e;
    if (f->fixed) {
        p->out->repaired++;
        p->out->steps += f->kind != FINDING_METADATA || !p->metadata;
        p->metadata |= f->kind == FINDING_METADATA;
    } else if (f->fixable && !p->left[0]) {
        snprintf(p->left, sizeof p->left, "%s", f->why);
    }
    return ERR_OK;
}

enum err_code jobs_fix(const struct store_env *env, const struct scope *scope,
                       const struct effect *q, struct change_result *out, struct err *e)
{
    const struct session_ref *ref = &q->refs->ref[0];
    const struct doctor doctor = { .env = env, .scope = *scope, .only = ref, .fix = true };
    struct repair_job p = { .out = out };
    enum err_code rc = doctor_examine(&doctor, count_repaired, &p, e);

    if (rc)
        return rc;
    if (out->repaired == 0)
        return err_set(e, ERR_STALE, ref->path.p, "repair: %s",
                       p.left[0] ? p.left : "nothing left to repair");
    return name_list_add(&out->sessions, ref->id) ? ERR_OK : err_nomem(e);
}
