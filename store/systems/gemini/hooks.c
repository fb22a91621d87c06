#include "store/systems/gemini/gemini.h"

#include "store/api/agent_hooks.h"
#include "store/systems/common/config_dir.h"

static char *gemini_hooks_path(const struct store_env *env)
{
    return config_dir_file(gemini_default_path(env), "settings.json");
}

/* Gemini CLI reads the answer as JSON, and counts milliseconds. */
const struct agent_hooks gemini_hooks = {
    .form = HOOK_NESTED,
    .path = gemini_hooks_path,
    .comments = true,
    .event = { [HOOK_PROMPT] = "BeforeAgent", [HOOK_END] = "AfterAgent" },
    .timeout = 5000,
    .off_switch = "hooksConfig.enabled",
    .switch_is_on = true,
    .session = "session_id",
    .prompt = "prompt",
    .cwd = "cwd",
    .answer = "{}\n",
};

const struct agent_mcp gemini_mcp = {
    .path = gemini_hooks_path,
    .member = "mcpServers",
    .entry = "{>\"command\":@,=\"args\":[\"mcp\"]<}",
    .comments = true,
};
