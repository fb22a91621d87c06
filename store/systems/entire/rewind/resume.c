#include <stdlib.h>
#include <string.h>

#include "lite/json/json.h"
#include "store/api/session.h"
#include "store/fs/disk.h"
#include "store/fs/path.h"
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

/* Opens the transcript with which the agent would continue. */
static enum err_code open_here(const struct store *st, const struct session_ref *ref,
                               const char *doing, struct entire_conversation *out, struct err *e)
{
    TRY(entire_conversation_open(st, ref, out, e));
    if (out->from == CONVERSATION_LIVE && out->claude)
        return ERR_OK;
    return err_set(e, ERR_UNSUPPORTED, ref->path.p,
                   out->claude ? "%s: the conversation is not on this machine (use "
                                 "reprise retrieve)"
                               : "%s: unknown format of this agent's conversations",
                   doing);
}

enum err_code entire_plan_conversation(const struct store *st, const struct session_ref *ref,
                                       struct slice point, struct rewind_plan *plan, struct err *e)
{
    struct transcript *t;

    CLEANUP(view_close) struct view v = { 0 };
    AUTO_CONVERSATION then = ENTIRE_CONVERSATION_NONE;
    AUTO_CONVERSATION live = ENTIRE_CONVERSATION_NONE;
    const struct point *p;
    struct slice id;

    TRY(view_open(st, ref, &v, e));
    TRY(view_point(&v, point, &p, e));
    TRY(entire_conversation_open_at(v.repo, p, &then, e));
    TRY(open_here(st, ref, "rewind", &live, e));
    if (!last_id(buf_slice(&then.bytes), &plan->arena, &id))
        return err_set(e, ERR_NOT_FOUND, ref->path.p,
                       "rewind: no row of the checkpoint's transcript has an id");
    NEED(plan->point = arena_copy(&plan->arena, p->id).p);
    plan->point_ms = p->time_ms;

    /* Plan to continue after this row, and count the messages up to it and after it. */
    struct session_ref lent = entire_conversation_claude_ref(&live, ref);

    CLEANUP(rewind_conversation_fini) struct rewind_conversation conversation = { .change = NULL };
    struct id128 at = id128_of(id);
    bool behind = false;

    TRY(claude_ops.load(st, &lent, NULL, &t, e));
    for (size_t i = 0; i < t->n; i++) {
        bool speaks = t->message[i].kind == MESSAGE_USER || t->message[i].kind == MESSAGE_ASSISTANT;

        conversation.kept += speaks && !behind;
        conversation.dropped += speaks && behind;
        behind = behind || id128_eq(t->message[i].id, at);
    }
    transcript_free(t);

    conversation.how = CONVERSATION_NONE;
    if (conversation.dropped) {
        conversation.how = CONVERSATION_RESUME_AT;
        NEED(conversation.change = change_new("rewind"));
        TRY(claude_ops.resume_at(st, &lent, id, conversation.change, e));
    }
    HAND_OVER(&plan->conversation, conversation);
    return ERR_OK;
}

/* message: the id of a message, or of a checkpoint. */
enum err_code entire_resume_at(const struct store *st, const struct session_ref *ref,
                               struct slice message, struct change *c, struct err *e)
{
    CLEANUP(view_close) struct view v = { 0 };
    AUTO_CONVERSATION then = ENTIRE_CONVERSATION_NONE;
    AUTO_CONVERSATION live = ENTIRE_CONVERSATION_NONE;
    const struct point *p;

    TRY(view_open(st, ref, &v, e));
    TRY(open_here(st, ref, "resume-at", &live, e));
    if (message.n && view_point(&v, message, &p, NULL) == ERR_OK) {
        TRY(entire_conversation_open_at(v.repo, p, &then, e));
        if (!entire_conversation_task_end(v.repo, p, &c->arena, &message) &&
            !last_id(buf_slice(&then.bytes), &c->arena, &message))
            return err_set(e, ERR_NOT_FOUND, ref->id.p,
                           "resume-at: no row of the checkpoint's transcript has an id");
    }
    struct session_ref lent = entire_conversation_claude_ref(&live, ref);

