#include <string.h>
#include <unistd.h>

#include "lite/base/cleanup.h"
#include "store/api/restore.h"
#include "store/api/session.h"
#include "store/fs/disk.h"
#include "store/journal/change.h"
#include "store/maintenance/session_change.h"
#include "store/rewind/plan/origin.h"
#include "tui/commands/command.h"
#include "tui/commands/out.h"
#include "tui/commands/session.h"
#include "tui/config/resume_command.h"

/* Several sessions are changed as one change, so that one undo restores them all. This is why every
 * session is planned before the first step of the change is done: a refusal leaves all of them
 * alone.
 *
 *     find all -> their agents, if only these can -> plan each -> ask -> change_do -> answer
 *
 * A session that was named twice is planned once. A session on a server may be changed at once
 * while it is planned, which cannot be undone here; `done` must not remain set if a later session
 * is refused. The answer describes a session again from its store, because a value may have been
 * cleaned there. Retrieve is different: it makes a change for each session, because one that cannot
 * be retrieved is no reason to go without the others. */

enum { LEFT_OUT_SHOWN = 8 };

/* One change to all the sessions, done as a whole or not at all. */
struct change_run {
    struct session_ref *ref; /* lives as long as the sessions */
    int n;
    struct change *c;
};

/* Sets *is_done if the agents of the sessions made the change, or --print showed how. */
static enum err_code let_agents(struct invocation *in, struct sessions *s, struct change_run *k,
                                const struct session_change *what, bool *is_done, struct err *e)
{
    struct by_agent b = { .what = what->kind == SESSION_RENAME    ? STORE_COMMAND_RENAME
                                  : what->kind == SESSION_ARCHIVE ? STORE_COMMAND_ARCHIVE
                                                                  : STORE_COMMAND_UNARCHIVE,
                          .title = what->text };
    const struct session_ref **ref = arena_zalloc(&s->arena, ((size_t)k->n + 1) * sizeof *ref);

    *is_done = false;
    NEED(ref);
    if (what->kind != SESSION_RENAME && what->kind != SESSION_ARCHIVE &&
        what->kind != SESSION_UNARCHIVE)
        return ERR_OK;
    for (int i = 0; i < k->n; i++)
        ref[b.n++] = &k->ref[i];
    b.ref = ref;
    TRY(by_agent_check(&b, is_done, e));
    if (!*is_done)
        return ERR_OK;
    for (size_t i = 0; i < b.n; i++) {
        bool once = false;

        TRY(sessions_is_first(s, ref[i], &once, e));
        ref[i] = once ? ref[i] : NULL;
    }
    return by_agent_run(in, &b, e);
}

/* ---- the answer ---- */

/* Writes the session as lists now show it, because the values may have been cleaned before they
 * were stored. It is the whole answer, or one of an array. */
static enum err_code write_session_json(struct sessions *s, const struct session_ref *ref,
                                        const struct change *c, bool one, struct out *o,
                                        struct err *e)
{
    CLEANUP(session_row_free_at) struct session_row *row = session_row_new();

    NEED(row);
    out_open(o, NULL, '{');
    out_member(o, "sessionId", ref->id);
    if (ref->store->ops->describe(ref->store, &s->scope, ref, row, NULL) == ERR_OK) {
        out_member(o, "summary", row->summary);
        out_member(o, "customTitle", row->custom_title);
        out_member(o, "tag", row->tag);
        out_bool_if_true(o, "archived", row->flags & SESSION_ARCHIVED);
    }
    if (c->n)
        out_string(o, "change", c->id);
    one ? out_end(o, '}') : out_close(o, '}');
    return ERR_OK;
}

static void write_changed_text(const struct change *c, bool done, struct out *o)
{
    if (c->n == 0 && done) {
        out_text(o, slice_of(c->text));
        out_addf(o, " (in its store, which keeps no undo)\n");
        return;
    }
    if (c->n == 0) {
        out_addf(o, "nothing to change\n");
        return;
    }
    out_text(o, slice_of(c->text));
    if (c->sessions_n > 1)
        out_addf(o, ": %zu sessions", c->sessions_n);
    out_addf(o, OUT_UNDO_WITH "\n", c->id);
}

