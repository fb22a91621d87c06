#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lite/json/jsonout.h"
#include "store/maintenance/doctor.h"
#include "tui/commands/command.h"
#include "tui/commands/sessions.h"

/* Of many sessions those that are hidden for one reason, and those that the agent's cleanup will remove, are counted:
 * what is damaged must not drown in them. */
enum { REASONS = 8, REASON = 160 };

struct reason {
    enum finding_kind kind;
    char why[REASON];
    struct buf path; /* of the first one */
    size_t n;
};

struct answer {
    struct out *out;
    bool json, many;
    size_t n, fixable, fixed;
    struct reason reason[REASONS];
    size_t reasons;
};

static enum err_code write_finding_json(const struct finding *f, struct answer *a, struct err *e)
{
    struct jsonout j;
    enum err_code rc = out_add(a->out, a->n ? SLICE(",\n") : SLICE("["), e);

    if (rc)
        return rc;
    jsonout_init(&j, &a->out->buf);
    jsonout_open(&j, '{');
    jsonout_member(&j, "sessionId", f->session);
    jsonout_member(&j, "path", slice_of(f->path));
    jsonout_member(&j, "kind", slice_of(finding_name(f->kind)));
    if (f->line) {
        jsonout_key(&j, "line");
        jsonout_int(&j, f->line);
        jsonout_key(&j, "offset");
        jsonout_int(&j, f->offset);
    }
    jsonout_member(&j, "why", slice_of(f->why));
    jsonout_key(&j, "fixable");
    jsonout_bool(&j, f->fixable);
    if (f->fixed) {
        jsonout_key(&j, "fixed");
        jsonout_bool(&j, true);
    }
    jsonout_close(&j, '}');
    return j.rc ? err_nomem(e) : ERR_OK;
}

static enum err_code write_finding_text(const struct finding *f, struct answer *a, struct err *e)
{
    enum err_code rc = out_text(a->out, slice_of(f->path), e);

    if (!rc && f->line)
        rc = out_addf(a->out, e, ":%" PRId64, f->line);
    if (!rc)
        rc = out_addf(a->out, e, ": %s: ", finding_name(f->kind));
    if (!rc)
        rc = out_text(a->out, slice_of(f->why), e);
    return rc ? rc : out_add(a->out, f->fixed ? SLICE(" (repaired)\n") : SLICE("\n"), e);
}

/* All that expire are one line, whatever day each has. */
static bool is_same_reason(const struct reason *r, const struct finding *f)
{
    return r->kind == f->kind && (f->kind == FINDING_EXPIRES || strcmp(r->why, f->why) == 0);
}

/* Returns false if it has to be written by itself. */
static bool count_reason(const struct finding *f, struct answer *a)
{
    size_t i = 0;

    if (a->json || !a->many || (f->kind != FINDING_HIDDEN && f->kind != FINDING_EXPIRES) ||
        strlen(f->why) >= REASON)
        return false;
    while (i < a->reasons && !is_same_reason(&a->reason[i], f))
        i++;
    if (i == REASONS)
        return false;
    struct reason *r = &a->reason[i];

    if (i == a->reasons) {
        if (buf_add(&r->path, slice_of(f->path)))
            return false;
        r->kind = f->kind;
        snprintf(r->why, sizeof r->why, "%s", f->why);
        a->reasons++;
    }
    r->n++;
    return true;
}

static const char *reason_text(const struct reason *r)
{
    return r->kind == FINDING_EXPIRES && r->n > 1
               ? "the agent's own cleanup will remove them within a week unless they are used"
               : r->why;
}

static enum err_code write_reasons(const struct answer *a, struct err *e)
{
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < a->reasons && !rc; i++) {
        const struct reason *r = &a->reason[i];

        rc = r->n > 1 ? out_addf(a->out, e, "%zu sessions", r->n)
                      : out_text(a->out, buf_slice(&r->path), e);
        if (!rc)
            rc = out_addf(a->out, e, ": %s: ", finding_name(r->kind));
        if (!rc)
            rc = out_text(a->out, slice_of(reason_text(r)), e);
        if (!rc)
            rc =
                out_add(a->out, r->n > 1 ? SLICE(" (doctor --json names them)\n") : SLICE("\n"), e);
    }
    return rc;
}

static enum err_code write_finding(const struct finding *f, void *arg, struct err *e)
{
    struct answer *a = arg;
    enum err_code rc = a->json              ? write_finding_json(f, a, e)
                       : count_reason(f, a) ? ERR_OK
                                            : write_finding_text(f, a, e);

    a->n++;
    a->fixable += f->fixable && !f->fixed;
    a->fixed += f->fixed;
    return rc ? rc : out_row(a->out, e);
}

static enum err_code write_end(const struct answer *a, bool fix, struct err *e)
{
    if (a->json)
        return out_add(a->out, a->n ? SLICE("]\n") : SLICE("[]\n"), e);
    if (a->n == 0)
        return out_add(a->out, SLICE("no damage found\n"), e);
    enum err_code rc = write_reasons(a, e);

    if (!rc)
        rc = out_addf(a->out, e, "%zu finding%s", a->n, a->n == 1 ? "" : "s");

    if (!rc && fix)
        rc = out_addf(a->out, e, ", %zu repaired", a->fixed);
    if (!rc && !fix && a->fixable)
        rc = out_addf(a->out, e, ", %zu can be repaired: reprise doctor --fix", a->fixable);
    return rc ? rc : out_add(a->out, SLICE("\n"), e);
}

enum err_code doctor_run(struct invocation *in, struct err *e)
{
    struct sessions s;
    struct session_ref ref;
    struct answer a = { .out = &in->out,
                        .json = option_given(&in->options, OPTION_JSON),
                        .many = in->argc == 0 };
    enum err_code rc = sessions_open(in, true, &s, e);

    if (rc)
        return rc;
    if (in->argc)
        rc = sessions_find(&s, in->argv[0], &ref, e);
    struct doctor d = { .env = &in->world->env,
                        .store = s.store,
                        .stores = s.n,
                        .scope = s.scope,
                        .only = in->argc ? &ref : NULL,
                        .fix = option_given(&in->options, OPTION_FIX) };

    if (!rc)
        rc = doctor_examine(&d, write_finding, &a, e);
    in->done = !rc && a.fixed && !a.fixable;
    if (!rc)
        rc = write_end(&a, d.fix, e);
    if (!rc && d.fix && a.fixable) {
        rc = out_flush(&in->out, e);
        if (!rc)
            rc = err_set(e, ERR_LOCKED, "", "doctor: %zu of %zu could not be repaired", a.fixable,
                         a.fixable + a.fixed);
    }
    for (size_t i = 0; i < a.reasons; i++)
        buf_fini(&a.reason[i].path);
    sessions_close(&s);
    return rc;
}
