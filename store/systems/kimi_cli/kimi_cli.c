#include <fcntl.h>

#include "lite/base/cleanup.h"
#include "lite/io/file.h"
#include "lite/json/json.h"
#include "store/log/log_damage.h"
#include "store/systems/common/config_dir.h"
#include "store/systems/common/edits/tool_edits.h"
#include "store/systems/common/row_table.h"
#include "store/systems/common/session_about.h"
#include "store/systems/common/session_dirs.h"

/* The sessions of the Kimi CLI, the predecessor of Kimi Code (docs/formats/kimi.md): its path is $KIMI_SHARE_DIR or
 * ~/.kimi, with
 *
 *   sessions/<MD5 of the directory>/<id>/context.jsonl    the log: one message per line, without times and ids
 *   sessions/<MD5 of the directory>/<id>/state.json       title, archived
 *   sessions/<MD5 of the directory>/<id>/subagents/       each as such a directory
 *   kimi.json                                             the directories
 *
 * Only read. */

extern const struct store_ops kimi_cli_ops;

/* Other roles begin with "_" and are the program's own. */
static const char *const kimi_cli_roles[] = { "user", "assistant", "tool", NULL };
static const struct index_keys kimi_cli_keys = { .type = "role",
                                                 .id = "id",
                                                 .kinds = kimi_cli_roles };

/* The program also tells the model something in the person's role, in an element: <system>, <system-reminder>. */
/* clang-format off */
static const struct row_kind kimi_cli_rows[] = {
    { "user", MESSAGE_SYSTEM, .starts = "<system",
      .blocks = { { BLOCK_NOTE, "content", .part = "text" },
                  { BLOCK_IMAGE, .each = "content", .when = "type=image_url" } } },
    { "user", MESSAGE_USER,
      .blocks = { { BLOCK_PROMPT, "content", .part = "text" },
                  { BLOCK_IMAGE, .each = "content", .when = "type=image_url" } } },
    { "assistant", MESSAGE_ASSISTANT,
      .blocks = { { BLOCK_THINKING, "content", .part = "think" },
                  { BLOCK_TEXT, "content", .part = "text" }, ROW_TOOL_CALLS } },
    { "tool", MESSAGE_TOOL,
      .blocks = { { BLOCK_TOOL_RESULT, "content", .part = "text", .call = "tool_call_id",
                    .failures = { "<system>ERROR" } } } },
};
/* clang-format on */
static const struct row_table kimi_cli_table = { .kind = kimi_cli_rows,
                                                 .n =
                                                     sizeof kimi_cli_rows / sizeof *kimi_cli_rows };

enum { HASH_DIGITS = 32, ID_MOST = 128, DIRECTORIES_MOST = 16 << 20 };

/* The directory of a session, from the scope or kimi.json; empty if it is not known. */
static void kimi_cli_complete(const struct scope *scope, struct slice state,
                              struct session_row *row, struct arena *a)
{
    struct slice digits = row->ref.folder, entry, path;
    const char *list = arena_format(a, "%s/kimi.json", row->ref.store->path);
    struct buf text = { 0 };
    struct json_iter it;

    (void)state;
    if (digits.n != HASH_DIGITS)
        return;
    row->cwd = config_dir_of_hash(scope, DIGEST_MD5, digits);
    if (!row->cwd.n && list && !file_read_all(AT_FDCWD, list, 0, DIRECTORIES_MOST, &text, NULL) &&
        json_valid(buf_slice(&text))) {
        json_list_open(&it, buf_slice(&text), "work_dirs");
        while (!row->cwd.n && json_list_next(&it, &entry))
            if (json_get_text(entry, "path", a, &path) &&
                config_dir_has_hash(digits, DIGEST_MD5, path))
                row->cwd = arena_copy(a, path);
    }
    buf_fini(&text);
}

static enum err_code kimi_cli_shared(const struct store *st, const struct session_ref *ref,
                                     bool all, struct arena *a, const char ***part, size_t *n,
                                     struct err *e)
{
    (void)ref, (void)all;
    *part = NULL;
    *n = 0;
    NEED(arena_add_text(a, part, n, arena_format(a, "%s/kimi.json", st->path)));
    return ERR_OK;
}

