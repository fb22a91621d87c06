#include "store/systems/pi/pi.h"

#include "store/api/agent_hooks.h"
#include "store/systems/common/config_dir.h"

static const char pi_hooks_text[] =
    "// Written by `reprise snapshots on`, removed by `reprise snapshots off`: keeps a copy of the "
    "project's\n"
    "// files before each prompt and after each turn, so that reprise can give them back.\n"
    "import { spawnSync } from \"node:child_process\";\n"
    "\n"
    "const take = (event: string, ctx: any, prompt?: string) => {\n"
    "  try {\n"
    "    spawnSync(@, [\"snapshot\", \"--agent\", \"pi\", \"--event\", event], {\n"
    "      input: JSON.stringify({ session: ctx.sessionManager.getSessionId(), cwd: ctx.cwd, "
    "prompt }),\n"
    "      stdio: [\"pipe\", \"ignore\", \"ignore\"],\n"
    "      timeout: 5000,\n"
    "    });\n"
    "  } catch {}\n"
    "};\n"
    "\n"
    "export default function (pi: any) {\n"
    "  pi.on(\"before_agent_start\", async (event: any, ctx: any) => take(\"prompt\", ctx, "
    "event.prompt));\n"
    "  pi.on(\"agent_end\", async (_event: any, ctx: any) => take(\"end\", ctx));\n"
    "}\n";

static char *pi_hooks_path(const struct store_env *env)
{
    const char *agent = env_variable(env, "PI_CODING_AGENT_DIR");
    char *dir = agent       ? config_dir_expand(env, agent)
                : env->home ? config_dir_join(env->home, ".pi/agent")
                            : NULL;

    return config_dir_file(dir, "extensions/reprise.ts");
}

const struct agent_hooks pi_hooks = {
    .form = HOOK_FILE,
    .path = pi_hooks_path,
    .text = pi_hooks_text,
    .session = "session",
    .prompt = "prompt",
    .cwd = "cwd",
};
