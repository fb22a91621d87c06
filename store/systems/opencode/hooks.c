#include "store/systems/opencode/opencode.h"

#include <string.h>

#include "store/api/agent_hooks.h"
#include "store/systems/common/config_dir.h"

/* A plugin waits for what it starts; an idle session may be the end of the process, so that it must not only be begun. */
/* clang-format off */
#define PLUGIN(program)                                                                            \
    "// Written by `reprise snapshots on`, removed by `reprise snapshots off`: keeps a copy of the " \
    "project's\n"                                                                                  \
    "// files before each prompt and after each turn, so that reprise can give them back.\n"       \
    "import { spawnSync } from \"node:child_process\"\n"                                           \
    "\n"                                                                                           \
    "const take = (event, told) => {\n"                                                            \
    "  try {\n"                                                                                    \
    "    spawnSync(@, [\"snapshot\", \"--agent\", \"" program "\", \"--event\", event], {\n"       \
    "      input: JSON.stringify(told),\n"                                                         \
    "      stdio: [\"pipe\", \"ignore\", \"ignore\"],\n"                                           \
    "      timeout: 5000,\n"                                                                       \
    "    })\n"                                                                                     \
    "  } catch {}\n"                                                                               \
    "}\n"                                                                                          \
    "\n"                                                                                           \
    "export const RepriseSnapshots = async ({ directory }) => {\n"                                 \
    "  const turns = new Map() // the last prompt of each session\n"                               \
    "  const subagents = new Set()\n"                                                              \
    "  return {\n"                                                                                 \
    "    \"chat.message\": async (input, output) => {\n"                                           \
    "      if (subagents.has(input.sessionID)) return\n"                                           \
    "      const messageID = output?.message?.id ?? input.messageID\n"                             \
    "      const prompt = (output?.parts ?? [])\n"                                                 \
    "        .filter((part) => part.type === \"text\" && !part.synthetic)\n"                       \
    "        .map((part) => part.text)\n"                                                          \
    "        .join(\"\\n\")\n"                                                                     \
    "      turns.set(input.sessionID, messageID)\n"                                                \
    "      take(\"prompt\", { sessionID: input.sessionID, messageID, cwd: directory, prompt })\n"  \
    "    },\n"                                                                                     \
    "    event: async ({ event }) => {\n"                                                          \
    "      const info = event.properties?.info\n"                                                  \
    "      if (event.type === \"session.created\" && info?.parentID) subagents.add(info.id)\n"     \
    "      const sessionID = event.properties?.sessionID\n"                                        \
    "      if (event.type !== \"session.idle\" || !turns.has(sessionID)) return\n"                 \
    "      take(\"end\", { sessionID, messageID: turns.get(sessionID), cwd: directory })\n"        \
    "    },\n"                                                                                     \
    "  }\n"                                                                                        \
    "}\n"
/* clang-format on */

static char *opencode_config_file(const struct store_env *env, const char *name)
{
    const char *xdg = env_variable(env, "XDG_CONFIG_HOME");
    char *dir = xdg && xdg[0] == '/' ? strdup(xdg)
                : env->home          ? config_dir_join(env->home, ".config")
                                     : NULL;

    return config_dir_file(dir, name);
}

static char *opencode_hooks_path(const struct store_env *env)
{
    return opencode_config_file(env, "opencode/plugin/reprise.js");
}

static char *kilo_hooks_path(const struct store_env *env)
{
    return opencode_config_file(env, "kilo/plugin/reprise.js");
}

static char *opencode_mcp_path(const struct store_env *env)
{
    return opencode_config_file(env, "opencode/opencode.json");
}

#define PLUGIN_MEMBERS(program)                                                                    \
    .form = HOOK_FILE, .text = PLUGIN(program), .session = "sessionID", .turn = "messageID",       \
    .prompt = "prompt", .cwd = "cwd"

const struct agent_hooks opencode_hooks = { PLUGIN_MEMBERS("opencode"),
                                            .path = opencode_hooks_path };
/* Kilo's program has the same calls, and looks for plugins in its own directory; that was not tried. */
const struct agent_hooks kilo_hooks = { PLUGIN_MEMBERS("kilo"), .path = kilo_hooks_path,
                                        .documented = true };

const struct agent_mcp opencode_mcp = {
    .path = opencode_mcp_path,
    .member = "mcp",
    .entry = "{>\"type\":\"local\",=\"command\":[@,\"mcp\"]<}",
    .comments = true,
};