    return claude_ops.resume_at(st, &lent, message, c, e);
}

/* at: empty, a message or a checkpoint. */
enum err_code entire_restore(const struct store *st, const struct session_ref *ref, struct slice at,
                             struct restore *out, struct err *e)
{
    CLEANUP(view_close) struct view v = { 0 };
    AUTO_CONVERSATION conversation = ENTIRE_CONVERSATION_NONE;
    CLEANUP(session_row_free_at) struct session_row *row = session_row_new();
    CLEANUP(restore_fini) struct restore made = { 0 };

    NEED(row);
    TRY(view_open(st, ref, &v, e));
    TRY(entire_conversation_open_source(&v, ref, &at, &v.arena, &conversation, e));
    if (!conversation.claude)
        return err_set(e, ERR_UNSUPPORTED, ref->path.p,
                       "restore: unknown format of this agent's conversations");
    struct session_ref lent = entire_conversation_claude_ref(&conversation, ref);
    enum err_code rc = claude_ops.restore(st, &lent, at, &made, e);

    if (rc)
        return entire_conversation_error(&conversation, ref, rc, e);

    /* The agent continues in the present work tree of the session, wherever the rows of its transcript were written. */
    TRY(entire_describe(st, &(struct scope){ .all = true }, ref, row, e));
    if (row->cwd.n && path_is_dir(row->cwd.p)) {
        made.command_cwd = arena_copy(&made.arena, row->cwd);
        NEED(made.command_cwd.p);
    }
    HAND_OVER(out, made);
    return ERR_OK;
}

/* Entire itself cannot fork. A copy of a conversation is a session of Claude Code with new ids, in
 * the folder of the work tree. No state, ref or checkpoint is made for Entire; it makes its own
 * when the agent starts to work there. */

DEFINE_CLEANUP(struct store, store_close);

enum err_code entire_fork(const struct store *st, const struct session_ref *ref,
                          const struct fork_request *req, struct change *c, struct fork_result *out,
                          struct err *e)
{
    const struct store_env *env = entire_of(st)->base.env;
    CLEANUP(view_close) struct view v = { 0 };
    AUTO_CONVERSATION conversation = ENTIRE_CONVERSATION_NONE;
    CLEANUP(store_close_at) struct store *claude = NULL;
    AUTO_FREE char *config = NULL;
    struct fork_request forked = *req;
    const char *projects, *copy;

    TRY(view_open(st, ref, &v, e));
    TRY(entire_conversation_open_source(&v, ref, &forked.at, &v.arena, &conversation, e));
    struct slice agent = entire_conversation_agent(v.session);

    if (!conversation.claude || !entire_conversation_may_be_claude(agent))
        return err_set(e, ERR_UNSUPPORTED, ref->id.p,
                       "fork: only Claude Code conversations can be forked; this one is of %s",
                       agent.n ? agent.p : "an unknown agent");

    /* Make the folder in which the agent looks for sessions of this work tree, if it is missing. */
    TRY(config_dir_default(env, &config, e));
    NEED(projects = arena_format(&v.arena, "%s/projects", config));
    NEED(copy = entire_conversation_claude_path(projects, v.root ? v.root : v.store->common,
                                                SLICE("x"), &v.arena));
    NEED(forked.folder =
             arena_copy(&v.arena, (struct slice){ copy, (size_t)(strrchr(copy, '/') - copy) }).p);
    TRY(disk_private_dir(forked.folder, e));

    TRY(claude_ops.open(env, config, &claude, e));
    struct session_ref lent = entire_conversation_claude_ref(&conversation, ref);

    lent.store = claude;
    enum err_code rc = claude_ops.fork(claude, &lent, &forked, c, out, e);

    if (rc)
        return entire_conversation_error(&conversation, ref, rc, e);
    out->system = claude_ops.name;
    return ERR_OK;
}
