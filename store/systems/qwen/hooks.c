#include "store/systems/qwen/qwen.h"

#include "store/api/agent_hooks.h"
#include "store/systems/common/config_dir.h"

static char *qwen_hooks_path(const struct store_env *env)
{
    return config_dir_file(qwen_own_path(env), "settings.json");
}

/* prompt_id is also the name of the snapshots of Qwen Code itself. */
const struct agent_hooks qwen_hooks = {
    .form = HOOK_NESTED,
    .path = qwen_hooks_path,
    .comments = true,
    .event = { [HOOK_PROMPT] = "UserPromptSubmit", [HOOK_END] = "Stop" },
    .timeout = 5000,
    .off_switch = "disableAllHooks",
    .session = "session_id",
    .prompt = "prompt",
    .cwd = "cwd",
    .turn = "prompt_id",
    .subagent = "agent_id",
    .prompts_again = true,
};

const struct agent_mcp qwen_mcp = {
    .path = qwen_hooks_path,
    .member = "mcpServers",
    .entry = "{>\"command\":@,=\"args\":[\"mcp\"]<}",
    .comments = true,
};
