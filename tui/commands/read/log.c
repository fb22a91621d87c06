#include <string.h>

#include "lite/json/jsonout.h"
#include "store/journal/change.h"
#include "store/rewind/plan/rewind.h"
#include "tui/commands/command.h"
#include "tui/commands/rewind/rewind_answer.h"
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
        r->deleted, conversation_change_moves(r->how) ? ", conversation too" : "",
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