static void left_out_fini(struct left_out *left)
{
    arena_fini(&left->arena);
}

/* Other messages may leave the conversation with a removed one: those that only it led to. They are named, and taken
 * with --yes or after a question alone. */
static enum err_code confirm_left_out(struct invocation *in, const struct change_run *k,
                                      struct slice message, struct err *e)
{
    CLEANUP(left_out_fini) struct left_out left = { .n = 0 };
    struct out question;

    TRY(session_change_left_out(k->ref, k->c, message, &left, e));
    if (!left.n || option_given(&in->options, OPTION_YES))
        return ERR_OK;
    if (!command_can_ask(in))
        return err_set(e, ERR_UNSUPPORTED, k->ref->path.p,
                       "tombstone: %zu other message%s would leave the conversation, too, from "
                       "%.40s on; --yes removes it",
                       left.n, left.n == 1 ? "" : "s", left.id[0].p);

    out_init(&question, in->err_fd);
    out_addf(&question, "%zu other message%s would leave the conversation, too:\n", left.n,
             left.n == 1 ? "" : "s");
    for (size_t i = 0; i < left.n && i < LEFT_OUT_SHOWN; i++) {
        out_addf(&question, "  ");
        out_text(&question, left.id[i]);
        out_addf(&question, "\n");
    }
    if (left.n > LEFT_OUT_SHOWN)
        out_addf(&question, "  ... and %zu more\n", left.n - LEFT_OUT_SHOWN);
    out_addf(&question, "Remove the message? [y/N] ");
    return command_ask(&question, "tombstone", "nothing was changed", e);
}

static enum err_code change_make_change(struct invocation *in, struct sessions *s,
                                        struct change_run *k, const struct session_change *what,
                                        struct err *e)
{
    enum err_code rc = ERR_OK;

    for (int i = 0; i < k->n && !rc; i++) {
        bool once = false;

        rc = sessions_is_first(s, &k->ref[i], &once, e);
        if (!rc && once)
            rc = session_change_plan(&k->ref[i], &s->scope, what, k->c, &in->done, e);
    }
    if (!rc && k->c->n && what->kind == SESSION_TOMBSTONE)
        rc = confirm_left_out(in, k, what->text, e);
    if (!rc && k->c->n)
        rc = change_do(&in->world->env, k->c, e);
    /* A session of a server may have been changed before another one was refused: that is no success. */
    in->done = !rc && (in->done || k->c->n);
    if (!rc && in->out.wants_json) {
        if (k->n > 1)
            out_open(&in->out, NULL, '[');
        for (int i = 0; i < k->n && !rc; i++)
            rc = write_session_json(s, &k->ref[i], k->c, k->n == 1, &in->out, e);
        if (k->n > 1)
            out_end(&in->out, ']');
    } else if (!rc)
        write_changed_text(k->c, in->done, &in->out);
    return rc;
}

/* The first `ids` operands (0: all) are sessions. All of it is one change. */
static enum err_code change_sessions(struct invocation *in, int ids,
                                     const struct session_change *what, struct err *e)
{
    CLEANUP(sessions_close) struct sessions s = { .n = 0 };
    CLEANUP(change_free_at) struct change *c = change_new(session_change_name(what->kind));
    struct change_run k = { .n = ids ? ids : in->argc, .c = c };
    bool is_done = false;

    NEED(c);
    TRY(sessions_open(in, true, &s, e));
    TRY(sessions_find_all(&s, in->argv, (size_t)k.n, &k.ref, e));
    enum err_code rc = let_agents(in, &s, &k, what, &is_done, e);

    if (!rc && !is_done)
        rc = change_make_change(in, &s, &k, what, e);
    for (int i = 0; rc && i < k.n; i++)
        sessions_name_typed(&k.ref[i], in->argv[i], e);
    return rc;
}

