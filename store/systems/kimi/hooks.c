#include "store/systems/kimi/kimi.h"

#include "store/api/agent_hooks.h"
#include "store/systems/common/config_dir.h"

static char *kimi_hooks_path(const struct store_env *env)
{
    return config_dir_file(jsonl_usual_path(&kimi_format, env), "config.toml");
}

const struct agent_hooks kimi_hooks = {
    .form = HOOK_TABLES,
    .path = kimi_hooks_path,
    .event = { [HOOK_PROMPT] = "UserPromptSubmit",
               [HOOK_END] = "Stop",
               [HOOK_INTERRUPT] = "Interrupt" },
    .timeout = 5,
    .session = "session_id",
    .prompt = "prompt",
    .cwd = "cwd",
    .subagent = "agent_id",
};

static char *kimi_mcp_path(const struct store_env *env)
{
    return config_dir_file(jsonl_usual_path(&kimi_format, env), "mcp.json");
}

const struct agent_mcp kimi_mcp = {
    .path = kimi_mcp_path,
    .member = "mcpServers",
    .entry = "{>\"command\":@,=\"args\":[\"mcp\"]<}",
};
