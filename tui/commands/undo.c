#include <stdio.h>
#include <string.h>

#include "lite/json/jsonout.h"
#include "store/journal/change.h"
#include "store/rewind/plan/rewind.h"
#include "store/rewind/record/undo_target.h"
#include "tui/commands/command.h"
#include "tui/commands/out.h"
#include "tui/commands/rewind.h"
#include "tui/commands/sessions.h"
#include "tui/text/when.h"

/* What reprise changed, newest first: renames, tags, deletions, ... and rewinds, which keep records of their own
 * (store/rewind/): two lists, both newest first, put into one by their times. */
struct entry {
    const char *id, *kind, *text;
    const char *undoes; /* may be NULL */
    const char *title;  /* of the first session; NULL: not recorded */
    int64_t at_ms;
    const char **session; /* "claude:5e55…" */
    size_t sessions_n;
    bool undone;
};

struct writing {
    struct invocation *in;
    struct jsonout j;
    bool json;
    struct rewind_records rewinds;
    size_t next; /* of them */
    enum err_code rc;
    struct err *e;
};

static enum err_code write_entry_json(struct writing *w, const struct entry *x)
{
    struct jsonout *j = &w->j;

    jsonout_open(j, '{');
    jsonout_member(j, "id", slice_of(x->id));
    jsonout_member(j, "kind", slice_of(x->kind));
    jsonout_member(j, "text", slice_of(x->text));
    jsonout_key(j, "at");
    jsonout_int(j, x->at_ms);
    jsonout_key(j, "sessions");
    jsonout_open(j, '[');
    for (size_t i = 0; i < x->sessions_n; i++)
        jsonout_text(j, slice_of(x->session[i]));
    jsonout_close(j, ']');
    if (x->title)
        jsonout_member(j, "title", slice_of(x->title));
    if (x->undoes)
        jsonout_member(j, "undoes", slice_of(x->undoes));
    jsonout_key(j, "undone");
    jsonout_bool(j, x->undone);
    jsonout_close(j, '}');
    return j->rc ? err_nomem(w->e) : ERR_OK;
}

/* A title says more than an id; records of older versions have only that. */
static enum err_code write_entry_sessions(struct out *out, const struct entry *x, struct err *e)
{
    enum err_code rc = ERR_OK;

    if (x->title) {
        rc = out_add(out, SLICE("  \""), e);
        if (!rc)
            rc = out_text(out, slice_of(x->title), e);
        if (!rc && x->sessions_n > 1)
            return out_addf(out, e, "\" and %zu more", x->sessions_n - 1);
        return rc ? rc : out_add(out, SLICE("\""), e);
    }
    for (size_t i = 0; i < x->sessions_n && !rc; i++) {
        rc = out_add(out, SLICE("  "), e);
        if (!rc)
            rc = out_text(out, slice_of(x->session[i]), e);
    }
    return rc;
}

static enum err_code write_entry_text(struct writing *w, const struct entry *x)
{
    struct out *out = &w->in->out;
    char age[WHEN_AGE];

    when_age(w->in->world->env.now_ms, x->at_ms, age);
    enum err_code rc = out_addf(out, w->e, "%8s  %s  %-10s ", age, x->id, x->kind);

    if (!rc)
        rc = out_text(out, slice_of(x->text), w->e);
    if (!rc)
        rc = write_entry_sessions(out, x, w->e);
    if (!rc)
        rc = out_add(out, x->undone ? SLICE("  (undone)\n") : SLICE("\n"), w->e);
    return rc;
}

static enum err_code write_entry(struct writing *w, const struct entry *x)
{
    return w->json ? write_entry_json(w, x) : write_entry_text(w, x);
}

static enum err_code write_rewind(struct writing *w, const struct rewind_record *r)
{
    const char *session = arena_format(&w->rewinds.arena, "%s:%s", r->system, r->session);
    const char *text = arena_format(
        &w->rewinds.arena, "%zu restored, %zu created, %zu deleted%s%s", r->restored, r->created,
        r->deleted, rewind_conversation_moves(r->how) ? ", conversation too" : "",
        r->interrupted ? ", interrupted"
        : r->stays     ? ", incomplete: the session continued, files not changed"
                       : "");

