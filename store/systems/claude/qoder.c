#include <stdlib.h>

#include "store/api/agent_hooks.h"
#include "store/systems/claude/chain/log.h"
#include "store/systems/claude/claude.h"
#include "store/systems/common/config_dir.h"

/* The sessions of Qoder CLI (docs/formats/qoder.md): its transcripts and its file history have the form of Claude Code's,
 * below ~/.qoder. It adds the active-leaf row (chain/leaf.c), and its results do not contain what was written
 * (rewind/call_input.c). Only read: no change that it would accept has been tried with the program. */

static const char *qoder_variable(const struct store_env *env, const char *name)
{
    const char *value = env_variable(env, name);

    return value && *value ? value : NULL;
}

/* $QODER_CONFIG_DIR, or $QODER_CONFIG_DIR_NAME (.qoder without it) below $QODER_CLI_HOME or the home directory. */
static char *qoder_usual_path(const struct store_env *env)
{
    const char *whole = qoder_variable(env, "QODER_CONFIG_DIR"),
               *name = qoder_variable(env, "QODER_CONFIG_DIR_NAME"),
               *home = qoder_variable(env, "QODER_CLI_HOME");

    if (whole)
        return config_dir_absolute(env, whole);
    if (!home)
        home = env->home;
    return home ? config_dir_join(home, name ? name : ".qoder") : NULL;
}

static const struct agents_profile qoder_agents = {
    .program = (const char *const[]){ "qodercli", "/@qoder-ai/qodercli/", NULL },
    .forks = "--fork-session",
    .config_variable = "QODER_CONFIG_DIR",
    .config_at_home = ".qoder",
};

static enum err_code qoder_open(const struct store_env *env, const char *path, struct store **out,
                                struct err *e)
{
    struct claude *c = NULL;

    if (!path && !env->home && !qoder_variable(env, "QODER_CONFIG_DIR"))
        return err_set(e, ERR_NOT_FOUND, "", "find the configuration: HOME is not set");
    TRY(claude_open_at(&qoder_ops, &qoder_agents, env,
                       path ? config_dir_absolute(env, path) : qoder_usual_path(env), &c, e));
    *out = &c->base;
    return ERR_OK;
}

static enum err_code qoder_agent_variable(const struct store *st, const char **name,
                                          const char **value, struct err *e)
{
    (void)e;
    config_dir_variable(st, qoder_usual_path(st->env), "QODER_CONFIG_DIR", name, value);
    return ERR_OK;
}

static char *qoder_hooks_path(const struct store_env *env)
{
    return config_dir_file(qoder_usual_path(env), "settings.json");
}

static const struct agent_hooks qoder_hooks = {
    .form = HOOK_NESTED,
    .path = qoder_hooks_path,
    .documented = true,
    .event = { [HOOK_PROMPT] = "UserPromptSubmit", [HOOK_END] = "Stop" },
    .timeout = 5,
    .off_switch = "disableAllHooks",
    .session = "session_id",
    .prompt = "prompt",
    .cwd = "cwd",
    .subagent = "agent_id",
};

const struct store_ops qoder_ops = {
    .name = "qoder",
    .label = "Qoder CLI",
    .resume_command = "qodercli --resume {id}",
    .fork_command = "qodercli --resume {id} --fork-session",
    .folders = "projects",
    .row_keys = &claude_index_keys,
    .hooks = &qoder_hooks,
    .open = qoder_open,
    CLAUDE_READS,
    .agent_variable = qoder_agent_variable,
    .files = claude_parts,
    .log_rules = &claude_log_rules,
    .why = {
        [ABILITY_RENAME] = "Qoder names its sessions itself: use /rename in it",
        [ABILITY_ARCHIVE] = "Qoder sessions have no archive",
        [ABILITY_DELETE] = "delete it in Qoder: qodercli --delete-session",
        [ABILITY_TAG] = "Qoder tags its sessions itself",
        [ABILITY_FORK] = "Qoder forks itself: qodercli --resume ID --fork-session",
        [ABILITY_NAME_FORK] = "Qoder forks itself: qodercli --resume ID --fork-session",
        [ABILITY_RESUME_AT] = "Qoder continues at its active leaf: use its own /rewind",
        [ABILITY_TOMBSTONE] = "a Qoder transcript is the only copy of its messages",
        [ABILITY_MOVE] = "whether Qoder follows a moved directory is not known: resume it by its id",
        [ABILITY_REAPPEND] = "Qoder writes its metadata again itself",
        [ABILITY_RETRIEVE] = "Qoder's transcripts are already where it looks for them",
        [ABILITY_SET] = "Qoder sessions have no settings that other programs may write",
    },
};
