#include "store/maintenance/doctor.h"

#include "store/library/call.h"

struct receiver {
    reprise_finding_fn *fn;
    void *arg;
};

static enum err_code hand_over(const struct finding *f, void *arg, struct err *e)
{
    const struct receiver *to = arg;
    struct arena a = { 0 };
    const struct reprise_finding finding = {
        .size = sizeof finding,
        .kind = finding_name(f->kind),
        .session = call_copy(&a, f->session),
        .path = f->path,
        .why = f->why,
        .line = f->line,
        .offset = f->line ? f->offset : 0,
        .flags = (f->fixable ? (uint32_t)REPRISE_FINDING_FIXABLE : 0) |
                 (f->fixed ? (uint32_t)REPRISE_FINDING_FIXED : 0),
    };
    enum err_code rc = a.failed ? err_nomem(e) : ERR_OK;

    if (!rc && to->fn(&finding, to->arg))
        rc = err_set(e, ERR_CANCELLED, "", "doctor: stopped by the caller");
    arena_fini(&a);
    return rc;
}

static enum err_code examine(const struct reprise *r, const struct session_ref *only,
                             uint32_t flags, struct receiver *to, struct err *e)
{
    const struct store_env env = call_env(r);
    const struct doctor d = { .env = &env,
                              .store = r->store,
                              .stores = r->n,
                              .scope = { .all = true },
                              .only = only,
                              .fix = flags & REPRISE_DOCTOR_FIX };

    if (flags & ~(uint32_t)REPRISE_DOCTOR_FIX)
        return err_set(e, ERR_USAGE, "", "doctor: unknown flag");
    return doctor_examine(&d, hand_over, to, e);
}

int reprise_doctor(const struct reprise *r, uint32_t flags, reprise_finding_fn *fn, void *arg,
                   struct reprise_error *error)
{
    struct receiver to = { fn, arg };
    struct call c;

    call_begin(&c);
    return call_end(&c, examine(r, NULL, flags, &to, &c.err), error);
}

int reprise_session_doctor(const struct reprise_session *s, uint32_t flags, reprise_finding_fn *fn,
                           void *arg, struct reprise_error *error)
{
    struct receiver to = { fn, arg };
    struct arena a = { 0 };
    struct session_ref now;
    struct call c;

    call_begin(&c);
    enum err_code rc = session_now(s, &a, &now, &c.err);

    if (!rc)
        rc = examine(s->stores, &now, flags, &to, &c.err);
    arena_fini(&a);
    return call_end(&c, rc, error);
}