    if (!session || !text)
        return err_nomem(w->e);
    return write_entry(w, &(struct entry){ .id = r->id,
                                           .kind = "rewind",
                                           .text = text,
                                           .undoes = r->undoes,
                                           .title = r->title,
                                           .at_ms = r->at_ms,
                                           .session = &session,
                                           .sessions_n = 1,
                                           .undone = r->undone });
}

static void write_rewinds_since(struct writing *w, int64_t at_ms)
{
    while (!w->rc && w->next < w->rewinds.n && w->rewinds.record[w->next].at_ms >= at_ms)
        w->rc = write_rewind(w, &w->rewinds.record[w->next++]);
}

static bool write_change(const struct change *c, bool undone, void *arg)
{
    struct writing *w = arg;

    write_rewinds_since(w, c->at_ms);
    if (!w->rc)
        w->rc = write_entry(w, &(struct entry){ .id = c->id,
                                                .kind = c->kind,
                                                .text = c->text,
                                                .undoes = c->undoes,
                                                .title = c->sessions_n ? c->origin[0].title : NULL,
                                                .at_ms = c->at_ms,
                                                .session = c->sessions,
                                                .sessions_n = c->sessions_n,
                                                .undone = undone });
    return !w->rc;
}

static enum err_code merge_logs(struct writing *w, struct change_log *log)
{
    if (w->json)
        jsonout_open(&w->j, '[');
    enum err_code rc = change_list(log, write_change, w, w->e);

    if (!rc)
        write_rewinds_since(w, INT64_MIN);
    if (!rc)
        rc = w->rc;
    if (!rc && w->json) {
        jsonout_close(&w->j, ']');
        rc = w->j.rc ? err_nomem(w->e) : out_add(&w->in->out, SLICE("\n"), w->e);
    }
    return rc;
}

enum err_code log_run(struct invocation *in, struct err *e)
{
    struct writing w = { .in = in, .json = option_given(&in->options, OPTION_JSON), .e = e };
    struct change_log *log;
    struct rewind_recovery waiting;

    rewinds_recover_first(in, &waiting);
    enum err_code rc = rewind_records_read(&in->world->env, &w.rewinds, e);

    if (rc)
        return rc;
    rc = change_log_open(&in->world->env, &log, e);
    if (!rc) {
        jsonout_init(&w.j, &in->out.buf);
        rc = merge_logs(&w, log);
        change_log_close(log);
    }
    rewind_records_fini(&w.rewinds);
    return rc;
}

/* Without an id the newest that was done in the scope, as `list` has it, is taken back; with one, that. */

enum { PHRASE = 512 };

/* ---- which one ---- */

static void describe_undo_target(const struct invocation *in, const struct undo_target *n,
                                 char out[PHRASE])
{
    char phrase[PHRASE - WHEN_AGE - 4], age[WHEN_AGE];

    undo_target_phrase(n, phrase, sizeof phrase);
    when_age(in->world->env.now_ms, n->at_ms, age);
    snprintf(out, PHRASE, "%s, %s", phrase, age);
}

static void report_skipped(const struct invocation *in, const struct undo_target_others *others)
{
    char what[PHRASE];
    struct err note = { 0 };

    if (others->edited.kind != UNDO_TARGET_NONE) {
        describe_undo_target(in, &others->edited, what);
        err_set(&note, ERR_STALE, others->edited.id,
                "undo: skipped, its files changed since (--overwrite-edited): %.90s", what);
        out_report(in->err_fd, &note);
    }
    if (others->gone_n == 0)
        return;
    describe_undo_target(in, &others->gone, what);
    err_set(&note, ERR_NOT_FOUND, others->gone.id,
            "undo: skipped %zu whose session or store is gone; the newest: %.90s", others->gone_n,
            what);
    out_report(in->err_fd, &note);
}

static enum err_code nothing_left(const struct invocation *in,
                                  const struct undo_target_others *others, struct err *e)
{
    const struct undo_target *n = &others->elsewhere;
    struct err note = { 0 };
    char what[PHRASE];

    if (n->kind == UNDO_TARGET_NONE)
        return err_set(e, ERR_NOT_FOUND, "", "nothing left to undo");
    describe_undo_target(in, n, what);
    err_set(&note, ERR_NOT_FOUND, n->dir, "done elsewhere: %.150s", what);
    out_report(in->err_fd, &note);
    return err_set(e, ERR_NOT_FOUND, "",
                   "nothing left to undo here, but elsewhere; undo it with reprise undo %s", n->id);
}

