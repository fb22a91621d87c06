#include <stdio.h>
#include <string.h>

#include "lite/base/cleanup.h"
#include "store/journal/change.h"
#include "store/keep/keep.h"
#include "store/maintenance/trash.h"
#include "store/query/listing.h"
#include "tui/commands/command.h"
#include "tui/commands/session.h"
#include "tui/text/human.h"

enum { KEEP_DUE_MS = 7 * 86400000 };

struct keep_run {
    struct invocation *in;
    struct sessions s;
    struct keep *k;
    struct selection selection;
    bool due;
    size_t copied, unchanged, refused, elsewhere, pruned;
    enum err_code code; /* the code of the last refusal */
    int64_t bytes;
    struct arena a; /* owns the refs of one session */
    struct session_ref *ref;
    size_t refs;
    bool failed; /* out of memory */
};

/* ---- keeping ---- */

static void keep_write_json(struct keep_run *r, const struct session_ref *ref,
                            const struct keep_result *x)
{
    static const char *const states[] = { "unchanged", "kept", "refused" };
    struct out *o = &r->in->out;

    out_open(o, NULL, '{');
    out_string(o, "system", ref->store->ops->name);
    out_member(o, "sessionId", ref->id);
    out_string(o, "state", states[x->state]);
    out_int(o, "files", (int64_t)x->files);
    out_int(o, "bytes", x->bytes);
    if (x->why[0])
        out_string(o, "why", x->why);
    out_close(o, '}');
}

static void keep_write_text(struct keep_run *r, const struct session_ref *ref,
                            const struct keep_result *x)
{
    struct out *o = &r->in->out;
    char size[HUMAN_SIZE];

    if (x->state == KEEP_UNCHANGED && !x->why[0])
        return;
    out_addf(o, "%s:", ref->store->ops->name);
    out_text(o, ref->id);
    human_size(x->bytes, size);
    if (x->state == KEEP_COPIED)
        out_addf(o, ": %zu file%s, %s", x->files, x->files == 1 ? "" : "s", size);
    if (x->why[0]) {
        out_addf(o, x->state == KEEP_REFUSED ? ": not kept: " : "; ");
        out_text(o, slice_of(x->why));
    }
    out_addf(o, "\n");
}

static enum err_code keep_one(struct keep_run *r, const struct session_ref *ref, struct err *e)
{
    struct keep_result x;

    if (keep_store_is(ref->store) || ref->store->ops->remote)
        return ERR_OK;
    if (!r->in->argc && keep_unsupported(ref->store->ops)) {
        r->elsewhere++;
        return ERR_OK;
    }
    TRY(keep_session(r->k, ref, &x, e));
    r->copied += x.state == KEEP_COPIED;
    r->unchanged += x.state == KEEP_UNCHANGED;
    r->refused += x.state == KEEP_REFUSED;
    r->bytes += x.bytes;
    r->code = x.state == KEEP_REFUSED ? x.code : r->code;
    if (r->in->out.wants_json)
        keep_write_json(r, ref, &x);
    else
        keep_write_text(r, ref, &x);
    return out_row(&r->in->out, e);
}

/* All files with the session's id: a session may be in several. */
static bool keep_add_ref(const struct session_ref *ref, void *arg)
{
    struct keep_run *r = arg;

    r->ref = arena_grow(&r->a, r->ref, r->refs, sizeof *r->ref);
    r->failed = !r->ref || !session_ref_copy(&r->a, ref, &r->ref[r->refs]);
    r->refs += !r->failed;
    return !r->failed;
}

static enum err_code keep_copies(struct keep_run *r, const struct session_ref *ref, struct err *e)
{
    const struct store *st = ref->store;

    arena_reset(&r->a);
    r->ref = NULL;
    r->refs = 0;
    if (!st->ops->find_each)
        return keep_one(r, ref, e);
    TRY(st->ops->find_each(st, &r->s.scope, ref->id, keep_add_ref, r, e));
    NEED(!r->failed);
    for (size_t i = 0; i < r->refs; i++)
        TRY(keep_one(r, &r->ref[i], e));
    return ERR_OK;
}

