#include "store/api/fork.h"

#include <stdlib.h>
#include <string.h>

#include "store/fs/disk.h"
#include "store/systems/common/configdir.h"
#include "store/systems/entire/read/conversation.h"
#include "store/systems/entire/read/view.h"

/* Entire itself forks nothing. A copy of a conversation is one of its agent's, which is where it goes: a session of
 * Claude Code with ids of its own, in the folder of the work tree. Entire gets no state, no ref and no checkpoint of it;
 * it makes its own when the agent begins to work there. */

struct forking {
    struct view view;
    struct entire_conversation conversation;
    struct fork_request req;
    struct store *claude;
    struct err *e;
};

/* The folder where the agent looks for sessions of this work tree; made when it is not there. */
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
    enum err_code rc = configdir_default(env, &config, f->e);

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
    struct forking f = { .conversation = { .fd = -1 }, .req = *req, .e = e };
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
                         : "an agent that is not named");
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