/* What is newest cannot be taken back. What is older may be something else than a person means: it must be named. */
static enum err_code stuck(const struct invocation *in, const struct undo_target *newest,
                           const struct undo_target_others *others, struct err *e)
{
    struct err note = { 0 };
    char what[PHRASE];

    if (others->stuck.kind == UNDO_TARGET_NONE)
        return ERR_OK;
    describe_undo_target(in, &others->stuck, what);
    err_set(&note, ERR_STALE, others->stuck.id, "its session went on since: undo: %.150s", what);
    out_report(in->err_fd, &note);
    if (newest->kind == UNDO_TARGET_NONE)
        return err_set(e, ERR_STALE, "", "nothing older is left to undo");
    describe_undo_target(in, newest, what);
    return err_set(e, ERR_STALE, "", "to undo what is older, name it: reprise undo %s, %.120s",
                   newest->id, what);
}

static enum err_code choose_latest_target(struct invocation *in, struct change_log *log,
                                          struct undo_target *out, struct err *e)
{
    struct undo_target_others others;
    struct sessions s;
    enum err_code rc = sessions_open(in, false, &s, e);

    if (rc)
        return rc;
    const struct shown shown = { .store = s.store,
                                 .n = s.n,
                                 .scope = &s.scope,
                                 .skip_edited = option_given(&in->options, OPTION_SKIP_EDITED) };

    rc = undo_target_find(&in->world->env, log, &shown, out, &others, e);
    if (!rc)
        report_skipped(in, &others);
    if (!rc)
        rc = stuck(in, out, &others, e);
    if (!rc && out->kind == UNDO_TARGET_NONE)
        rc = nothing_left(in, &others, e);
    sessions_close(&s);
    return rc;
}

/* An id that neither log knows is left to the log of rewinds, which says so. */
static enum err_code choose_undo_target(struct invocation *in, struct change_log *log,
                                        struct undo_target *out, struct err *e)
{
    if (!in->argc)
        return choose_latest_target(in, log, out, e);
    enum err_code rc = undo_target_by_id(&in->world->env, log, in->argv[0], out, e);

    if (!rc && out->kind == UNDO_TARGET_NONE) {
        out->kind = UNDO_TARGET_REWIND;
        snprintf(out->id, sizeof out->id, "%s", in->argv[0]);
    }
    return rc;
}

static enum err_code report_target(struct invocation *in, const char *what,
                                   const struct undo_target *n, struct err *e)
{
    char text[PHRASE];

    describe_undo_target(in, n, text);
    enum err_code rc = out_add(&in->out, slice_of(what), e);

    if (!rc)
        rc = out_text(&in->out, slice_of(text), e);
    return rc ? rc : out_add(&in->out, SLICE("\n"), e);
}

/* ---- a change of a session ---- */

struct named {
    const struct undo_target *newest;
    struct invocation *in;
    bool undone;
    enum err_code rc;
    struct err *e;
};

static void json_target(struct jsonout *j, const struct undo_target *n)
{
    jsonout_member(j, "kind", slice_of(n->command));
    if (n->title[0])
        jsonout_member(j, "title", slice_of(n->title));
    jsonout_key(j, "at");
    jsonout_int(j, n->at_ms);
}

/* What taking it back would be about. */
static enum err_code answer_dry_run(struct invocation *in, const struct change *c,
                                    const struct undo_target *n, struct err *e)
{
    struct jsonout j;

    if (!option_given(&in->options, OPTION_JSON))
        return report_target(in, "would undo: ", n, e);
    jsonout_init(&j, &in->out.buf);
    jsonout_open(&j, '{');
    jsonout_member(&j, "undoes", slice_of(c->id));
    jsonout_member(&j, "text", slice_of(c->text));
    json_target(&j, n);
    jsonout_key(&j, "sessions");
    jsonout_open(&j, '[');
    for (size_t i = 0; i < c->sessions_n; i++)
        jsonout_text(&j, slice_of(c->sessions[i]));
    jsonout_close(&j, ']');
    jsonout_key(&j, "dryRun");
    jsonout_bool(&j, true);
    jsonout_close(&j, '}');
    return j.rc ? err_nomem(e) : out_add(&in->out, SLICE("\n"), e);
}

