#include "store/systems/pi/pi.h"

#include <stdlib.h>
#include <string.h>

#include "store/log/log_damage.h"
#include "store/systems/common/config_dir.h"
#include "store/systems/common/edits/tool_edits.h"
#include "store/systems/common/lost_path.h"
#include "store/systems/common/row_table.h"

/* ---- open ---- */

char *pi_usual_path(const struct store_env *env)
{
    const char *sessions = env_variable(env, "PI_CODING_AGENT_SESSION_DIR");
    const char *agent = env_variable(env, "PI_CODING_AGENT_DIR");

    if (sessions)
        return config_dir_expand(env, sessions);
    char *dir = agent       ? config_dir_expand(env, agent)
                : env->home ? config_dir_join(env->home, ".pi/agent")
                            : NULL;
    char *path = dir && !config_dir_require(dir, NULL)
                     ? config_dir_of_settings(env, dir, "sessionDir")
                     : NULL;

    if (!path && dir)
        path = config_dir_join(dir, "sessions");
    free(dir);
    return path;
}

static enum err_code pi_open(const struct store_env *env, const char *path, struct store **out,
                             struct err *e)
{
    return jsonl_store_open(&pi_ops, &pi_format, env, path, "", out, e);
}

/* ---- the sessions ---- */

bool pi_name_id(const char *name, struct slice *id)
{
    const char *mark = strchr(name, '_');

    return mark && jsonl_id_of_name(mark + 1, pi_format.is_id, id);
}

/* "--", then the path without its first slash and with slashes and colons replaced, then "--". */
static struct slice pi_folder_of(struct slice directory, struct arena *a)
{
    size_t skip = directory.n && directory.p[0] == '/';
    char *name = arena_format(a, "--%.*s--", (int)(directory.n - skip), directory.p + skip);

    for (char *c = name; c && *c; c++)
        if (*c == '/' || *c == '\\' || *c == ':')
            *c = '-';
    return name ? slice_of(name) : (struct slice){ NULL, 0 };
}

static const char *const inside[] = { "", NULL };
const struct project_logs pi_logs = { .folder_of = pi_folder_of,
                                      .inside = inside,
                                      .name_id = pi_name_id };

static const struct log_sent pi_sent[] = {
    { "message", "message" },
    { NULL, NULL },
};
static const struct log_rules pi_log_rules = { .refused = log_refused_texts, .sent = pi_sent };

const struct store_ops pi_ops = {
    .name = "pi",
    .label = "pi",
    .row_keys = &pi_keys,
    .resume_command = "pi --session {path}",
    .hooks = &pi_hooks,
    .compose = &pi_compose,
    .files = jsonl_files,
    .open = pi_open,
    .close = jsonl_store_close,
    PROJECT_LOGS_OPS,
    .folder_of = project_logs_folder_of,
    .set_directory = project_logs_set_directory,
    .place = project_logs_place,
    .messages = jsonl_messages,
    .resume_at = pi_resume_at,
    .fork = pi_fork,
    .check = lost_path_check,
    .reconnect = lost_path_reconnect,
    .log_rules = &pi_log_rules,
    .usage = pi_usage,
    .checkpoints = pi_checkpoints,
    .plan = pi_plan,
    .edits = tool_edits_logged,
    .why = {
        [ABILITY_RENAME] = "pi names its sessions itself: use /name in it",
        [ABILITY_ARCHIVE] = "pi sessions cannot be archived",
        [ABILITY_DELETE] = "pi deletes its sessions itself: ctrl+d in its list",
        [ABILITY_TAG] = "pi sessions have no tags; pi labels messages instead",
        [ABILITY_TOMBSTONE] = "a pi log is the only copy of its messages",
        [ABILITY_REAPPEND] = "pi reads the whole log for a name",
        [ABILITY_RETRIEVE] = "pi's logs are already where it looks for them",
        [ABILITY_HAVE_AGENTS] = "pi has no sub-agents",
        [ABILITY_HAVE_BRANCHES] = "branches of pi sessions are not read",
        [ABILITY_SET] = "pi sessions have no settings",
    },
};
