#include <string.h>

#include "lite/json/jsonout.h"
#include "store/api/fork.h"
#include "store/journal/change.h"
#include "store/journal/fork_stage.h"
#include "store/rewind/plan/origin.h"
#include "tui/commands/command.h"
#include "tui/commands/out.h"
#include "tui/commands/sessions.h"

/* Plans one change of the session; the operands are the invocation's. */
typedef enum err_code change_plan_fn(struct invocation *in, struct sessions *s,
                                     const struct session_ref *ref, struct change *c,
                                     struct err *e);

/* What was done to the sessions: one change, done or not at all, and taken back at once. */
struct change_run {
    struct session_ref *ref; /* lives with the sessions */
    int n;
    struct change *c;
};

static enum err_code plan_each(struct invocation *in, struct sessions *s, struct change_run *k,
                               change_plan_fn *plan, struct err *e)
{
    enum err_code rc = sessions_find_all(s, in->argv, (size_t)k->n, &k->ref, e);

    for (int i = 0; i < k->n && !rc; i++) {
        bool once = false;

        rc = sessions_is_first(s, &k->ref[i], &once, e);
        if (!rc && !once)
            continue;
        if (!rc)
            rc = origin_add_session(k->c, &k->ref[i], e);
        if (!rc)
            rc = plan(in, s, &k->ref[i], k->c, e);
    }
    return rc;
}

/* ---- the answer ---- */

/* As a list shows the session from now on: what was asked for may have been cleaned before it was written. */
static enum err_code json_session(struct invocation *in, struct sessions *s,
                                  const struct session_ref *ref, const struct change *c,
                                  struct err *e)
{
    struct session_row *row = session_row_new();
    struct jsonout j;

    if (!row)
        return err_nomem(e);
    jsonout_init(&j, &in->out.buf);
    jsonout_open(&j, '{');
    jsonout_member(&j, "sessionId", ref->id);
    if (ref->store->ops->describe(ref->store, &s->scope, ref, row, NULL) == ERR_OK) {
        jsonout_member(&j, "summary", row->summary);
        jsonout_member(&j, "customTitle", row->custom_title);
        jsonout_member(&j, "tag", row->tag);
        if (row->flags & SESSION_ARCHIVED) {
            jsonout_key(&j, "archived");
            jsonout_bool(&j, true);
        }
    }
    if (c->n)
        jsonout_member(&j, "change", slice_of(c->id));
    jsonout_close(&j, '}');
    session_row_free(row);
    return j.rc ? err_nomem(e) : ERR_OK;
}

static enum err_code write_changes_json(struct invocation *in, struct sessions *s,
                                        const struct change_run *k, struct err *e)
{
    enum err_code rc = k->n > 1 ? out_add(&in->out, SLICE("["), e) : ERR_OK;

    for (int i = 0; i < k->n && !rc; i++) {
        if (i > 0)
            rc = out_add(&in->out, SLICE(","), e);
        if (!rc)
            rc = json_session(in, s, &k->ref[i], k->c, e);
    }
    return rc ? rc : out_add(&in->out, k->n > 1 ? SLICE("]\n") : SLICE("\n"), e);
}

static enum err_code write_changes_text(struct invocation *in, const struct change_run *k,
                                        struct err *e)
{
    if (k->c->n == 0)
        return out_add(&in->out, SLICE("nothing to change\n"), e);
    enum err_code rc = out_text(&in->out, slice_of(k->c->text), e);

    if (!rc && k->c->sessions_n > 1)
        rc = out_addf(&in->out, e, ": %zu sessions", k->c->sessions_n);
    return rc ? rc : out_add(&in->out, SLICE(" (undo with: reprise undo)\n"), e);
}

/* The first `ids` operands (0: all) are sessions. All of it is one change. */
static enum err_code change_sessions(struct invocation *in, const char *kind, int ids,
                                     change_plan_fn *plan, struct err *e)
{
    struct sessions s;
    struct change_run k = { .n = ids ? ids : in->argc, .c = change_new(kind) };
    enum err_code rc = sessions_open(in, true, &s, e);

    if (rc) {
        change_free(k.c);
        return rc;
    }
    if (!k.c)
        rc = err_set(e, ERR_NOMEM, "", "%s: out of memory", kind);
    if (!rc)
        rc = plan_each(in, &s, &k, plan, e);
    if (!rc && k.c->n)
        rc = change_do(&in->world->env, k.c, e);
    in->done = !rc && k.c->n;
    if (!rc)
        rc = option_given(&in->options, OPTION_JSON) ? write_changes_json(in, &s, &k, e)
                                                     : write_changes_text(in, &k, e);
    change_free(k.c);
    sessions_close(&s);
    return rc;
}

/* rename, tag, archive, unarchive and reappend: one small change of a session each. */

