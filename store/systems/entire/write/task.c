#include "store/systems/entire/write/temporary.h"

#include <fcntl.h>
#include <string.h>

#include "lite/io/file.h"
#include "lite/json/json.h"
#include "store/systems/entire/names.h"
#include "store/systems/entire/read/conversation.h"

enum { TRANSCRIPT_MAX = 1 << 30, ID_MAX = 200 };

/* ---- the row with the result ---- */

static bool has_result(struct slice content, struct slice tool, struct arena *a)
{
    struct json_iter it;
    struct slice key, part, id;

    if (json_type(content) != JSON_ARRAY || !json_iter_open(&it, content))
        return false;
    while (json_iter_next(&it, &key, &part))
        if (json_get_is(part, "type", "tool_result") &&
            json_get_text(part, "tool_use_id", a, &id) && slice_eq(id, tool))
            return true;
    return false;
}

/* The first row that has the result of the tool, as Entire looks for it. */
static bool find_row(struct slice transcript, struct slice tool, struct arena *a,
                     struct slice *uuid)
{
    struct slice line, content, found;
    bool torn;

    *uuid = SLICE("");
    while (slice_line(&transcript, &line, &torn))
        if (json_get_is(line, "type", "user") && json_at(line, "message.content", &content) &&
            has_result(content, tool, a) && json_get_text(line, "uuid", a, &found)) {
            *uuid = arena_copy(a, found);
            return uuid->p != NULL;
        }
    return true;
}

/* ---- the transcript of the sub-agent ---- */

/* Since version 2.1 the client writes it below the session, older versions beside it. */
static const char *agent_path(const struct session_ref *live, struct slice agent, struct arena *a)
{
    const char *slash = strrchr(live->path.p, '/');
    struct session_ref found;

    if (claude_ops.subagent(live->store, live, agent, a, &found, NULL) == ERR_OK)
        return found.path.p;
    return arena_format(a, "%.*s/agent-%.*s.jsonl", (int)(slash - live->path.p), live->path.p,
                        SLICE_ARG(agent));
}

static enum err_code read_agent(const struct session_ref *live, struct collected_task *out,
                                struct arena *a, struct err *e)
{
    const char *path = agent_path(live, out->task.agent, a);
    enum err_code rc =
        path ? file_read_all(AT_FDCWD, path, 0, TRANSCRIPT_MAX, &out->transcript, e) : err_nomem(e);

    if (rc == ERR_NOT_FOUND)
        return ERR_OK; /* the checkpoint is made without it */
    out->task.transcript = buf_slice(&out->transcript);
    return rc;
}

static enum err_code read_live(const struct session_ref *live, struct collected_task *out,
                               struct arena *a, struct err *e)
{
    struct buf session = { 0 };
    enum err_code rc = file_read_all(AT_FDCWD, live->path.p, 0, TRANSCRIPT_MAX, &session, e);

    if (!rc && !find_row(buf_slice(&session), out->task.tool_use, a, &out->task.row))
        rc = err_nomem(e);
    buf_fini(&session);
    if (!rc && out->task.agent.n)
        rc = read_agent(live, out, a, e);
    return rc;
}

enum err_code task_collect(const struct session_ref *ref, struct slice tool_use, struct slice agent,
                           struct arena *a, struct collected_task *out, struct err *e)
{
    struct session_ref live;

    *out = (struct collected_task){ .task = { tool_use, agent, .row = SLICE(""),
                                              .transcript = SLICE("") } };
    if (!entire_tool_id_ok(tool_use) || tool_use.n > ID_MAX ||
        (agent.n && (!entire_tool_id_ok(agent) || agent.n > ID_MAX)))
        return err_set(e, ERR_USAGE, "",
                       "checkpoint: ids of tools and agents have only letters, digits, _ and -");
    enum err_code rc = entire_tasks_live_ref(ref, a, &live) ? read_live(&live, out, a, e) : ERR_OK;

    if (rc)
        task_collected_fini(out);
    return rc;
}

void task_collected_fini(struct collected_task *t)
{
    buf_fini(&t->transcript);
}
