#include "store/maintenance/session_change.h"

#include <stdio.h>
#include <string.h>

#include "lite/base/buf.h"
#include "store/api/host.h"
#include "store/api/restore.h"
#include "store/api/store.h"
#include "store/fs/disk.h"
#include "store/journal/change.h"
#include "store/maintenance/trash.h"
#include "store/proc/live.h"
#include "store/proc/process.h"
#include "store/rewind/plan/origin.h"

/* There are two ways to change a session. Usually steps are planned here, and are done as one
 * change that can be undone. If only the agent may write its index, a command of the agent makes
 * the change, and it may fail without an error:
 *
 *   no agent at work -> copy into the trash (delete) -> command -> open the store again -> record
 *
 * The copy must exist before the command runs, and the record comes last, because only a change
 * that the store shows is recorded. Planning writes only to stores that do not consist of files. A
 * new title is not compared: the agent may clean it. */

const char *session_change_name(enum session_change_kind kind)
{
    static const char *const names[] = {
        [SESSION_RENAME] = "rename",       [SESSION_TAG] = "tag",
        [SESSION_ARCHIVE] = "archive",     [SESSION_UNARCHIVE] = "unarchive",
        [SESSION_RESUME_AT] = "resume-at", [SESSION_TOMBSTONE] = "tombstone",
        [SESSION_REAPPEND] = "reappend",
    };

    return names[kind];
}

/* ---- one session ---- */

struct planning {
    const struct session_ref *ref;
    const struct scope *scope;
    const struct session_change *what;
    struct change *c;
    bool at_once;
};

/* NULL if out of memory. */
static const char *description_of(const struct planning *p)
{
    struct arena *a = &p->c->arena;
    struct slice text = p->what->text;

    switch (p->what->kind) {
    case SESSION_RENAME: return arena_format(a, "renamed to %.*s", SLICE_ARG(text));
    case SESSION_TAG:
        if (p->what->tags == TAGS_REMOVE)
            return arena_format(a, "tag %.*s removed", SLICE_ARG(text));
        return text.n ? arena_format(a, "tagged %.*s", SLICE_ARG(text)) : "tag removed";
    case SESSION_ARCHIVE: return "archived";
    case SESSION_UNARCHIVE: return "unarchived";
    case SESSION_RESUME_AT:
        return text.n ? arena_format(a, "resumes after %.*s", SLICE_ARG(text))
                      : "resumes with an empty conversation";
    case SESSION_TOMBSTONE: return arena_format(a, "message %.*s removed", SLICE_ARG(text));
    case SESSION_REAPPEND: return "metadata appended again";
    }
    return "changed";
}

/* Stores that are not files have no steps to plan. */
static bool is_set_at_once(const struct store_ops *ops)
{
    return store_changes_at_once(ops) && ops->set;
}

static enum err_code set_at_once(struct planning *p, const char *key, struct slice text,
                                 struct err *e)
{
    const struct host_setting setting = { slice_of(key), text };
    enum err_code rc = host_set(p->ref->store, p->ref, &setting, 1, e);

    p->at_once = !rc;
    return rc;
}

/* The present tags of the session, added to `out`. They may be between the windows of a long transcript. */
static enum err_code present_tags(const struct planning *p, struct buf *out, struct err *e)
{
    const struct store *st = p->ref->store;
    CLEANUP(session_row_free_at) struct session_row *row = session_row_new();
    bool found;

    NEED(row);
    TRY(st->ops->describe(st, p->scope, p->ref, row, e));
    if (row->tag.n == 0 && st->ops->full_scan)
        TRY(st->ops->full_scan(st, p->ref, NULL, row, &found, e));
    NEED(!buf_add(out, row->tag));
    return ERR_OK;
}

/* Nothing is planned if it has these tags already, or none of those to be removed. */
static enum err_code plan_tag(struct planning *p, struct err *e)
{
    const struct store_ops *ops = p->ref->store->ops;
    const bool whole = p->what->tags == TAGS_SET;
    AUTO_BUF present = { 0 };
    AUTO_BUF tags = { 0 };

    if (!ops->tag && !is_set_at_once(ops))
        return store_unsupported_error(p->ref, CAN_TAG, "tag", e);
    if (!whole)
        TRY(present_tags(p, &present, e));
    NEED(!session_tags_join(buf_slice(&present), p->what->text, p->what->tags == TAGS_REMOVE,
                            &tags));

    struct slice text = buf_slice(&tags);

    if (!whole && session_tags_include(buf_slice(&present), text) &&
        session_tags_include(text, buf_slice(&present)))
        return ERR_OK;
    if (whole && text.n == 0)
        text = p->what->text; /* blank: the system says what is wrong with it */
    return ops->tag ? ops->tag(p->ref->store, p->ref, text, text.n == 0, p->c, e)
                    : set_at_once(p, "tag", text, e);
}