/* ---- rename, tag, archive, unarchive, resume-at, tombstone ---- */

enum err_code change_rename_run(struct invocation *in, struct err *e)
{
    const struct session_change what = { .kind = SESSION_RENAME, .text = slice_of(in->argv[1]) };

    return change_sessions(in, 1, &what, e);
}

/* tag and untag */
enum err_code change_tag_run(struct invocation *in, struct err *e)
{
    const bool none = option_given(&in->options, OPTION_NONE);
    struct session_change what = { .kind = SESSION_TAG };
    AUTO_BUF tags = { 0 };

    if (none == (in->argc > 1 && in->argv[1][0] != '\0'))
        return err_set(e, ERR_USAGE, in->command->name,
                       "needs a tag, or --none; see reprise tag --help");
    for (int i = 1; i < in->argc; i++)
        NEED(!buf_add(&tags, slice_of(in->argv[i])) && !buf_add(&tags, SLICE(",")));
    what.text = buf_slice(&tags);
    if (!none)
        what.tags = strcmp(in->command->name, "untag") == 0 ? TAGS_REMOVE : TAGS_ADD;
    return change_sessions(in, 1, &what, e);
}

/* archive and unarchive */
enum err_code change_archive_run(struct invocation *in, struct err *e)
{
    bool archived = strcmp(in->command->name, "archive") == 0;
    const struct session_change what = { .kind = archived ? SESSION_ARCHIVE : SESSION_UNARCHIVE };

    return change_sessions(in, 0, &what, e);
}

enum err_code change_resume_at_run(struct invocation *in, struct err *e)
{
    const char *message = in->argc > 1 ? in->argv[1] : "";
    const struct session_change what = { .kind = SESSION_RESUME_AT, .text = slice_of(message) };

    if (option_given(&in->options, OPTION_CLEAR) == (*message != '\0'))
        return err_set(e, ERR_USAGE, "resume-at",
                       "needs a message, or --clear; see reprise resume-at --help");
    return change_sessions(in, 1, &what, e);
}

enum err_code change_tombstone_run(struct invocation *in, struct err *e)
{
    const struct session_change what = { .kind = SESSION_TOMBSTONE,
                                         .text = slice_of(in->argv[1]),
                                         .cut = option_given(&in->options, OPTION_CUT) };

    return change_sessions(in, 1, &what, e);
}

/* ---- reappend ---- */

enum err_code change_reappend_session(struct invocation *in, struct sessions *s,
                                      const struct session_ref *ref, struct err *e)
{
    size_t appended = 0;
    const struct session_change what = { .kind = SESSION_REAPPEND, .appended = &appended };
    CLEANUP(change_free_at) struct change *c = change_new(session_change_name(what.kind));

    NEED(c);
    TRY(session_change_plan(ref, &s->scope, &what, c, NULL, e));
    if (c->n)
        TRY(change_do(&in->world->env, c, e));
    in->done = c->n;
    if (in->out.wants_json) {
        out_open(&in->out, NULL, '{');
        out_member(&in->out, "sessionId", ref->id);
        out_int(&in->out, "appended", (int64_t)appended);
        out_end(&in->out, '}');
    } else
        out_addf(&in->out, "%zu row%s appended\n", appended, appended == 1 ? "" : "s");
    return ERR_OK;
}

/* ---- fork ---- */

static enum err_code do_fork(struct invocation *in, const struct session_ref *ref, struct change *c,
                             struct fork_result *out, struct err *e)
{
    const struct fork_request request = { .id = option_text(in->options.id),
                                          .at = option_text(in->options.at),
                                          .title = option_text(in->options.title),
                                          .with_files =
                                              option_given(&in->options, OPTION_WITH_FILES) };

    if (in->options.id && !in->options.id[0])
        return err_set(e, ERR_USAGE, "--id", "fork: invalid session id");
    enum err_code rc = session_change_fork(&in->world->env, ref, &request, c, out, e);

