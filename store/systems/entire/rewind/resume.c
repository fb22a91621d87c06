#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/json/json.h"
#include "store/api/session.h"
#include "store/fs/disk.h"
#include "store/rewind/plan/rewind.h"
#include "store/systems/common/config_dir.h"
#include "store/systems/entire/entire.h"
#include "store/systems/entire/read/conversation.h"

/* Rewinding, resuming, restoring and forking the conversation. It belongs to the agent, so the system of Claude
 * Code does the work, with the transcript on this machine. */

/* Finds the last row with an id, at which the conversation ended when the checkpoint was made. */
static bool last_id(struct slice text, struct arena *a, struct slice *id)
{
    while (text.n) {
        if (text.p[text.n - 1] == '\n')
            text.n--;
        const char *nl = text.n ? memrchr(text.p, '\n', text.n) : NULL;
        size_t at = nl ? (size_t)(nl + 1 - text.p) : 0;

        if (json_get_text((struct slice){ text.p + at, text.n - at }, "uuid", a, id) && id->n) {
            *id = arena_copy(a, *id);
            return id->p != NULL;
        }
        text.n = at;
    }
    return false;
}

/* Counts the messages up to the row with this id, and those after it. */
static enum err_code count_messages(const struct store *st, const struct session_ref *lent,
                                    struct slice id, struct rewind_conversation *conversation,
                                    struct err *e)
{
    struct transcript *t;
    struct id128 at = id128_of(id);
    bool behind = false;
    enum err_code rc = claude_ops.load(st, lent, NULL, &t, e);

    if (rc)
        return rc;
    for (size_t i = 0; i < t->n; i++) {
        bool speaks = t->message[i].kind == MESSAGE_USER || t->message[i].kind == MESSAGE_ASSISTANT;

        conversation->kept += speaks && !behind;
        conversation->dropped += speaks && behind;
        behind = behind || id128_eq(t->message[i].id, at);
    }
    transcript_free(t);
    return ERR_OK;
}

static enum err_code resume_after(const struct store *st, const struct session_ref *ref,
                                  struct entire_conversation *live, struct slice id,
                                  struct rewind_plan *plan, struct err *e)
{
    struct session_ref lent = entire_conversation_claude_ref(live, ref);
    struct rewind_conversation conversation = { .how = CONVERSATION_RESUME_AT };
    enum err_code rc = count_messages(st, &lent, id, &conversation, e);

    if (rc)
        return rc;
    if (conversation.dropped == 0) {
        conversation.how = CONVERSATION_NONE;
        plan->conversation = conversation;
        return ERR_OK;
    }
    conversation.change = change_new("rewind");
    rc = conversation.change ? claude_ops.resume_at(st, &lent, id, conversation.change, e)
                             : err_nomem(e);
    if (rc)
        rewind_conversation_fini(&conversation);
    else
        plan->conversation = conversation;
    return rc;
}

/* Opens the transcript with which the agent would continue. */
static enum err_code open_here(const struct store *st, const struct session_ref *ref,
                               const char *doing, struct entire_conversation *out, struct err *e)
{
    enum err_code rc = entire_conversation_open(st, ref, out, e);

    if (!rc && (out->from != CONVERSATION_LIVE || !out->claude))
        rc = err_set(e, ERR_UNSUPPORTED, ref->path.p,
                     out->claude ? "%s: the conversation is not on this machine (use "
                                   "reprise retrieve)"
                                 : "%s: unknown format of this agent's conversations",
                     doing);
    return rc;
}

enum err_code entire_plan_conversation(const struct store *st, const struct session_ref *ref,
                                       struct slice point, struct rewind_plan *plan, struct err *e)
{
    struct view v;
    const struct point *p;
    struct entire_conversation then = { .file.fd = -1 }, live = { .file.fd = -1 };
    struct slice id;
    enum err_code rc = view_open(st, ref, &v, e);

    if (rc)
        return rc;
    rc = view_point(&v, point, &p, e);
    if (!rc)
        rc = entire_conversation_open_at(v.repo, p, &then, e);
    if (!rc)
        rc = open_here(st, ref, "rewind", &live, e);
    if (!rc && !last_id(buf_slice(&then.bytes), &plan->arena, &id))
        rc = err_set(e, ERR_NOT_FOUND, ref->path.p,
                     "rewind: no row of the checkpoint's transcript has an id");
    if (!rc) {
        plan->point = arena_copy(&plan->arena, p->id).p;
        plan->point_ms = p->time_ms;
        rc = plan->point ? resume_after(st, ref, &live, id, plan, e) : err_nomem(e);
    }
    entire_conversation_close(&then);
    entire_conversation_close(&live);
    view_close(&v);
    return rc;
}

/* message: the id of a message, or of a checkpoint. */
enum err_code entire_resume_at(const struct store *st, const struct session_ref *ref,
                               struct slice message, struct change *c, struct err *e)
{
    struct view v;
    const struct point *p;
    struct entire_conversation then = { .file.fd = -1 }, live = { .file.fd = -1 };
    enum err_code rc = view_open(st, ref, &v, e);