static enum err_code plan_archive(struct planning *p, struct err *e)
{
    const struct store *st = p->ref->store;
    const bool wanted = p->what->kind == SESSION_ARCHIVE;
    CLEANUP(session_row_free_at) struct session_row *row = session_row_new();

    /* An archived session that got another prompt since is not archived any more. */
    const bool known = row && st->ops->describe(st, p->scope, p->ref, row, NULL) == ERR_OK;

    if (!st->ops->archive)
        return store_unsupported_error(p->ref, CAN_ARCHIVE, session_change_name(p->what->kind), e);
    return known && !(row->flags & SESSION_ARCHIVED) == !wanted
               ? ERR_OK
               : st->ops->archive(st, p->scope, p->ref, wanted, p->c, e);
}

static enum err_code plan_steps(struct planning *p, struct err *e)
{
    const struct session_ref *ref = p->ref;
    const struct store *st = ref->store;
    const struct store_ops *ops = st->ops;
    const struct slice text = p->what->text;
    size_t appended = 0;

    switch (p->what->kind) {
    case SESSION_RENAME:
        if (ops->rename)
            return ops->rename(st, ref, text, p->c, e);
        return is_set_at_once(ops) ? set_at_once(p, "title", text, e)
                                   : store_unsupported_error(ref, CAN_RENAME, "rename", e);
    case SESSION_TAG: return plan_tag(p, e);
    case SESSION_ARCHIVE:
    case SESSION_UNARCHIVE: return plan_archive(p, e);
    case SESSION_RESUME_AT:
        return ops->resume_at ? ops->resume_at(st, ref, text, p->c, e)
                              : store_unsupported_error(ref, CAN_RESUME_AT, "resume-at", e);
    case SESSION_TOMBSTONE:
        return ops->tombstone ? ops->tombstone(st, ref, text, p->what->cut, p->c, e)
                              : store_unsupported_error(ref, CAN_TOMBSTONE, "tombstone", e);
    case SESSION_REAPPEND:
        TRY(ops->reappend ? ops->reappend(st, ref, p->c, &appended, e)
                          : store_unsupported_error(ref, CAN_REAPPEND, "re-append", e));
        if (p->what->appended)
            *p->what->appended = appended;
        return ERR_OK;
    }
    return ERR_OK;
}

enum err_code session_change_plan(const struct session_ref *ref, const struct scope *scope,
                                  const struct session_change *what, struct change *c,
                                  bool *at_once, struct err *e)
{
    struct planning p = { .ref = ref, .scope = scope, .what = what, .c = c };
    const size_t before = c->n;

    NEED(c->text = description_of(&p));
    TRY(plan_steps(&p, e));
    if (c->n > before) /* a session that is already like that is not part of the change */
        TRY(origin_add_session(c, ref, e));
    if (at_once && p.at_once)
        *at_once = true;
    return ERR_OK;
}

/* ---- copies ---- */

enum err_code session_change_fork(const struct store_env *env, const struct session_ref *ref,
                                  const struct fork_request *req, struct change *c,
                                  struct fork_result *out, struct err *e)
{
    const struct store_ops *ops = ref->store->ops;
    struct fork_result fork = { .path = NULL };

    if (!ops->fork)
        return store_unsupported_error(ref, CAN_FORK, "fork", e);
    if (req->id.n && !ops->accepts_fork_id)
        return err_set(e, ERR_UNSUPPORTED, ref->path.p, "fork: %s chooses the id of a copy itself",
                       ops->name);
    TRY(origin_add_session(c, ref, e));
    change_sweep_forks(env);

    /* The system makes the copy, and plans the change that moves it into its store. */
    enum err_code rc = ops->fork(ref->store, ref, req, c, &fork, e);

    if (!rc) {
        c->text = arena_format(&c->arena, "forked as %.*s", SLICE_ARG(fork.id));
        rc = c->text ? change_add_session(c, fork.system ? fork.system : ops->name, fork.id, e)
                     : err_nomem(e);
    }
    if (!rc && c->n)
        rc = change_do(env, c, e);
    if (!rc)
        *out = fork;
    else if (fork.path && !c->unfinished)
        change_discard_fork(&fork);
    return rc;
}

/* ---- the transcript of a session that is kept elsewhere ---- */

enum err_code session_change_retrieve(const struct store_env *env, const struct session_ref *ref,
                                      const struct retrieve_request *req, struct change *c,
                                      struct retrieved *out, struct err *e)
{
    if (!ref->store->ops->retrieve)
        return store_unsupported_error(ref, CAN_RETRIEVE, "retrieve", e);
    enum err_code rc = origin_add_session(c, ref, e);