    in->done = !rc;
    return rc;
}

/* A configured command replaces our fork of a whole session; only our fork can end at a message. */
static enum err_code check_agent_fork(const struct invocation *in, const struct session_ref *ref,
                                      struct err *e)
{
    CLEANUP(config_fini) struct config config = { 0 };

    if (in->options.at || !ref->store->ops->fork)
        return ERR_OK;
    TRY(command_stores(in, &config, e));
    return resume_agent_forks(&config, ref, false)
               ? err_set(e, ERR_UNSUPPORTED, ref->path.p,
                         "fork: [store.%s] sets the command that forks: use reprise --fork "
                         "--resume %s:%.*s",
                         ref->store->ops->name, ref->store->ops->name, SLICE_ARG(ref->id))
               : ERR_OK;
}

enum err_code change_fork_session(struct invocation *in, struct sessions *s,
                                  const struct session_ref *ref, struct err *e)
{
    const struct store_ops *ops = ref->store->ops;
    const char *why = store_unsupported_reason(ops, CAN_NAME_FORK);
    CLEANUP(change_free_at) struct change *c = change_new("fork");
    struct fork_result fork;

    (void)s;
    NEED(c);
    TRY(check_agent_fork(in, ref, e));
    TRY(do_fork(in, ref, c, &fork, e));
    if (in->options.title && why)
        command_warn(in, ERR_UNSUPPORTED, ref->path.p, "fork: the fork gets no title: %s", why);
    if (in->out.wants_json) {
        out_open(&in->out, NULL, '{');
        out_member(&in->out, "sessionId", fork.id);
        out_string(&in->out, "path", fork.path);
        /* The rows of the copy contain the id that the agent uses. */
        out_member(&in->out, "parentId", ops->agent_id ? ops->agent_id(ref->id) : ref->id);
        out_end(&in->out, '}');
    } else
        out_addf(&in->out, "%s\n", fork.id.p);
    return ERR_OK;
}

enum err_code change_fork(struct invocation *in, const struct session_ref *ref, struct arena *a,
                          const char **path, struct err *e)
{
    CLEANUP(change_free_at) struct change *c = change_new("fork");
    struct fork_result fork;

    NEED(c);
    TRY(do_fork(in, ref, c, &fork, e));
    in->done = false; /* the command goes on */
    NEED(*path = arena_copy_text(a, fork.path));
    return ERR_OK;
}

enum err_code change_retrieve(struct invocation *in, const struct session_ref *ref,
                              const struct retrieve_request *req, struct retrieved *out,
                              struct err *e)
{
    CLEANUP(change_free_at) struct change *c = change_new("retrieve");

    NEED(c);
    TRY(session_change_retrieve(&in->world->env, ref, req, c, out, e));
    if (c->n && !req->dry_run)
        in->done = true;
    return ERR_OK;
}

static void write_retrieved_text(const struct retrieved *r, bool dry, struct out *o)
{
    static const char *const states[] = {
        [RETRIEVE_NEW] = "not on this machine",
        [RETRIEVE_UNCHANGED] = "up to date",
        [RETRIEVE_NEWER] = "newer than the one on this machine",
        [RETRIEVE_LOCAL_NEWER] = "newer on this machine: kept (--force replaces it)",
        [RETRIEVE_NOT_OURS] = "skipped: the transcript directory of its agent is not known",
    };

    for (size_t i = 0; i < r->n; i++) {
        const struct retrieve_item *x = &r->item[i];
        bool done = x->planned && !dry;

        out_text(o, x->session);
        out_addf(o, "  %s%s%s\n", done ? "written" : states[x->state],
                 done && x->redacted ? " (a redacted copy)" : "",
                 x->planned && !done ? ", would be written" : "");
    }
}