static enum err_code keep_row(const struct session_row *row, void *arg, struct err *e)
{
    struct keep_run *r = arg;
    const bool due =
        row->expires_ms != TIME_NONE && row->expires_ms <= r->in->world->env.now_ms + KEEP_DUE_MS;

    if ((r->due && !due) || !selection_has(row, &r->selection))
        return r->selection.failed ? err_nomem(e) : ERR_OK;
    return keep_copies(r, &row->ref, e);
}

/* All sessions are taken without a look into them. */
static enum err_code keep_listed(struct keep_run *r, bool all, struct err *e)
{
    const struct listing_query q = { .scope = r->s.scope,
                                     .since_ms = TIME_NONE,
                                     .before_ms = TIME_NONE };
    CLEANUP(listing_close_at) struct listing *l = NULL;
    struct store *own[OPTION_STORES_MAX]; /* those with originals */
    size_t n = 0;

    for (size_t i = 0; i < r->s.n; i++)
        if (!keep_store_is(r->s.store[i]))
            own[n++] = r->s.store[i];
    TRY(listing_open(own, n, &q, &l, e));
    if (!all)
        return listing_each(l, keep_row, r, e);
    const struct session_ref *const *ref = listing_refs(l, &n);

    for (size_t i = 0; i < n; i++)
        TRY(keep_one(r, ref[i], e));
    return ERR_OK;
}

static enum err_code keep_chosen(struct keep_run *r, const struct config *config, struct err *e)
{
    const struct options *o = &r->in->options;
    const char *query = o->query ? o->query : r->due ? NULL : config->keep;
    const bool all = !o->query && !r->due && query && strcmp(query, "all") == 0;
    struct session_ref *ref;

    if (r->in->argc) {
        TRY(sessions_find_all(&r->s, r->in->argv, (size_t)r->in->argc, &ref, e));
        for (int i = 0; i < r->in->argc; i++)
            TRY(keep_copies(r, &ref[i], e));
        return ERR_OK;
    }
    if (!query && !r->due)
        return err_set(e, ERR_USAGE, "",
                       "keep: name sessions, or use --due or --query, or set `sessions` of [keep] "
                       "in the configuration");
    if (query && !all)
        TRY(selection_read(query, r->in->world->env.now_ms,
                           o->query ? "--query" : "[keep] sessions", &r->selection, e));
    return keep_listed(r, all, e);
}

static void keep_write_end(const struct keep_run *r)
{
    struct out *o = &r->in->out;
    const bool dry = option_given(&r->in->options, OPTION_DRY_RUN);
    char size[HUMAN_SIZE];

    if (o->wants_json) {
        out_close(o, ']');
        out_bool(o, "dryRun", dry);
        out_int(o, "removed", (int64_t)r->pruned);
        out_int(o, "elsewhere", (int64_t)r->elsewhere);
        out_end(o, '}');
        return;
    }
    human_size(r->bytes, size);
    out_addf(o, "%s: %zu session%s, %s; unchanged: %zu", dry ? "would keep" : "kept", r->copied,
             r->copied == 1 ? "" : "s", size, r->unchanged);
    if (r->refused)
        out_addf(o, "; not kept: %zu", r->refused);
    if (r->elsewhere)
        out_addf(o, "; in databases, which cannot be kept: %zu", r->elsewhere);
    if (r->pruned)
        out_addf(o, "; %s by the limits: %zu", dry ? "would be removed" : "removed", r->pruned);
    out_addf(o, "\n");
}

/* ---- putting back ---- */

static void keep_write_back(struct out *o, const struct trash_request *request, const char *change)
{
    if (o->wants_json) {
        out_open(o, NULL, '{');
        out_member(o, "sessionId", request->id);
        out_strings(o, "parts", request->part, request->parts);
        if (change)
            out_string(o, "change", change);
        out_close(o, '}');
        return;
    }
    for (size_t i = 0; i < request->parts; i++) {
        out_addf(o, change ? "put back: " : "would put back: ");
        out_line(o, "", slice_of(request->part[i]));
    }
    if (change)
        out_addf(o, "The session is where its agent finds it" OUT_UNDO_WITH "\n", change);
}

