#include <stdio.h>

#include "store/maintenance/agent_change.h"
#include "tui/config/resume_command.h"
#include "tui/jobs/jobs_internal.h"

/* Changes that only the agent of a session can make. The command is shown before it runs: the first request returns it,
 * the second one, which the person has confirmed, names it. */

static enum store_command command_of(enum change_request request)
{
    switch (request) {
    case CHANGE_RENAME: return STORE_COMMAND_RENAME;
    case CHANGE_ARCHIVE: return STORE_COMMAND_ARCHIVE;
    case CHANGE_UNARCHIVE: return STORE_COMMAND_UNARCHIVE;
    case CHANGE_TRASH: return STORE_COMMAND_DELETE;
    default: return STORE_COMMANDS;
    }
}

bool jobs_is_by_agent(const struct effect *q)
{
    enum store_command what = command_of(q->request);

    return what != STORE_COMMANDS && q->refs && q->refs->n == 1 &&
           store_agent_abilities(q->refs->ref[0].store->ops) & agent_change_ability(what);
}

static enum err_code request_confirmation(const struct agent_change *change,
                                          struct change_result *out, struct err *e)
{
    out->needs_confirmation = true;
    snprintf(out->where, sizeof out->where, "%s", agent_change_consequence(change));
    return buf_add(&out->text, slice_of(change->line)) ? err_nomem(e) : ERR_OK;
}

/* If the session changed its directory meanwhile, the command is another one. */
static enum err_code run(const struct job_context *d, const struct effect *q,
                         const struct agent_change *change, struct change_result *out,
                         struct err *e)
{
    struct store_env then = *d->env;
    struct agent_changed done;

    then.now_ms = q->at_ms;
    if (!q->names || q->names->n != 1 || !slice_eq(q->names->name[0], slice_of(change->line)))
        return err_set(e, ERR_STALE, change->ref->path.p, "the command is another one now: %s",
                       change->line);
    enum err_code rc = agent_change_run(&then, change, &done, e);

    if (!rc &&
        (!name_list_add(&out->sessions, change->ref->id) || buf_add(&out->text, change->title)))
        rc = err_nomem(e);
    if (!rc)
        out->bytes = done.bytes;
    return rc;
}

enum err_code jobs_change_by_agent(const struct job_context *d, const struct effect *q,
                                   struct change_result *out, struct err *e)
{
    const struct resume_world w = { d->config, d->env->home, d->path };
    struct arena a = { 0 };
    struct resume command;
    struct agent_change change = { .what = command_of(q->request),
                                   .ref = &q->refs->ref[0],
                                   .title = buf_slice(&q->text) };
    enum err_code rc = d->env->state_dir && d->env->data_dir
                           ? ERR_OK
                           : err_set(e, ERR_NOT_FOUND, "", "keep a record: HOME is not set");

    out->by_agent = true;
    if (!rc)
        rc = resume_make_change(&w, &change, &a, &command, e);
    if (!rc)
        rc = q->confirmed ? run(d, q, &change, out, e) : request_confirmation(&change, out, e);
    arena_fini(&a);
    return rc;
}