static const struct session_about kimi_cli_about = {
    .file = "state.json",
    .most = 1 << 20,
    .member = { ABOUT(custom_title, "custom_title") },
    .archived = "archived",
    .complete = kimi_cli_complete,
};

static bool kimi_cli_is_id(struct slice id)
{
    return slice_is_of(id, JSONL_ID_CHARACTERS) && id.n > 0 && id.n <= ID_MOST && id.p[0] != '-';
}

static bool kimi_cli_in_scope(const struct jsonl_store *s, const struct scope *scope,
                              const char *folder)
{
    struct slice name = slice_of(folder);

    (void)s;
    return scope->all || (name.n == HASH_DIGITS && config_dir_of_hash(scope, DIGEST_MD5, name).n);
}

static const struct session_dirs kimi_cli_dirs = { .log = "/context.jsonl",
                                                   .in_scope = kimi_cli_in_scope,
                                                   .agents = "subagents" };

static const struct jsonl_format kimi_cli_format = { .keys = &kimi_cli_keys,
                                                     .rows = &kimi_cli_table,
                                                     .about = &kimi_cli_about,
                                                     .prompt_needle = "\"user\"",
                                                     .is_id = kimi_cli_is_id,
                                                     .id_name = "a Kimi CLI session id",
                                                     .dirs = &kimi_cli_dirs,
                                                     .variable = "KIMI_SHARE_DIR",
                                                     .home = ".kimi" };

static enum err_code kimi_cli_open(const struct store_env *env, const char *path,
                                   struct store **out, struct err *e)
{
    return jsonl_store_open(&kimi_cli_ops, &kimi_cli_format, env, path, "sessions", out, e);
}

static char *kimi_cli_hooks_path(const struct store_env *env)
{
    return config_dir_file(jsonl_usual_path(&kimi_cli_format, env), "config.toml");
}

/* From https://moonshotai.github.io/kimi-cli: as in Kimi Code. */
static const struct agent_hooks kimi_cli_hooks = {
    .form = HOOK_TABLES,
    .path = kimi_cli_hooks_path,
    .documented = true,
    .event = { [HOOK_PROMPT] = "UserPromptSubmit", [HOOK_END] = "Stop" },
    .timeout = 5,
    .session = "session_id",
    .prompt = "prompt",
    .cwd = "cwd",
};

/* The CLI leaves out lines that do not parse (soul/context.py), so it loses nothing by their repair. */
static const struct log_rules kimi_cli_log_rules = { .unknown = false };

const struct store_ops kimi_cli_ops = {
    .name = "kimi-cli",
    .label = "Kimi CLI",
    .folders = "sessions",
    .resume_command = "kimi --session {id}",
    .hooks = &kimi_cli_hooks,
    SESSION_DIRS_OPS,
    .files = session_dirs_parts,
    .shared = kimi_cli_shared,
    .open = kimi_cli_open,
    .subagents = session_dirs_subagents,
    .subagent = session_dirs_subagent,
    .agent_variable = jsonl_agent_variable,
    .check = jsonl_check,
    .log_rules = &kimi_cli_log_rules,
    .edits = tool_edits_logged,
    .why = {
        [ABILITY_RENAME] = "the Kimi CLI writes its titles itself: use /title in it",
        [ABILITY_NAME_FORK] = "the Kimi CLI writes its titles itself: use /title in it",
        [ABILITY_ARCHIVE] = "archive it in the Kimi CLI",
        [ABILITY_DELETE] = "delete it in the Kimi CLI, which may have it open",
        [ABILITY_TAG] = "Kimi CLI sessions have no tags",
        [ABILITY_FORK] = "the Kimi CLI forks sessions only on its own screen",
        [ABILITY_RESUME_AT] = "the Kimi CLI continues after the last message",
        [ABILITY_REWIND] = "the Kimi CLI keeps no copies of files",
        [ABILITY_TOMBSTONE] = "a log of the Kimi CLI is the only copy of its messages",
        [ABILITY_MOVE] = "whether the Kimi CLI follows a moved directory is not known",
        [ABILITY_REAPPEND] = "the Kimi CLI keeps its titles beside the logs",
        [ABILITY_RETRIEVE] = "Kimi CLI sessions are already where it looks for them",
        [ABILITY_HAVE_BRANCHES] = "Kimi CLI logs have no branches",
        [ABILITY_SET] = "Kimi CLI sessions have no settings that other programs may write",
    },
};