    c->text = "transcript retrieved";
    if (!rc)
        rc = ref->store->ops->retrieve(ref->store, ref, req, c, out, e);
    if (rc || !c->n || req->dry_run)
        return rc;
    for (size_t i = 0; i < out->n && !rc; i++)
        if (out->item[i].planned)
            rc = disk_private_dir(out->item[i].folder, e);
    if (!rc)
        rc = change_do(env, c, e);
    if (rc)
        retrieved_fini(out);
    return rc;
}

enum { TIMEOUT_MS = 120000, OUTPUT_MOST = 4 << 20, SAID_MOST = 200 };

static const struct scope everywhere = { .all = true };

const char *agent_change_name(enum store_command what)
{
    static const char *const names[] = {
        [STORE_COMMAND_RENAME] = "rename",
        [STORE_COMMAND_ARCHIVE] = "archive",
        [STORE_COMMAND_UNARCHIVE] = "unarchive",
        [STORE_COMMAND_DELETE] = "delete",
    };

    return names[what];
}

unsigned agent_change_ability(enum store_command what)
{
    return what == STORE_COMMAND_RENAME   ? CAN_RENAME
           : what == STORE_COMMAND_DELETE ? CAN_DELETE
                                          : CAN_ARCHIVE;
}

static bool keeps_copy(const struct agent_change *a)
{
    return a->what == STORE_COMMAND_DELETE && !a->permanently && a->ref->store->ops->deleted_parts;
}

const char *agent_change_consequence(const struct agent_change *a)
{
    switch (a->what) {
    case STORE_COMMAND_RENAME: return "Undo does not cover this: rename the session again instead.";
    case STORE_COMMAND_ARCHIVE: return "Undo does not cover this: unarchive the session instead.";
    case STORE_COMMAND_UNARCHIVE: return "Undo does not cover this: archive the session instead.";
    default:
        return keeps_copy(a) ? "A copy of its files is kept in the trash; undo restores them."
                             : "This cannot be undone: no copy is kept.";
    }
}

/* ---- the copy ---- */

/* Without files of its own there is no item. */
static enum err_code keep_copy(const struct store_env *env, const struct agent_change *a,
                               struct trash_list *kept, struct err *e)
{
    AUTO_ARENA arena = { 0 };
    CLEANUP(change_log_close_at) struct change_log *log = NULL;
    struct change_origin origin = { 0 };
    struct trash_request request;

    TRY(origin_of(a->ref, &arena, &origin, e));
    TRY(trash_request_make_kept(a->ref, slice_of(origin.title ? origin.title : ""), &arena,
                                &request, e));
    if (!request.parts)
        return ERR_OK;
    TRY(change_log_open(env, &log, e));
    return trash_keep(env, &request, kept, e);
}

/* ---- the command ---- */

static enum err_code session_change_run_command(const struct agent_change *a, struct err *e)
{
    AUTO_BUF out = { 0 };
    AUTO_BUF errors = { 0 };
    const struct spawn s = { .argv = a->argv,
                             .dir = a->dir,
                             .timeout_ms = TIMEOUT_MS,
                             .max = OUTPUT_MOST,
                             .variable = a->variable,
                             .value = a->value,
                             .errors = &errors };
    enum err_code rc = spawn_read(&s, &out, e);
    char said[SAID_MOST];

    /* The last line that the command printed, without colours. */
    struct slice text = buf_slice(&errors);
    size_t n = 0;

    said[0] = '\0';
    while (text.n && (unsigned char)text.p[text.n - 1] <= ' ')
        text.n--;
    for (size_t i = 0; i < text.n;) {
        if (text.p[i] == '\033') {
            const bool parameters = i + 1 < text.n && text.p[i + 1] == '[';

            i += 2;
            while (parameters && i < text.n && !(text.p[i] >= '@' && text.p[i] <= '~'))
                i++;
            i += parameters;
            continue;
        }
        if (text.p[i] == '\n')
            n = 0;
        else if (n + 1 < SAID_MOST)
            said[n++] = text.p[i];
        said[n] = '\0';
        i++;
    }

    if (rc == ERR_IO && said[0])
        return err_set(e, rc, a->ref->path.p, "%s: %s: %s", agent_change_name(a->what), a->argv[0],
                       said);
    return rc ? err_wrap(e, rc, "%s", agent_change_name(a->what)) : ERR_OK;
}

/* ---- the result ---- */

/* The store is opened again, because the present one may be a picture of an earlier moment. Whether a title is the new
 * one is not checked: the agent may have cleaned it. */