    if (rc)
        return rc;
    rc = open_here(st, ref, "resume-at", &live, e);
    if (!rc && message.n && view_point(&v, message, &p, NULL) == ERR_OK) {
        rc = entire_conversation_open_at(v.repo, p, &then, e);
        if (!rc && !entire_conversation_task_end(v.repo, p, &c->arena, &message) &&
            !last_id(buf_slice(&then.bytes), &c->arena, &message))
            rc = err_set(e, ERR_NOT_FOUND, ref->id.p,
                         "resume-at: no row of the checkpoint's transcript has an id");
    }
    if (!rc) {
        struct session_ref lent = entire_conversation_claude_ref(&live, ref);

        rc = claude_ops.resume_at(st, &lent, message, c, e);
    }
    entire_conversation_close(&then);
    entire_conversation_close(&live);
    view_close(&v);
    return rc;
}

/* The present work tree of the session, wherever the rows of its transcript were written. */
static enum err_code here(const struct store *st, const struct session_ref *ref,
                          struct restore *out, struct err *e)
{
    struct session_row *row = session_row_new();
    struct stat sb;
    enum err_code rc =
        row ? entire_describe(st, &(struct scope){ .all = true }, ref, row, e) : err_nomem(e);

    if (!rc && row->cwd.n && stat(row->cwd.p, &sb) == 0 && S_ISDIR(sb.st_mode)) {
        out->command_cwd = arena_copy(&out->arena, row->cwd);
        if (!out->command_cwd.p)
            rc = err_nomem(e);
    }
    session_row_free(row);
    return rc;
}

/* at: empty, a message or a checkpoint. */
enum err_code entire_restore(const struct store *st, const struct session_ref *ref, struct slice at,
                             struct restore *out, struct err *e)
{
    struct view v;
    struct entire_conversation conversation = { .file.fd = -1 };
    enum err_code rc = view_open(st, ref, &v, e);

    if (rc)
        return rc;
    rc = entire_conversation_open_source(&v, ref, &at, &v.arena, &conversation, e);
    if (!rc) {
        struct session_ref lent = entire_conversation_claude_ref(&conversation, ref);

        rc = conversation.claude ? claude_ops.restore(st, &lent, at, out, e)
                                 : err_set(e, ERR_UNSUPPORTED, ref->path.p,
                                           "restore: unknown format of this agent's conversations");
    }
    rc = entire_conversation_error(&conversation, ref, rc, e);
    entire_conversation_close(&conversation);
    view_close(&v);
    if (!rc && (rc = here(st, ref, out, e)))
        restore_fini(out);
    return rc;
}

/* Entire itself cannot fork. A copy of a conversation is a session of Claude Code with new ids, in
 * the folder of the work tree. No state, ref or checkpoint is made for Entire; it makes its own
 * when the agent starts to work there. */

struct forking {
    struct view view;
    struct entire_conversation conversation;
    struct fork_request req;
    struct store *claude;
    struct err *e;
};

/* Finds the folder in which the agent looks for sessions of this work tree, and makes it if it is missing. */
static enum err_code name_folder(struct forking *f, const char *config)
{
    struct arena *a = &f->view.arena;
    const char *projects = arena_format(a, "%s/projects", config);
    const char *dir = f->view.root ? f->view.root : f->view.store->common;
    const char *copy =
        projects ? entire_conversation_claude_path(projects, dir, SLICE("x"), a) : NULL;

    if (!copy)
        return err_nomem(f->e);
    struct slice folder =
        arena_copy(a, (struct slice){ copy, (size_t)(strrchr(copy, '/') - copy) });

    f->req.folder = folder.p;
    return folder.p ? disk_private_dir(folder.p, f->e) : err_nomem(f->e);
}

static enum err_code open_claude(struct forking *f)
{
    const struct store_env *env = f->view.store->base.env;
    char *config;
    enum err_code rc = config_dir_default(env, &config, f->e);

    if (rc)
        return rc;
    rc = name_folder(f, config);
    if (!rc)
        rc = claude_ops.open(env, config, &f->claude, f->e);
    free(config);
    return rc;
}

static enum err_code fork_claude_session(struct forking *f, const struct session_ref *ref,
                                         struct change *c, struct fork_result *out)
{
    struct session_ref lent = entire_conversation_claude_ref(&f->conversation, ref);

    lent.store = f->claude;
    enum err_code rc = claude_ops.fork(f->claude, &lent, &f->req, c, out, f->e);

    if (!rc)
        out->system = claude_ops.name;
    return rc;
}

enum err_code entire_fork(const struct store *st, const struct session_ref *ref,
                          const struct fork_request *req, struct change *c, struct fork_result *out,
                          struct err *e)
{
    struct forking f = { .conversation = { .file.fd = -1 }, .req = *req, .e = e };
    enum err_code rc = view_open(st, ref, &f.view, e);

    if (rc)
        return rc;
    rc =
        entire_conversation_open_source(&f.view, ref, &f.req.at, &f.view.arena, &f.conversation, e);
    if (!rc && !(f.conversation.claude &&
                 entire_conversation_may_be_claude(entire_conversation_agent(f.view.session))))
        rc = err_set(e, ERR_UNSUPPORTED, ref->id.p,
                     "fork: only Claude Code conversations can be forked; this one is of %s",
                     entire_conversation_agent(f.view.session).n
                         ? entire_conversation_agent(f.view.session).p
                         : "an unknown agent");
    if (!rc)
        rc = open_claude(&f);
    if (!rc)
        rc = fork_claude_session(&f, ref, c, out);
    rc = entire_conversation_error(&f.conversation, ref, rc, e);
    store_close(f.claude);
    entire_conversation_close(&f.conversation);
    view_close(&f.view);
    return rc;
}
