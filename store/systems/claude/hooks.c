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
