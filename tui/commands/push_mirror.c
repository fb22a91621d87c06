#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "store/api/plugin.h"
#include "store/query/listing.h"
#include "store/query/resolve.h"
#include "store/redact/redact.h"
#include "tui/commands/command.h"
#include "tui/commands/out.h"
#include "tui/commands/session.h"

/* push and mirror: add local sessions to the store of a plug-in. */

struct push_run {
    struct invocation *in;
    struct store *to;
    struct plugin_push how;
    bool redact;
    struct redact_counts counts;
    size_t failed, done;
};

static void write_pushed(struct push_run *run, const struct session_ref *ref,
                         const struct plugin_pushed *p)
{
    struct out *o = &run->in->out;
    bool dry = run->how.dry_run;

    if (o->wants_json) {
        out_open(o, NULL, '{');
        out_member(o, "sessionId", ref->id);
        out_string(o, "store", run->to->ops->name);
        out_bool(o, "new", p->is_new);
        out_int(o, "rows", (int64_t)p->rows);
        out_int(o, "leftOut", (int64_t)p->left_out);
        if (run->redact)
            command_write_redacted(o, &run->counts);
        out_close(o, '}');
        return;
    }
    out_text(o, ref->id);
    if (p->rows == 0)
        out_addf(o, "  up to date\n");
    else
        out_addf(o, "  %zu row%s %s%s\n", p->rows, p->rows == 1 ? "" : "s",
                 dry ? "would be added" : "added", p->is_new ? ", new there" : "");
}

static enum err_code push_one(struct push_run *run, const struct session_ref *ref, struct err *e)
{
    struct plugin_pushed pushed;
    struct plugin_push how = run->how;

    how.redacted = run->redact ? &run->counts : NULL;
    redact_counts_fini(&run->counts);
    TRY(plugin_push_session(run->to, ref, &how, &pushed, e));
    if (pushed.left_out)
        command_warn(run->in, ERR_FORMAT, ref->path.p, "push: %zu damaged line%s left out",
                     pushed.left_out, pushed.left_out == 1 ? " was" : "s were");
    run->in->done |= pushed.rows > 0 && !run->how.dry_run;
    run->done++;
    write_pushed(run, ref, &pushed);
    if (run->redact && pushed.rows)
        command_report_redacted(run->in, &run->counts);
    return ERR_OK;
}

/* Opens the local stores, and the one that the first operand names. */
static enum err_code open_both(struct invocation *in, bool everywhere, struct sessions *s,
                               struct push_run *run, struct err *e)
{
    enum err_code rc = sessions_open_to(in, in->argv[0], everywhere, s, &run->to, e);

    run->how.dry_run = option_given(&in->options, OPTION_DRY_RUN);
    run->how.force = option_given(&in->options, OPTION_FORCE);
    run->redact = option_given(&in->options, OPTION_REDACT);
    run->how.requests = option_given(&in->options, OPTION_REQUESTS);
    return rc;
}

/* If a session is refused, the others are still pushed. Returns the first failure, and reports further ones. */
static enum err_code push_each(struct push_run *run, const struct session_ref *ref, size_t n,
                               struct err *e)
{
    enum err_code failed = ERR_OK;

    for (size_t i = 0; i < n; i++) {
        struct err problem = { 0 };
        enum err_code rc = push_one(run, &ref[i], &problem);

        if (rc && failed)
            out_report(run->in->err_fd, &problem);
        else if (rc)
            *e = problem;
        failed = failed ? failed : rc;
    }
    if (failed) /* a session failed, not the answer */
        run->in->done = false;
    return failed;
}

enum err_code push_run(struct invocation *in, struct err *e)
{
    struct sessions s;
    struct push_run run = { .in = in };

    TRY(open_both(in, true, &s, &run, e));
    size_t n = (size_t)in->argc - 1;
    struct session_ref *ref = arena_zalloc(&s.arena, n * sizeof *ref);

    enum err_code rc = ref ? ERR_OK : err_nomem(e);
    for (size_t i = 0; i < n && !rc; i++)
        rc = resolve_session(s.store, sessions_count_here(&s), &s.scope,
                             option_text(in->argv[i + 1]), &s.arena, &ref[i], e);
    if (!rc) {
        if (in->out.wants_json)
            out_open(&in->out, NULL, '[');
        rc = push_each(&run, ref, n, e);
        if (in->out.wants_json)
            out_end(&in->out, ']');
    }
    redact_counts_fini(&run.counts);
    sessions_close(&s);
    return rc;
}

/* ---- mirror ---- */

/* If a session cannot be pushed, this is a warning, and the others are still pushed. */
static enum err_code mirror_row(const struct session_row *row, void *arg, struct err *e)
{
    struct push_run *run = arg;
    struct err problem = { 0 };
    enum err_code rc = push_one(run, &row->ref, &problem);

    if (rc == ERR_OK || rc == ERR_UNSUPPORTED)
        return ERR_OK;
    if (rc == ERR_NOMEM)
        return err_nomem(e);
    run->failed++;
    out_report(run->in->err_fd, &problem);
    return out_flush(&run->in->out, e);
}

enum err_code push_mirror_run(struct invocation *in, struct err *e)
{
    struct sessions s;
    struct push_run run = { .in = in };
    struct listing_query q = { .since_ms = TIME_NONE, .before_ms = TIME_NONE };
    struct listing *listing = NULL;

    TRY(open_both(in, false, &s, &run, e));
    q.scope = s.scope;
    if (in->out.wants_json)
        out_open(&in->out, NULL, '[');
    enum err_code rc = listing_open(s.store, sessions_count_here(&s), &q, &listing, e);
    if (!rc)
        rc = listing_each(listing, mirror_row, &run, e);
    listing_close(listing);
    if (in->out.wants_json)
        out_end(&in->out, ']');
    else if (!rc && !run.failed)
        out_addf(&in->out, "%zu session%s\n", run.done, run.done == 1 ? "" : "s");
    if (rc || run.failed) /* a session failed, not the answer */
        in->done = false;
    if (run.failed) {
        rc = err_set(e, ERR_IO, run.to->path, "mirror: %zu of %zu sessions were not pushed",
                     run.failed, run.failed + run.done);
    }
    redact_counts_fini(&run.counts);
    sessions_close(&s);
    return rc;
}
