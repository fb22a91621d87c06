#include "store/systems/codex/codex.h"

#include "store/api/agent_hooks.h"
#include "store/systems/common/config_dir.h"

static char *codex_hooks_path(const struct store_env *env)
{
    return config_dir_file(jsonl_usual_path(&codex_format, env), "hooks.json");
}

/* `codex exec` skips a hook that is not trusted, and reports nothing. */
const struct agent_hooks codex_hooks = {
    .form = HOOK_NESTED,
    .path = codex_hooks_path,
    .event = { [HOOK_PROMPT] = "UserPromptSubmit",
               [HOOK_END] = "Stop",
               [HOOK_INTERRUPT] = "Interrupt" },
    .timeout = 5,
    .session = "session_id",
    .prompt = "prompt",
    .cwd = "cwd",
    .turn = "turn_id",
    .subagent = "agent_id",
    .trust = "Codex runs a new hook only after you trusted it: enter /hooks in Codex",
};
