#include "store/systems/copilot/copilot.h"

#include "store/api/agent_hooks.h"
#include "store/systems/common/config_dir.h"

#define COPILOT_COMMAND(event)                                                                     \
    "{ \"type\": \"command\", \"bash\": \"% snapshot --agent copilot --event " event               \
    "\", \"timeoutSec\": 5 }"

static const char copilot_hooks_text[] =
    "{\n"
    "  \"version\": 1,\n"
    "  \"hooks\": {\n"
    "    \"userPromptSubmitted\": [" COPILOT_COMMAND(
        "prompt") "],\n"
                  "    \"agentStop\": [" COPILOT_COMMAND("end") "]\n"
                                                                "  }\n"
                                                                "}\n";

static char *copilot_hooks_path(const struct store_env *env)
{
    return config_dir_file(jsonl_usual_path(&copilot_format, env), "hooks/reprise.json");
}

const struct agent_hooks copilot_hooks = {
    .form = HOOK_FILE,
    .path = copilot_hooks_path,
    .text = copilot_hooks_text,
    .session = "sessionId",
    .prompt = "prompt",
    .cwd = "cwd",
};

static char *copilot_mcp_path(const struct store_env *env)
{
    return config_dir_file(jsonl_usual_path(&copilot_format, env), "mcp-config.json");
}

const struct agent_mcp copilot_mcp = {
    .path = copilot_mcp_path,
    .member = "mcpServers",
    .entry = "{>\"type\":\"local\",=\"command\":@,=\"args\":[\"mcp\"],=\"tools\":[\"*\"]<}",
};
