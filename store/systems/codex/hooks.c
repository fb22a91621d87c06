#include "store/systems/codex/codex.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "lite/base/cleanup.h"
#include "lite/io/file.h"
#include "lite/json/jsonout.h"
#include "store/api/agent_hooks.h"
#include "store/fs/path.h"
#include "store/fs/span.h"
#include "store/systems/common/config_dir.h"

enum { CODEX_HOOK_SECONDS = 5, CODEX_CONFIG_MAX = 4 * 1024 * 1024 };

static char *codex_hooks_path(const struct store_env *env)
{
    return config_dir_file(jsonl_usual_path(&codex_format, env), "hooks.json");
}

/* Codex keeps a hash of each hook that a person trusted: of its event, command and timeout as JSON with sorted members. */
static bool codex_trusts_hook(const char *path, struct slice command)
{
    AUTO_BUF identity = { 0 }, config = { 0 };
    CLEANUP(hasher_fini) struct hasher h = { 0 };
    char dir[PATH_MAX], name[PATH_MAX], quoted[sizeof "sha256:" + SHA256_BYTES * 2] = "sha256:";
    uint8_t sha256[SHA256_BYTES];
    struct jsonout j;

    jsonout_init(&j, &identity);
    jsonout_open(&j, '{');
    jsonout_member(&j, "event_name", SLICE("user_prompt_submit"));
    jsonout_key(&j, "hooks");
    jsonout_open(&j, '[');
    jsonout_open(&j, '{');
    jsonout_bool_member(&j, "async", false);
    jsonout_member(&j, "command", command);
    jsonout_int_member(&j, "timeout", CODEX_HOOK_SECONDS);
    jsonout_member(&j, "type", SLICE("command"));
    jsonout_close(&j, '}');
    jsonout_close(&j, ']');
    jsonout_close(&j, '}');

    /* The hash is in the file only if the hook is trusted, so the file need not be read as TOML. */
    if (j.rc || hasher_bytes(&h, buf_slice(&identity), sha256, NULL) || !path_parent(path, dir) ||
        snprintf(name, sizeof name, "%s/config.toml", dir) >= (int)sizeof name ||
        file_read_all(AT_FDCWD, name, 0, CODEX_CONFIG_MAX, &config, NULL))
        return false;
    hasher_hex(sha256, quoted + strlen("sha256:"));
    return slice_has(buf_slice(&config), quoted);
}

/* `codex exec` skips a hook that is not trusted, and reports nothing. */
const struct agent_hooks codex_hooks = {
    .form = HOOK_NESTED,
    .path = codex_hooks_path,
    .event = { [HOOK_PROMPT] = "UserPromptSubmit",
               [HOOK_END] = "Stop",
               [HOOK_INTERRUPT] = "Interrupt" },
    .timeout = CODEX_HOOK_SECONDS,
    .session = "session_id",
    .prompt = "prompt",
    .cwd = "cwd",
    .turn = "turn_id",
    .subagent = "agent_id",
    .trusted = codex_trusts_hook,
    .trust = "Codex runs a new hook only after you trusted it: enter /hooks in Codex",
};

static char *codex_mcp_path(const struct store_env *env)
{
    return config_dir_file(jsonl_usual_path(&codex_format, env), "config.toml");
}

const struct agent_mcp codex_mcp = {
    .path = codex_mcp_path,
};