static enum err_code plan_rename(struct invocation *in, struct sessions *s,
                                 const struct session_ref *ref, struct change *c, struct err *e)
{
    const struct store_ops *ops = ref->store->ops;
    struct slice title = slice_of(in->argv[1]);
    enum err_code rc = ops->rename ? ERR_OK : store_unsupported_error(ref, CAN_RENAME, "rename", e);

    c->text = arena_format(&c->arena, "renamed to %s", in->argv[1]);
    if (!rc && !c->text)
        rc = err_nomem(e);
    (void)s;
    return rc ? rc : ops->rename(ref->store, ref, title, c, e);
}

enum err_code rename_run(struct invocation *in, struct err *e)
{
    return change_sessions(in, "rename", 1, plan_rename, e);
}

static enum err_code plan_tag(struct invocation *in, struct sessions *s,
                              const struct session_ref *ref, struct change *c, struct err *e)
{
    const struct store_ops *ops = ref->store->ops;
    bool none = option_given(&in->options, OPTION_NONE);
    const char *tag = in->argc > 1 ? in->argv[1] : "";
    enum err_code rc = ops->tag ? ERR_OK : store_unsupported_error(ref, CAN_TAG, "tag", e);

    if (!rc && none == (in->argc > 1))
        rc = err_set(e, ERR_USAGE, "tag", "give either a tag or --none");
    c->text = none ? "tag removed" : arena_format(&c->arena, "tagged %s", tag);
    if (!rc && !c->text)
        rc = err_nomem(e);
    (void)s;
    return rc ? rc : ops->tag(ref->store, ref, slice_of(tag), none, c, e);
}

enum err_code tag_run(struct invocation *in, struct err *e)
{
    return change_sessions(in, "tag", 1, plan_tag, e);
}

static enum err_code plan_archive_mark(struct sessions *s, const struct session_ref *ref,
                                       bool archived, struct change *c, struct err *e)
{
    const struct store_ops *ops = ref->store->ops;
    enum err_code rc =
        ops->archive
            ? ERR_OK
            : store_unsupported_error(ref, CAN_ARCHIVE, archived ? "archive" : "unarchive", e);

    c->text = archived ? "archived" : "unarchived";
    return rc ? rc : ops->archive(ref->store, &s->scope, ref, archived, c, e);
}

static enum err_code plan_archive(struct invocation *in, struct sessions *s,
                                  const struct session_ref *ref, struct change *c, struct err *e)
{
    (void)in;
    return plan_archive_mark(s, ref, true, c, e);
}

static enum err_code plan_unarchive(struct invocation *in, struct sessions *s,
                                    const struct session_ref *ref, struct change *c, struct err *e)
{
    (void)in;
    return plan_archive_mark(s, ref, false, c, e);
}

enum err_code archive_run(struct invocation *in, struct err *e)
{
    return change_sessions(in, "archive", 0, plan_archive, e);
}

enum err_code unarchive_run(struct invocation *in, struct err *e)
{
    return change_sessions(in, "unarchive", 0, plan_unarchive, e);
}

static enum err_code plan_resume_at_change(struct invocation *in, struct sessions *s,
                                           const struct session_ref *ref, struct change *c,
                                           struct err *e)
{
    const struct store_ops *ops = ref->store->ops;
    bool clear = option_given(&in->options, OPTION_CLEAR);
    const char *message = in->argc > 1 ? in->argv[1] : "";
    enum err_code rc =
        ops->resume_at ? ERR_OK : store_unsupported_error(ref, CAN_RESUME_AT, "resume-at", e);

    if (!rc && (clear == (in->argc > 1) || (!clear && *message == '\0')))
        rc = err_set(e, ERR_USAGE, "resume-at", "give either a message or --clear");
    c->text = clear ? "resumes with an empty conversation"
                    : arena_format(&c->arena, "resumes after %s", message);
    if (!rc && !c->text)
        rc = err_nomem(e);
    (void)s;
    return rc ? rc : ops->resume_at(ref->store, ref, slice_of(message), c, e);
}

enum err_code resume_at_run(struct invocation *in, struct err *e)
{
    return change_sessions(in, "resume-at", 1, plan_resume_at_change, e);
}

static enum err_code plan_tombstone(struct invocation *in, struct sessions *s,
                                    const struct session_ref *ref, struct change *c, struct err *e)
{
    const struct store_ops *ops = ref->store->ops;
    const char *message = in->argv[1];
    enum err_code rc =
        ops->tombstone ? ERR_OK : store_unsupported_error(ref, CAN_TOMBSTONE, "tombstone", e);

    c->text = arena_format(&c->arena, "message %s removed", message);
    if (!rc && !c->text)
        rc = err_nomem(e);
    (void)s;
    return rc ? rc
              : ops->tombstone(ref->store, ref, slice_of(message),
                               option_given(&in->options, OPTION_CUT), c, e);
}

enum err_code tombstone_run(struct invocation *in, struct err *e)
{
    return change_sessions(in, "tombstone", 1, plan_tombstone, e);
}

