#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "store/maintenance/doctor.h"
#include "tui/commands/command.h"
#include "tui/commands/session.h"

/* If many sessions are examined, hidden sessions are counted by reason, and so are those that the
 * agent's cleanup will remove, so that damage is not lost among them. */
enum { REASONS = 8, REASON = 160 };

struct reason {
    enum finding_kind kind;
    char why[REASON];
    struct buf path; /* the path of the first finding */
    size_t n;
};

struct answer {
    struct out *out;
    bool many;
    size_t n, fixable, fixed;
    size_t notes; /* how many of n are good to know, but no damage */
    struct reason reason[REASONS];
    size_t reasons;
};

static void write_finding_json(const struct finding *f, struct out *o)
{
    out_json_row(o);
    out_open(o, NULL, '{');
    out_member(o, "sessionId", f->session);
    out_string(o, "path", f->path);
    out_string(o, "kind", finding_name(f->kind));
    if (f->line) {
        out_int(o, "line", f->line);
        out_int(o, "offset", f->offset);
    }
    out_string(o, "why", f->why);
    if (f->repair)
        out_string(o, "repair", f->repair);
    out_bool(o, "fixable", f->fixable);
    out_bool_if_true(o, "fixed", f->fixed);
    out_close(o, '}');
}

/* An expiry is good to know, but no damage. */
static const char *finding_word(enum finding_kind kind)
{
    return kind == FINDING_EXPIRES ? "note" : finding_name(kind);
}

/* Returns false if the finding must be written separately. */
static bool count_reason(const struct finding *f, struct answer *a)
{
    size_t i = 0;

    if (a->out->wants_json || !a->many ||
        (f->kind != FINDING_HIDDEN && f->kind != FINDING_EXPIRES) || strlen(f->why) >= REASON)
        return false;
    /* All sessions that will expire share one line, whatever their day. */
    while (i < a->reasons &&
           (a->reason[i].kind != f->kind ||
            (f->kind != FINDING_EXPIRES && strcmp(a->reason[i].why, f->why) != 0)))
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

static void write_reasons(const struct answer *a)
{
    struct out *o = a->out;

    for (size_t i = 0; i < a->reasons; i++) {
        const struct reason *r = &a->reason[i];

        if (r->n > 1)
            out_addf(o, "%zu sessions", r->n);
        else
            out_text(o, buf_slice(&r->path));
        out_addf(o, ": %s: ", finding_word(r->kind));
        if (r->kind == FINDING_EXPIRES && r->n > 1)
            out_addf(o, "the agent's own cleanup will remove them within a week unless they are "
                        "used");
        else
            out_text(o, slice_of(r->why));
        out_addf(o, r->n > 1 ? " (listed by doctor --json)\n" : "\n");
    }
}

static enum err_code write_finding(const struct finding *f, void *arg, struct err *e)
{
    struct answer *a = arg;

    if (a->out->wants_json)
        write_finding_json(f, a->out);
    else if (!count_reason(f, a)) {
        struct out *o = a->out;

        out_text(o, slice_of(f->path));
        if (f->line)
            out_addf(o, ":%" PRId64, f->line);
        out_addf(o, ": %s: ", finding_word(f->kind));
        out_text(o, slice_of(f->why));
        if (f->repair && !f->fixed && (f->fixable || f->kind == FINDING_LOST_PART))
            out_addf(o, " (--fix%s %s)", f->kind == FINDING_LOST_PART ? " --reconnect" : "",
                     f->repair);
        out_addf(o, f->fixed ? " (repaired)\n" : "\n");
    }
    a->n++;
    a->notes += f->kind == FINDING_EXPIRES;
    a->fixable += f->fixable && !f->fixed;
    a->fixed += f->fixed;
    return out_row(a->out, e);
}

static void write_end(const struct answer *a, bool fix)
{
    struct out *o = a->out;

    if (o->wants_json) {
        out_json_rows_end(o);
        return;
    }
    write_reasons(a);
    if (a->n == a->notes) {
        out_addf(o, "no damage found\n");
        return;
    }
    out_addf(o, "%zu finding%s", a->n - a->notes, a->n - a->notes == 1 ? "" : "s");
    if (fix)
        out_addf(o, ", %zu repaired", a->fixed);
    else if (a->fixable)
        out_addf(o, ", %zu can be repaired: reprise doctor --fix", a->fixable);
    out_addf(o, "\n");
}

/* No list has the session: it may be in a place where its agent does not look for it. The error `e` stays if it is not. */
static enum err_code doctor_misplaced_id(struct doctor *d, const char *id, struct answer *a,
                                         struct err *e)
{
    enum { ID_LEAST = 4 };
    struct err why = { 0 };
    const char *colon = strrchr(id, ':');

    d->only = NULL;
    d->misplaced = colon ? colon + 1 : id;
    if (strlen(d->misplaced) < ID_LEAST)
        return ERR_NOT_FOUND;
    const enum err_code rc = doctor_examine(d, write_finding, a, &why);

    if (rc && e)
        *e = why;
    return !rc && !a->n ? ERR_NOT_FOUND : rc;
}

enum err_code doctor_run(struct invocation *in, struct err *e)
{
    struct sessions s;
    struct session_ref ref;
    struct answer a = { .out = &in->out, .many = in->argc == 0 };

    if (option_given(&in->options, OPTION_PLUGIN))
        return doctor_plugin(in, e);
    if (in->argc > 1)
        return command_unexpected(in, 1, e);
    if (option_given(&in->options, OPTION_APPLY) || option_given(&in->options, OPTION_FORCE))
        return err_set(e, ERR_USAGE, "", "doctor: --apply and --force need --plugin");

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
                        .fix = option_given(&in->options, OPTION_FIX),
                        .reconnect = option_given(&in->options, OPTION_RECONNECT) };

    if (!rc && d.reconnect && !d.only)
        rc = err_set(e, ERR_USAGE, "", "doctor: --reconnect needs the id of a session");
    if (rc == ERR_NOT_FOUND && in->argc && !d.reconnect)
        rc = doctor_misplaced_id(&d, in->argv[0], &a, e);
    else if (!rc)
        rc = doctor_examine(&d, write_finding, &a, e);
    in->done = !rc && a.fixed && !a.fixable;

    /* Without HOME no store was examined, so "no damage found" would mislead. */
    if (!rc && s.n == 0 && s.no_home && !in->out.wants_json)
        dprintf(in->err_fd, "reprise: %s\n", SESSIONS_NO_HOME);
    else if (!rc)
        write_end(&a, d.fix);

    /* The findings come before the error, which goes to another stream. */
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
