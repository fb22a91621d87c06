#include "store/systems/claude/claude.h"

#include "store/api/agent_hooks.h"
#include "store/systems/common/config_dir.h"

static char *claude_hooks_path(const struct store_env *env)
{
    char *dir = NULL;

    return config_dir_default(env, &dir, NULL) ? NULL : config_dir_file(dir, "settings.json");
}

/* Nothing runs when a person interrupts a turn; the next prompt then finds what it left. */
const struct agent_hooks claude_hooks = {
    .form = HOOK_NESTED,
    .path = claude_hooks_path,
    .event = { [HOOK_PROMPT] = "UserPromptSubmit", [HOOK_END] = "Stop" },
    .timeout = 5,
    .off_switch = "disableAllHooks",
    .session = "session_id",
    .prompt = "prompt",
    .cwd = "cwd",
    .turn = "prompt_id",
    .subagent = "agent_id",
};

/* The user's servers are not in settings.json. */
static char *claude_mcp_path(const struct store_env *env)
{
    const char *named = env_variable(env, "CLAUDE_CONFIG_DIR");
    char *dir = NULL;

    if (named && *named)
        return config_dir_default(env, &dir, NULL) ? NULL : config_dir_file(dir, ".claude.json");
    return env->home ? config_dir_join(env->home, ".claude.json") : NULL;
}

const struct agent_mcp claude_mcp = {
    .path = claude_mcp_path,
    .member = "mcpServers",
    .entry = "{>\"type\":\"stdio\",=\"command\":@,=\"args\":[\"mcp\"]<}",
    .of_agent = true,
    .by_skills = claude_hooks_path,
};
