#include "store/systems/cline/cline.h"

#include <string.h>

#include "store/systems/common/config_dir.h"
#include "store/systems/common/jsonl.h"

static const char variable[] = "CLINE_DATA_DIR", suffix[] = ".messages.json";
enum { SUFFIX = sizeof suffix - 1, ID_MOST = 200 };

static const char *sessions_variable(const struct store_env *env)
{
    const char *sessions = env_value(env->environment, "CLINE_SESSION_DATA_DIR");

    return sessions && sessions[0] ? sessions : NULL;
}

/* NULL: not known, or out of memory. */
static char *default_path(const struct store_env *env)
{
    const char *data = env_value(env->environment, variable);
    const char *dir = env_value(env->environment, "CLINE_DIR");

    if (sessions_variable(env))
        return config_dir_absolute(env, sessions_variable(env));
    if (data && data[0])
        return config_dir_absolute(env, data);
    if (dir && dir[0] == '/')
        return config_dir_join(dir, "data");
    return env->home ? config_dir_join(env->home, ".cline/data") : NULL;
}

static bool is_id(struct slice id)
{
    return slice_is_of(id, JSONL_ID_CHARACTERS ".") && id.n > 0 && id.n <= ID_MOST &&
           id.p[0] != '-' && id.p[0] != '.';
}

static const struct session_dirs dirs = { .log = suffix, .named = true };
static const struct jsonl_format format = { .keys = &cline_keys,
                                            .dirs = &dirs,
                                            .is_id = is_id,
                                            .id_name = "a Cline session id",
                                            .variable = variable,
                                            .usual = default_path };

static enum err_code cline_open(const struct store_env *env, const char *path, struct store **out,
                                struct err *e)
{
    const char *inside = path || !sessions_variable(env) ? "sessions" : "";

    return session_dirs_open(&cline_ops, &format, env, path, inside, out, e);
}

/* ---- sub-agents: the other documents in the directory of a session ---- */

static bool name_document(const char *name, struct slice *id)
{
    size_t n = strlen(name);

    *id = (struct slice){ name, n > SUFFIX ? n - SUFFIX : 0 };
    return n > SUFFIX && strcmp(name + n - SUFFIX, suffix) == 0 && is_id(*id);
}

enum err_code cline_subagents(const struct store *st, const struct session_ref *ref,
                              struct arena *a, struct slice **ids, size_t *n, struct err *e)
{
    struct slice *name = NULL;
    size_t names = 0;
    enum err_code rc = session_dirs_names(ref, "", name_document, a, &name, &names, e);

    (void)st;
    *ids = name;
    *n = 0;
    for (size_t i = 0; i < names && !rc; i++) {
        const struct slice id = { name[i].p, name[i].n - SUFFIX };

        if (!slice_eq(id, ref->id))
            name[(*n)++] = id;
    }
    return rc;
}

enum err_code cline_subagent(const struct store *st, const struct session_ref *ref,
                             struct slice agent, struct arena *a, struct session_ref *out,
                             struct err *e)
{
    struct slice dir = session_dirs_of(ref);

    if (!is_id(agent) || slice_eq(agent, ref->id))
        return err_set(e, ERR_NOT_FOUND, ref->path.p, "no such sub-agent");
    return jsonl_ref_at(st,
                        arena_format(a, "%.*s/%.*s%s", SLICE_ARG(dir), SLICE_ARG(agent), suffix),
                        agent, a, out, e);
}

static const char *cline_cannot(unsigned ability)
{
    switch (ability) {
    case CAN_RENAME: return "Cline keeps its titles in a database, too: cline history update";
    case CAN_DELETE: return "Cline keeps its sessions in a database, too: cline history delete";
    case CAN_ARCHIVE: return "Cline sessions cannot be archived";
    case CAN_TAG: return "Cline sessions have no tags";
    case CAN_FORK:
    case CAN_NAME_FORK: return "Cline forks a session only on its screen: /fork";
    case CAN_RESUME_AT: return "Cline continues after the last message: use its own checkpoints";
    case CAN_TOMBSTONE: return "a Cline document is the only copy of its messages";
    case CAN_REAPPEND: return "Cline keeps its metadata beside the messages";
    case CAN_RETRIEVE: return "Cline's sessions are already where it looks for them";
    case CAN_HAVE_BRANCHES: return "Cline sessions have no branches";
    case CAN_SET: return "Cline sessions have no settings that other programs may write";
    default: return NULL;
    }
}

const struct store_ops cline_ops = {
    .name = "cline",
    .label = "Cline",
    .folders = "sessions",
    .resume_command = "cline --id {id}",
    .change_command = { [STORE_COMMAND_RENAME] =
                            "cline history update --session-id {id} --title {title}",
                        [STORE_COMMAND_DELETE] = "cline history delete --session-id {id}" },
    .deleted_parts = session_dirs_parts,
    .open = cline_open,
    .close = session_dirs_close,
    .enumerate = session_dirs_enumerate,
    .describe = cline_describe,
    .find = session_dirs_find,
    .at_path = session_dirs_at_path,
    .tail = cline_tail,
    .load = cline_load,
    .blocks = cline_blocks,
    .messages = block_messages,
    .subagents = cline_subagents,
    .subagent = cline_subagent,
    .describe_subagents = cline_describe_subagents,
    .agent_variable = jsonl_agent_variable,
    .usage = cline_usage,
    .edits = cline_edits,
    .checkpoints = cline_checkpoints,
    .plan = cline_plan,
    .unsupported = cline_cannot,
};