static bool show_named(const struct change *c, bool undone, void *arg)
{
    struct named *n = arg;

    if (strcmp(c->id, n->newest->id) != 0)
        return true;
    n->undone = undone;
    if (!undone)
        n->rc = answer_dry_run(n->in, c, n->newest, n->e);
    return false;
}

static enum err_code dry_run(struct invocation *in, struct change_log *log,
                             const struct undo_target *newest, struct err *e)
{
    struct named n = { .newest = newest, .in = in, .e = e };
    enum err_code rc = change_list(log, show_named, &n, e);

    if (!rc && n.undone)
        rc = err_set(e, ERR_NOT_FOUND, newest->id, "undo: it was undone already");
    return rc ? rc : n.rc;
}

static enum err_code answer_change(struct invocation *in, const struct change *c,
                                   const struct undo_target *n, struct err *e)
{
    struct jsonout j;

    if (!option_given(&in->options, OPTION_JSON))
        return report_target(in, "undone: ", n, e);
    jsonout_init(&j, &in->out.buf);
    jsonout_open(&j, '{');
    jsonout_member(&j, "id", slice_of(c->id));
    jsonout_member(&j, "undoes", slice_of(c->undoes));
    jsonout_member(&j, "text", slice_of(c->text));
    json_target(&j, n);
    jsonout_close(&j, '}');
    return j.rc ? err_nomem(e) : out_add(&in->out, SLICE("\n"), e);
}

static enum err_code undo_change(struct invocation *in, struct change_log *log,
                                 const struct undo_target *n, struct err *e)
{
    struct change *c;

    if (option_given(&in->options, OPTION_DRY_RUN))
        return dry_run(in, log, n, e);
    enum err_code rc = change_undo(log, n->id, &c, e);

    if (rc)
        return rc;
    in->done = true;
    rc = answer_change(in, c, n, e);
    change_free(c);
    return rc;
}

/* ---- a rewind ---- */

/* Going back to what a rewind kept needs no consent: it was given for that rewind. What was edited by hand since is
 * held back all the same. The conversation has no files: where some are named, it stays. */
static enum err_code undo_rewind(struct invocation *in, const struct undo_target *n, struct err *e)
{
    const struct options *o = &in->options;
    struct rewind_options options = { .allow_outside = true,
                                      .allow_sensitive = true,
                                      .allow_edited = option_given(o, OPTION_OVERWRITE_EDITED) };
    struct rewind_plan plan;
    enum err_code rc = rewind_undo_plan(&in->world->env, n->id, &plan, e);

    if (rc)
        return rc;
    if (o->files) {
        rc = rewind_choose_files(in, &plan.arena, &options, e);
        if (!rc)
            rc = rewind_check_files(&plan, &options, e);
        rewind_conversation_fini(&plan.conversation);
    }
    if (!rc && n->command[0] && !option_given(o, OPTION_JSON))
        rc = report_target(in, option_given(o, OPTION_DRY_RUN) ? "would undo: " : "undo: ", n, e);
    if (!rc)
        rc = rewind_show_or_apply(in, &plan, &options, !option_given(o, OPTION_DRY_RUN),
                                  option_given(o, OPTION_SKIP_EDITED), e);
    rewind_plan_fini(&plan);
    return rc;
}

enum err_code undo_run(struct invocation *in, struct err *e)
{
    struct change_log *log;
    struct undo_target newest = { .kind = UNDO_TARGET_NONE };
    struct rewind_recovery waiting;

    rewinds_recover_first(in, &waiting);
    enum err_code rc = change_log_open(&in->world->env, &log, e);

    if (rc)
        return rc;
    rc = choose_undo_target(in, log, &newest, e);
    if (!rc && newest.kind == UNDO_TARGET_CHANGE)
        rc = undo_change(in, log, &newest, e);
    change_log_close(log);
    return rc || newest.kind == UNDO_TARGET_CHANGE ? rc : undo_rewind(in, &newest, e);
}