static enum err_code keep_back_one(struct keep_run *r, const struct session_ref *ref, struct err *e)
{
    static const struct scope everywhere = { .all = true };
    AUTO_ARENA a = { 0 };
    CLEANUP(change_log_close_at) struct change_log *log = NULL;
    struct trash_request request;

    CLEANUP(session_row_free_at) struct session_row *row = NULL;

    NEED(row = session_row_new());
    if (!keep_store_is(ref->store))
        return err_set(e, ERR_STALE, ref->path.p,
                       "put back: it is where its agent finds it, so no copy is needed");
    TRY(ref->store->ops->describe(ref->store, &everywhere, ref, row, e));
    TRY(trash_request_make_back(ref, arena_copy(&a, session_row_title(row)), &a, &request, e));

    if (option_given(&r->in->options, OPTION_DRY_RUN)) {
        keep_write_back(&r->in->out, &request, NULL);
        return ERR_OK;
    }
    TRY(change_log_open(&r->in->world->env, &log, e));
    TRY(trash_put_back(log, &r->in->world->env, &request, e));
    keep_write_back(&r->in->out, &request, change_log_made(log));
    session_warn_expired(r->in, &r->s,
                         &(struct session_placed){ store_format(ref->store->ops), ref->id,
                                                   keep_original_of(ref->store, ref->path.p) },
                         "resume it first (the copy stays)");
    return ERR_OK;
}

static enum err_code keep_back(struct keep_run *r, struct err *e)
{
    struct out *o = &r->in->out;
    struct session_ref *ref;

    if (r->in->argc < 2)
        return err_set(e, ERR_USAGE, "", "keep restore: needs the ids of sessions");
    TRY(sessions_find_all(&r->s, r->in->argv + 1, (size_t)r->in->argc - 1, &ref, e));
    if (o->wants_json)
        out_open(o, NULL, '[');
    enum err_code rc = ERR_OK;

    int back = 0;

    while (back + 1 < r->in->argc && !(rc = keep_back_one(r, &ref[back], e)))
        back++;
    /* The answer has the sessions that were put back before one was refused. */
    if (o->wants_json && (!rc || back))
        out_end(o, ']');
    r->in->done = !rc;
    return rc;
}

/* ---- the command ---- */

static enum err_code keep_all(struct keep_run *r, const struct config *config, struct err *e)
{
    const bool dry = option_given(&r->in->options, OPTION_DRY_RUN);

    TRY(keep_open(&r->in->world->env, &config->keep_limits, dry, &r->k, e));
    if (r->in->out.wants_json) {
        out_open(&r->in->out, NULL, '{');
        out_open(&r->in->out, "sessions", '[');
    }
    enum err_code rc = keep_chosen(r, config, e);

    /* After a failure, the manifest names the sessions that were copied before it. */
    if (!rc)
        rc = keep_prune(r->k, &r->pruned, e);
    if (keep_finish(r->k, rc ? NULL : e) && !rc)
        rc = e->code;
    if (rc)
        return rc;
    keep_write_end(r);
    if (!r->refused)
        return ERR_OK;
    TRY(out_flush(&r->in->out, e));
    return err_set(e, r->code, "", "keep: %zu of %zu sessions were not kept", r->refused,
                   r->copied + r->unchanged + r->refused);
}

static void keep_run_fini(struct keep_run *r)
{
    sessions_close(&r->s);
    keep_close(r->k);
    selection_fini(&r->selection);
    arena_fini(&r->a);
}

enum err_code keep_run(struct invocation *in, struct err *e)
{
    CLEANUP(config_fini) struct config config = { 0 };
    CLEANUP(keep_run_fini)
    struct keep_run r = { .in = in, .due = option_given(&in->options, OPTION_DUE) };

    TRY(command_config(in, &config, e));
    if (option_given(&in->options, OPTION_INSTALL_TIMER) ||
        option_given(&in->options, OPTION_REMOVE_TIMER))
        return keep_timer_run(in, config.keep != NULL, e);
    TRY(sessions_open(in, true, &r.s, e));
    return in->argc && strcmp(in->argv[0], "restore") == 0 ? keep_back(&r, e)
                                                           : keep_all(&r, &config, e);
}
