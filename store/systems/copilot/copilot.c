#include "store/systems/copilot/copilot.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "lite/io/file.h"
#include "store/log/log_damage.h"
#include "store/proc/process.h"
#include "store/systems/common/config_dir.h"
#include "store/systems/common/edits/tool_edits.h"
#include "store/systems/common/row_table.h"

static enum err_code copilot_open(const struct store_env *env, const char *path, struct store **out,
                                  struct err *e)
{
    return jsonl_store_open(&copilot_ops, &copilot_format, env, path, "session-state", out, e);
}

/* ---- whether a session is in use ---- */

/* The process in the name of a hold file, if it is still running and is Copilot; without a process
 * table, if it is still running. */
static pid_t holder(const char *name, const char *proc)
{
    struct arena a = { 0 };
    struct buf line = { 0 };
    char *end;
    long pid = strncmp(name, "inuse.", 6) == 0 ? strtol(name + 6, &end, 10) : 0;
    bool named = pid > 0 && *end == '.';
    const char *path = named && proc ? arena_format(&a, "%s/%ld/cmdline", proc, pid) : NULL;
    bool is = named && !proc
                  ? kill((pid_t)pid, 0) == 0 || errno == EPERM
                  : path && !file_read_all(AT_FDCWD, path, FILE_FOLLOW, 64 << 10, &line, NULL) &&
                        slice_has(buf_slice(&line), "copilot");

    buf_fini(&line);
    arena_fini(&a);
    return is ? (pid_t)pid : 0;
}

static enum err_code copilot_live(const struct store *st, const struct session_ref *ref,
                                  struct live *out, struct err *e)
{
    struct arena a = { 0 };
    const char *folder = copilot_directory(ref, &a);
    const char *proc = st->env->proc_dir ? st->env->proc_dir : proc_table();
    const struct dirent *entry;
    DIR *dir = folder ? opendir(folder) : NULL;

    *out = (struct live){ .state = LIVE_QUIET };
    while (dir && (errno = 0, entry = readdir(dir))) {
        pid_t pid = holder(entry->d_name, proc);

        if (pid)
            *out = (struct live){ proc ? LIVE_RUNNING : LIVE_UNKNOWN, pid, false,
                                  proc ? "Copilot has it open" : "Copilot may have it open" };
    }
    if (folder && errno && errno != ENOENT && errno != ENOTDIR && out->state == LIVE_QUIET)
        *out = (struct live){ .state = LIVE_UNKNOWN, .why = "its folder cannot be read" };
    if (dir)
        closedir(dir);
    bool failed = a.failed;

    arena_fini(&a);
    return failed ? err_nomem(e) : ERR_OK;
}

/* Copilot refuses a session with a line that does not parse, and reads lines with a reader that also ends them at
 * U+2028 and U+2029. */
static const struct log_sent copilot_sent[] = {
    { "user.message", "data" },
    { "assistant.message", "data" },
    { "tool.execution_complete", "data" },
    { NULL, NULL },
};
static const struct log_rules copilot_log_rules = { .splits_at_separators = true,
                                                    .refused = log_refused_texts,
                                                    .sent = copilot_sent };

/* Rename, fork and delete are not supported: they would change a database that only the program
 * writes. */
const struct store_ops copilot_ops = {
    .name = "copilot",
    .label = "Copilot CLI",
    .folders = "session-state",
    .resume_command = "copilot --resume={id}",
    .hooks = &copilot_hooks,
    .mcp = &copilot_mcp,
    .files = copilot_files,
    .open = copilot_open,
    .close = jsonl_store_close,
    .enumerate = copilot_enumerate,
    .unreadable = jsonl_unreadable,
    .describe = jsonl_describe,
    .find = copilot_find,
    .find_each = store_find_each_listed,
    .at_path = copilot_at_path,
    .tail = copilot_tail,
    .load = copilot_load,
    .blocks = row_table_blocks,
    .usage = copilot_usage,
    .edits = tool_edits_loaded,
    .messages = block_messages,
    .subagents = copilot_subagents,
    .describe_subagents = copilot_describe_subagents,
    .subagent = copilot_subagent,
    .live = copilot_live,
    .check = jsonl_check,
    .log_rules = &copilot_log_rules,
    .checkpoints = copilot_checkpoints,
    .plan = copilot_plan,
    .agent_variable = jsonl_agent_variable,
    .why = {
        [ABILITY_RENAME] = "Copilot keeps names in a database, too: use /rename in Copilot",
        [ABILITY_NAME_FORK] = "Copilot keeps names in a database, too: use /rename in Copilot",
        [ABILITY_TAG] = "Copilot sessions have no tags",
        [ABILITY_ARCHIVE] = "Copilot sessions cannot be archived",
        [ABILITY_DELETE] = "Copilot keeps its index in a database: use /session delete in Copilot",
        [ABILITY_FORK] = "Copilot keeps its index in a database: use /fork in Copilot",
        [ABILITY_RESUME_AT] = "Copilot continues after the last event: use /rewind in Copilot",
        [ABILITY_TOMBSTONE] = "Copilot keeps its index in a database: nothing is removed from its logs",
        [ABILITY_REAPPEND] = "Copilot logs have no metadata to append again",
        [ABILITY_RETRIEVE] = "Copilot logs are already where Copilot looks for them",
        [ABILITY_MOVE] = "Copilot resumes it in any directory: copilot --resume=ID",
        [ABILITY_HAVE_BRANCHES] = "a Copilot log has no branches: what is rewound is cut off",
        [ABILITY_SET] = "Copilot sessions have no settings that other programs may write",
    },
};