static enum err_code write_reappend_answer(struct invocation *in, const struct session_ref *ref,
                                           size_t appended, struct err *e)
{
    struct jsonout j;

    if (!option_given(&in->options, OPTION_JSON))
        return out_addf(&in->out, e, "%zu row%s appended\n", appended, appended == 1 ? "" : "s");
    jsonout_init(&j, &in->out.buf);
    jsonout_open(&j, '{');
    jsonout_member(&j, "sessionId", ref->id);
    jsonout_key(&j, "appended");
    jsonout_int(&j, (int64_t)appended);
    jsonout_close(&j, '}');
    return j.rc ? err_nomem(e) : out_add(&in->out, SLICE("\n"), e);
}

enum err_code reappend_run(struct invocation *in, struct err *e)
{
    struct sessions s;
    struct session_ref ref;
    struct change *c = change_new("reappend");
    size_t appended = 0;
    enum err_code rc = sessions_of_operand(in, &s, &ref, e);

    if (rc) {
        change_free(c);
        return rc;
    }
    if (!c)
        rc = err_nomem(e);
    if (!rc)
        rc = ref.store->ops->reappend ? ERR_OK
                                      : store_unsupported_error(&ref, CAN_REAPPEND, "re-append", e);
    if (!rc) {
        c->text = "metadata appended again";
        rc = origin_add_session(c, &ref, e);
    }
    if (!rc)
        rc = ref.store->ops->reappend(ref.store, &ref, c, &appended, e);
    if (!rc && c->n)
        rc = change_do(&in->world->env, c, e);
    in->done = !rc && c && c->n;
    if (!rc)
        rc = write_reappend_answer(in, &ref, appended, e);
    change_free(c);
    sessions_close(&s);
    return rc;
}

static enum err_code write_fork_answer(struct invocation *in, const struct session_ref *ref,
                                       const struct fork_result *fork, struct err *e)
{
    const struct store_ops *ops = ref->store->ops;
    /* As the rows of the copy name it, which are the agent's. */
    struct slice parent = ops->agent_id ? ops->agent_id(ref->id) : ref->id;
    struct jsonout j;

    if (!option_given(&in->options, OPTION_JSON))
        return out_addf(&in->out, e, "%s\n", fork->id.p);
    jsonout_init(&j, &in->out.buf);
    jsonout_open(&j, '{');
    jsonout_member(&j, "sessionId", fork->id);
    jsonout_member(&j, "path", option_text(fork->path));
    jsonout_member(&j, "parentId", parent);
    jsonout_close(&j, '}');
    return j.rc ? err_nomem(e) : out_add(&in->out, SLICE("\n"), e);
}

/* A title that was asked for and has no place. */
static void report_missing_title(const struct invocation *in, const struct session_ref *ref)
{
    const char *why = store_unsupported_reason(ref->store->ops, CAN_NAME_FORK);
    struct err note;

    if (!in->options.title || !why)
        return;
    err_set(&note, ERR_UNSUPPORTED, ref->path.p, "fork: the fork gets no title: %s", why);
    out_report(in->err_fd, &note);
}

static enum err_code make_fork_change(struct invocation *in, const struct session_ref *ref,
                                      struct change *c, struct err *e)
{
    const struct fork_request request = { .at = option_text(in->options.at),
                                          .title = option_text(in->options.title),
                                          .with_files =
                                              option_given(&in->options, OPTION_WITH_FILES) };
    const struct store_ops *ops = ref->store->ops;
    struct fork_result fork = { .path = NULL };
    enum err_code rc = origin_add_session(c, ref, e);

    fork_sweep(&in->world->env);
    if (!rc)
        rc = ops->fork(ref->store, ref, &request, c, &fork, e);
    if (rc)
        return rc;
    c->text = arena_format(&c->arena, "forked as %s", fork.id.p);
    rc = c->text ? change_add_session_name(c,
                                           arena_format(&c->arena, "%s:%s",
                                                        fork.system ? fork.system : ops->name,
                                                        fork.id.p),
                                           e)
                 : err_nomem(e);
    if (!rc)
        rc = change_do(&in->world->env, c, e);
    in->done = !rc;
    if (rc)
        fork_discard(&fork);
    else
        report_missing_title(in, ref);
    return rc ? rc : write_fork_answer(in, ref, &fork, e);
}

enum err_code fork_run(struct invocation *in, struct err *e)
{
    struct sessions s;
    struct session_ref ref;
    enum err_code rc = sessions_of_operand(in, &s, &ref, e);

    if (rc)
        return rc;
    struct change *c = change_new("fork");

    if (!c)
        rc = err_nomem(e);
    else if (!ref.store->ops->fork)
        rc = store_unsupported_error(&ref, CAN_FORK, "fork", e);
    if (!rc)
        rc = make_fork_change(in, &ref, c, e);
    change_free(c);
    sessions_close(&s);
    return rc;
}
