#include "store/systems/kimi_cli/kimi_cli.h"

#include <fcntl.h>

#include "lite/io/file.h"
#include "lite/json/json.h"
#include "store/systems/common/config_dir.h"
#include "store/systems/common/edits/tool_edits.h"

enum { HASH_DIGITS = 32, DIRECTORIES_MOST = 16 << 20 };

static enum err_code kimi_cli_open(const struct store_env *env, const char *path,
                                   struct store **out, struct err *e)
{
    return session_dirs_open(&kimi_cli_ops, &kimi_cli_format, env, path, "sessions", out, e);
}

/* ---- folders ---- */

static bool is_in_scope(const struct jsonl_store *s, const struct scope *scope, const char *folder)
{
    struct slice name = slice_of(folder);

    (void)s;
    return scope->all || (name.n == HASH_DIGITS && config_dir_of_hash(scope, "md5", name).n);
}

const struct session_dirs kimi_cli_dirs = { .log = "/context.jsonl", .in_scope = is_in_scope };

static struct slice find_directory(struct slice list, struct slice digits, struct arena *a)
{
    struct slice entry, path;
    struct json_iter it;

    json_list_open(&it, list, "work_dirs");
    while (json_list_next(&it, &entry))
        if (json_get_text(entry, "path", a, &path) && config_dir_has_hash(digits, "md5", path))
            return arena_copy(a, path);
    return SLICE("");
}

struct slice kimi_cli_directory(const struct session_ref *ref, const struct scope *scope,
                                struct arena *a)
{
    struct slice digits = ref->folder.n == HASH_DIGITS ? ref->folder : SLICE(""), found;
    const char *path = arena_format(a, "%s/kimi.json", ref->store->path);
    struct buf text = { 0 };

    if (!digits.n)
        return SLICE("");
    found = config_dir_of_hash(scope, "md5", digits);
    if (!found.n && path && !file_read_all(AT_FDCWD, path, 0, DIRECTORIES_MOST, &text, NULL) &&
        json_valid(buf_slice(&text)))
        found = find_directory(buf_slice(&text), digits, a);
    buf_fini(&text);
    return found;
}

/* ---- sub-agents ---- */

static enum err_code kimi_cli_subagents(const struct store *st, const struct session_ref *ref,
                                        struct arena *a, struct slice **ids, size_t *n,
                                        struct err *e)
{
    (void)st;
    return session_dirs_names(ref, "subagents", NULL, a, ids, n, e);
}

static enum err_code kimi_cli_subagent(const struct store *st, const struct session_ref *ref,
                                       struct slice agent, struct arena *a, struct session_ref *out,
                                       struct err *e)
{
    struct slice dir = session_dirs_of(ref);

    if (!kimi_cli_format.is_id(agent))
        return err_set(e, ERR_NOT_FOUND, ref->path.p, "no such sub-agent");
    return jsonl_ref_at(st,
                        arena_format(a, "%.*s/subagents/%.*s%s", SLICE_ARG(dir), SLICE_ARG(agent),
                                     kimi_cli_dirs.log),
                        arena_copy(a, agent), a, out, e);
}

static const char *kimi_cli_cannot(unsigned ability)
{
    switch (ability) {
    case CAN_RENAME:
    case CAN_NAME_FORK: return "the Kimi CLI writes its titles itself: use /title in it";
    case CAN_ARCHIVE: return "archive it in the Kimi CLI";
    case CAN_DELETE: return "delete it in the Kimi CLI, which may have it open";
    case CAN_TAG: return "Kimi CLI sessions have no tags";
    case CAN_FORK: return "the Kimi CLI forks sessions only on its own screen";
    case CAN_RESUME_AT: return "the Kimi CLI continues after the last message";
    case CAN_REWIND: return "the Kimi CLI keeps no copies of files";
    case CAN_TOMBSTONE: return "a log of the Kimi CLI is the only copy of its messages";
    case CAN_REAPPEND: return "the Kimi CLI keeps its titles beside the logs";
    case CAN_RETRIEVE: return "Kimi CLI sessions are already where it looks for them";
    case CAN_HAVE_BRANCHES: return "Kimi CLI logs have no branches";
    case CAN_SET: return "Kimi CLI sessions have no settings that other programs may write";
    default: return NULL;
    }
}

const struct store_ops kimi_cli_ops = {
    .name = "kimi-cli",
    .label = "Kimi CLI",
    .folders = "sessions",
    .resume_command = "kimi --session {id}",
    .open = kimi_cli_open,
    .close = session_dirs_close,
    .enumerate = session_dirs_enumerate,
    .describe = jsonl_describe,
    .find = session_dirs_find,
    .at_path = session_dirs_at_path,
    .tail = jsonl_tail,
    .load = jsonl_load,
    .blocks = kimi_cli_blocks,
    .messages = block_messages,
    .subagents = kimi_cli_subagents,
    .subagent = kimi_cli_subagent,
    .agent_variable = jsonl_agent_variable,
    .edits = tool_edits_logged,
    .unsupported = kimi_cli_cannot,
};