static enum err_code change_retrieve_one(struct invocation *in, const struct session_ref *ref,
                                         const struct retrieve_request *req, struct err *e)
{
    CLEANUP(retrieved_fini) struct retrieved r = { .n = 0 };

    TRY(change_retrieve(in, ref, req, &r, e));
    if (in->out.wants_json) {
        for (size_t i = 0; i < r.n; i++) {
            const struct retrieve_item *x = &r.item[i];

            out_open(&in->out, NULL, '{');
            out_member(&in->out, "sessionId", x->session);
            out_member(&in->out, "agent", x->agent);
            out_string(&in->out, "path", x->path);
            out_string(&in->out, "state", retrieve_state_name(x->state));
            out_bool(&in->out, "written", x->planned && !req->dry_run);
            out_bool(&in->out, "redacted", x->redacted);
            out_close(&in->out, '}');
        }
    } else
        write_retrieved_text(&r, req->dry_run, &in->out);
    /* A newer transcript on this machine is a conflict, as in a rewind. */
    for (size_t i = 0; i < r.n; i++)
        if (r.item[i].state == RETRIEVE_LOCAL_NEWER && !r.item[i].planned)
            return err_set(e, ERR_STALE, r.item[i].path,
                           "retrieve: the transcript on this machine is newer (--force replaces "
                           "it)");
    return ERR_OK;
}

/* Gives the error the name of the command that was typed, and adds which sessions can be retrieved. */
static void change_explain_retrieve(const struct invocation *in, const struct sessions *s,
                                    const struct session_ref *ref, const char *id, struct err *e)
{
    static const char operation[] = "retrieve: ";
    const struct err said = *e;
    const char *team = "STORE";

    if (strncmp(said.text, operation, strlen(operation)) != 0 || !in->typed)
        return;
    const char *reason = said.text + strlen(operation);

    for (size_t i = 0; i < s->n; i++)
        if (s->store[i]->ops->remote)
            team = s->store[i]->ops->name;
    if (said.code == ERR_UNSUPPORTED && !ref->store->ops->retrieve)
        err_set(e, said.code, said.path, "%s: %s; a copy in a team's store: reprise %s %s:%s",
                in->typed, reason, in->typed, team, strrchr(id, ':') ? strrchr(id, ':') + 1 : id);
    else if (!said.sys)
        err_set(e, said.code, said.path, "%s: %s", in->typed, reason);
}

/* If a session cannot be retrieved, the others still are. Returns the first failure, and reports further ones. */
static enum err_code change_retrieve_each(struct invocation *in, const struct sessions *s,
                                          const struct session_ref *ref, struct err *e)
{
    struct retrieve_request req = { .at = option_text(in->options.at),
                                    .overwrite = option_given(&in->options, OPTION_FORCE),
                                    .dry_run = option_given(&in->options, OPTION_DRY_RUN) };
    enum err_code failed = ERR_OK;

    for (int i = 0; i < in->argc; i++) {
        struct err problem = { 0 };
        enum err_code rc = change_retrieve_one(in, &ref[i], &req, &problem);

        if (rc) {
            sessions_name_typed(&ref[i], in->argv[i], &problem);
            change_explain_retrieve(in, s, &ref[i], in->argv[i], &problem);
        }
        if (rc && failed)
            out_report(in->err_fd, &problem);
        else if (rc)
            *e = problem;
        failed = failed ? failed : rc;
    }
    if (failed && in->argc > 1) /* a session failed, not the answer */
        in->done = false;
    return failed;
}

enum err_code change_retrieve_run(struct invocation *in, struct err *e)
{
    struct sessions s;
    struct session_ref *ref;

    if (in->options.at && in->argc > 1)
        return err_set(e, ERR_USAGE, "--at", "names a checkpoint of one session");
    TRY(sessions_open(in, true, &s, e));
    enum err_code rc = sessions_find_all(&s, in->argv, (size_t)in->argc, &ref, e);

    if (!rc) {
        if (in->out.wants_json)
            out_open(&in->out, NULL, '[');
        rc = change_retrieve_each(in, &s, ref, e);
        if (in->out.wants_json)
            out_end(&in->out, ']');
    }
    sessions_close(&s);
    return rc;
}