static bool is_done(const struct store_env *env, const struct agent_change *a)
{
    const struct store *was = a->ref->store;
    struct store *st = NULL;
    struct session_ref now = { 0 };
    struct arena arena = { 0 };
    enum err_code rc = was->ops->open(env, was->path, &st, NULL);
    bool done = false;

    if (!rc)
        rc = st->ops->find(st, &everywhere, a->ref->id, &arena, &now, NULL);
    if (a->what == STORE_COMMAND_DELETE)
        done = rc == ERR_NOT_FOUND;
    else if (!rc) {
        CLEANUP(session_row_free_at) struct session_row *row = session_row_new();

        done = row && !st->ops->describe(st, &everywhere, &now, row, NULL) &&
               (a->what == STORE_COMMAND_RENAME ||
                !(row->flags & SESSION_ARCHIVED) == (a->what != STORE_COMMAND_ARCHIVE));
    }
    arena_fini(&arena);
    store_close(st);
    return done;
}

/* NULL if out of memory. */
static const char *agent_description(const struct agent_change *a, bool kept, struct arena *arena)
{
    switch (a->what) {
    case STORE_COMMAND_RENAME: return arena_format(arena, "renamed to %.*s", SLICE_ARG(a->title));
    case STORE_COMMAND_ARCHIVE: return "archived";
    case STORE_COMMAND_UNARCHIVE: return "unarchived";
    default: return kept ? "deleted; a copy is in the trash" : "deleted for good";
    }
}

static enum err_code run_and_note(const struct store_env *env, const struct agent_change *a,
                                  struct trash_list *kept, struct change *c,
                                  struct agent_changed *out, struct err *e)
{
    enum err_code rc = keeps_copy(a) ? keep_copy(env, a, kept, e) : ERR_OK;
    bool done;

    if (!rc && keeps_copy(a) && !kept->n)
        rc =
            err_set(e, ERR_IO, a->ref->path.p, "delete: there is no file to copy; nothing was run");
    if (rc)
        return rc;
    rc = session_change_run_command(a, e);
    done = (!rc || a->what == STORE_COMMAND_DELETE) && is_done(env, a);
    if (!rc && !done)
        rc = err_set(e, ERR_IO, a->ref->path.p, "%s: %s reported no error, but nothing changed",
                     agent_change_name(a->what), a->argv[0]);
    if (!done) {
        /* If the copies are still needed, they stay, and the text mentions them. */
        bool needed = false;

        if (!kept->n)
            return rc;
        if (trash_forget(kept, &needed, NULL) || needed)
            err_wrap(e, rc, "a copy of the session is in the trash");
        return rc;
    }

    /* c has the session as it was before the command. */
    struct change_log *log = NULL;
    rc = change_log_open(env, &log, e);

    c->text = agent_description(a, kept->n > 0, &c->arena);
    c->command = arena_copy_text(&c->arena, a->line);
    if (!rc && (!c->text || !c->command))
        rc = err_nomem(e);
    for (size_t k = 0; kept->n && k < kept->item->parts && !rc; k++) {
        const struct step move = { .kind = STEP_MOVE,
                                   .path = kept->item->from[k],
                                   .to = kept->item->part[k] };

        rc = change_add(c, &move, e);
    }
    if (!rc)
        rc = change_note(log, c, e);
    change_log_close(log);

    if (!rc) {
        *out = (struct agent_changed){ .bytes = kept->n ? kept->item->bytes : 0 };
        snprintf(out->id, sizeof out->id, "%s", c->id);
        snprintf(out->trash_id, sizeof out->trash_id, "%s", kept->n ? kept->item->trash_id : "");
    }
    return rc ? err_wrap(e, rc, "the agent's command succeeded, but it was not recorded") : ERR_OK;
}

enum err_code agent_change_run(const struct store_env *env, const struct agent_change *a,
                               struct agent_changed *out, struct err *e)
{
    CLEANUP(trash_list_fini) struct trash_list kept = { 0 };
    CLEANUP(change_free_at) struct change *c = change_new(agent_change_name(a->what));

    const bool unknown_is_fine = a->what != STORE_COMMAND_DELETE || a->unsure;
    struct live live;

    NEED(c);
    TRY(live_check(&a->ref, 1, &live, e));
    if (live.state != LIVE_QUIET && !(live.state == LIVE_UNKNOWN && unknown_is_fine))
        return err_set(e, ERR_LOCKED, a->ref->path.p, "%s: an agent may be writing to it (%s)",
                       agent_change_name(a->what), live.why ? live.why : "it is registered");
    TRY(origin_add_session(c, a->ref, e));
    return run_and_note(env, a, &kept, c, out, e);
}
