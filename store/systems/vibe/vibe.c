#include "store/systems/vibe/vibe.h"

#include <string.h>

#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/systems/common/config_dir.h"
#include "store/systems/common/jsonl.h"
#include "store/systems/common/usage_rows.h"

enum { ID_DIGITS = 8, NAME_MOST = 200, META_MOST = 16 << 20 };

static enum err_code vibe_open(const struct store_env *env, const char *path, struct store **out,
                               struct err *e)
{
    return session_dirs_open(&vibe_ops, &vibe_format, env, path, "logs/session", out, e);
}

/* ---- the sessions ---- */

static bool name_id(const char *name, struct slice *id)
{
    size_t n = strlen(name);

    if (n <= ID_DIGITS || name[n - ID_DIGITS - 1] != '_')
        return false;
    *id = (struct slice){ name + n - ID_DIGITS, ID_DIGITS };
    return vibe_format.is_id(*id);
}

const struct session_dirs vibe_dirs = { .log = "/messages.jsonl", .name_id = name_id };

/* ---- sub-agents: their ids are the names of their directories ---- */

static bool is_agent_id(struct slice id)
{
    struct slice digits;

    for (size_t i = 0; i < id.n; i++)
        if (id.p[i] == '/' || (unsigned char)id.p[i] <= ' ' || id.p[i] == 0x7f)
            return false;
    return id.n > 0 && id.n <= NAME_MOST && id.p[0] != '.' && name_id(id.p, &digits);
}

static bool name_agent(const char *name, struct slice *id)
{
    *id = slice_of(name);
    return is_agent_id(*id);
}

static enum err_code vibe_subagents(const struct store *st, const struct session_ref *ref,
                                    struct arena *a, struct slice **ids, size_t *n, struct err *e)
{
    (void)st;
    return session_dirs_names(ref, "agents", name_agent, a, ids, n, e);
}

static enum err_code vibe_subagent(const struct store *st, const struct session_ref *ref,
                                   struct slice agent, struct arena *a, struct session_ref *out,
                                   struct err *e)
{
    struct slice parent = session_dirs_of(ref), id = arena_copy(a, agent);

    if (!id.p)
        return err_nomem(e);
    if (!is_agent_id(id))
        return err_set(e, ERR_NOT_FOUND, ref->path.p, "no such sub-agent");
    return jsonl_ref_at(
        st, arena_format(a, "%.*s/agents/%.*s%s", SLICE_ARG(parent), SLICE_ARG(id), vibe_dirs.log),
        id, a, out, e);
}

/* ---- tokens: the sums of a session, as one answer at its end ---- */

static enum err_code hand_over(const struct session_ref *ref, struct slice agent, usage_fn *fn,
                               void *arg, struct err *e)
{
    struct usage_record u = usage_record_empty();
    struct buf meta = { 0 };
    struct arena a = { 0 };
    struct slice all, stats, end, config;
    enum err_code rc = session_dirs_json(ref, "meta.json", META_MOST, &meta);

    all = buf_slice(&meta);
    if (!rc && all.n && json_get(all, "stats", &stats)) {
        u.input = usage_count(stats, "session_prompt_tokens");
        u.output = usage_count(stats, "session_completion_tokens");
        u.agent = agent;
        json_get_text(all, "session_id", &a, &u.answer);
        u.request = u.answer;
        if (json_get(all, "config", &config))
            json_get_text(config, "active_model", &a, &u.model);
        if (!json_get_text(all, "end_time", &a, &end) || !time_parse(end, &u.time_ms))
            u.time_ms = session_modified_ms(&ref->file);
        if (u.input || u.output)
            rc = a.failed ? ERR_NOMEM : fn(&u, arg, e);
    }
    buf_fini(&meta);
    arena_fini(&a);
    return rc == ERR_NOMEM ? err_nomem(e) : rc;
}

static enum err_code vibe_usage(const struct store *st, const struct session_ref *ref,
                                const atomic_bool *cancel, usage_fn *fn, void *arg, struct err *e)
{
    struct arena a = { 0 };
    struct session_ref agent;
    struct slice *ids = NULL;
    size_t n = 0;
    enum err_code rc = hand_over(ref, SLICE(""), fn, arg, e);

    if (!rc)
        rc = vibe_subagents(st, ref, &a, &ids, &n, e);
    for (size_t i = 0; i < n && !rc; i++)
        if (cancel && atomic_load_explicit(cancel, memory_order_relaxed))
            rc = err_set(e, ERR_CANCELLED, ref->path.p, "read token usage");
        else if (!vibe_subagent(st, ref, ids[i], &a, &agent, NULL))
            rc = hand_over(&agent, ids[i], fn, arg, e);
    arena_fini(&a);
    return rc;
}

static const char *vibe_cannot(unsigned ability)
{
    switch (ability) {
    case CAN_RENAME:
    case CAN_NAME_FORK: return "Vibe writes its titles itself: use /rename in it";
    case CAN_TAG: return "Vibe sessions have no tags";
    case CAN_ARCHIVE: return "Vibe sessions cannot be archived";
    case CAN_DELETE: return "delete it in Vibe, which may have it open";
    case CAN_FORK: return "Vibe forks sessions only on its own screen";
    case CAN_RESUME_AT: return "Vibe continues after the last message: use /rewind in it";
    case CAN_REWIND: return "Vibe keeps its copies of files only in memory";
    case CAN_TOMBSTONE: return "a Vibe log is the only copy of its messages";
    case CAN_REAPPEND: return "Vibe keeps its titles beside the logs";
    case CAN_RETRIEVE: return "Vibe's logs are already where it looks for them";
    case CAN_HAVE_BRANCHES: return "Vibe logs have no branches";
    case CAN_SET: return "Vibe sessions have no settings";
    default: return NULL;
    }
}

const struct store_ops vibe_ops = {
    .name = "vibe",
    .label = "Mistral Vibe",
    .folders = "logs/session",
    .resume_command = "vibe --resume {id}",
    .open = vibe_open,
    .close = session_dirs_close,
    .enumerate = session_dirs_enumerate,
    .describe = jsonl_describe,
    .find = session_dirs_find,
    .at_path = session_dirs_at_path,
    .tail = jsonl_tail,
    .load = jsonl_load,
    .blocks = vibe_blocks,
    .messages = block_messages,
    .subagents = vibe_subagents,
    .subagent = vibe_subagent,
    .agent_variable = jsonl_agent_variable,
    .usage = vibe_usage,
    .edits = vibe_edits,
    .unsupported = vibe_cannot,
};
