#include "lite/json/json.h"
#include "store/log/log_damage.h"
#include "store/systems/common/edits/tool_edits.h"
#include "store/systems/common/row_table.h"
#include "store/systems/common/session_about.h"
#include "store/systems/common/session_dirs.h"

/* The sessions of Mistral Vibe (docs/formats/vibe.md): its path is $VIBE_HOME or ~/.vibe, with
 *
 *   logs/session/<prefix>_<day>_<time>_<id8>/messages.jsonl   the log: one message per line, without times
 *   logs/session/<prefix>_<day>_<time>_<id8>/meta.json        id, title, directory, times, sums of tokens
 *   logs/session/<prefix>_<day>_<time>_<id8>/agents/          sub-agents, each as such a directory
 *
 * A session is identified by the 8 digits in the name of its directory, as in Vibe itself. meta.json is rewritten after
 * each turn. Only read. */

extern const struct store_ops vibe_ops;

enum { ID_DIGITS = 8, NAME_MOST = 200 };

static const char *const vibe_roles[] = { "user", "assistant", "tool", NULL };
static const struct index_keys vibe_keys = { .type = "role",
                                             .id = "message_id",
                                             .kinds = vibe_roles };

/* clang-format off */
static const struct row_kind vibe_rows[] = {
    { "user", MESSAGE_USER, MESSAGE_META, .when = "injected", /* by Vibe, for the model */
      .blocks = { { .kind = BLOCK_NOTE, .text = "content" }, { BLOCK_IMAGE, .each = "images" } } },
    { "user", MESSAGE_USER,
      .blocks = { { .kind = BLOCK_PROMPT, .text = "content" }, { BLOCK_IMAGE, .each = "images" } } },
    { "assistant", MESSAGE_ASSISTANT,
      .blocks = { { .kind = BLOCK_THINKING, .text = "reasoning_content" }, { .kind = BLOCK_TEXT, .text = "content" }, ROW_TOOL_CALLS } },
    { "tool", MESSAGE_TOOL,
      .blocks = { { BLOCK_TOOL_RESULT, "content", .call = "tool_call_id", .name = "name",
                    .failures = { "<tool_error>", "<user_cancellation>" } } } },
    { NULL, MESSAGE_SYSTEM,
      .blocks = { { .kind = BLOCK_NOTE, .text = "content" }, { BLOCK_IMAGE, .each = "images" } } },
};
static const struct row_table vibe_table = { .kind = vibe_rows, .n = sizeof vibe_rows / sizeof *vibe_rows };

static const struct session_about vibe_about = {
    .file = "meta.json",
    .most = 16 << 20,
    .member = { ABOUT(recorded_id, "session_id"), ABOUT(parent_id, "parent_session_id"),
                ABOUT(custom_title, "title"), ABOUT(git_branch, "git_branch"),
                ABOUT(cwd, "environment.working_directory"), ABOUT(model, "config.active_model"),
                ABOUT_TIME(created_ms, "start_time"), ABOUT_TIME(activity_ms, "end_time") },
    .ai_title = "title_source=auto",
    .required = true,
    .input = "stats.session_prompt_tokens",
    .output = "stats.session_completion_tokens",
    .answer = "session_id",
    .model = "config.active_model",
    .end = "end_time",
};
/* clang-format on */

static bool vibe_is_id(struct slice id)
{
    return slice_is_of(id, "0123456789abcdef") && id.n == ID_DIGITS;
}

static bool vibe_name_id(const char *name, struct slice *id)
{
    size_t n = strlen(name);

    if (n <= ID_DIGITS || name[n - ID_DIGITS - 1] != '_')
        return false;
    *id = (struct slice){ name + n - ID_DIGITS, ID_DIGITS };
    return vibe_is_id(*id);
}

/* The whole name of a directory. */
static bool vibe_is_agent(struct slice id)
{
    struct slice digits;

    for (size_t i = 0; i < id.n; i++)
        if (id.p[i] == '/' || (unsigned char)id.p[i] <= ' ' || id.p[i] == 0x7f)
            return false;
    return id.n > 0 && id.n <= NAME_MOST && id.p[0] != '.' && vibe_name_id(id.p, &digits);
}

static const struct session_dirs vibe_dirs = {
    .log = "/messages.jsonl", .name_id = vibe_name_id, .agents = "agents", .is_agent = vibe_is_agent
};

static const struct jsonl_format vibe_format = { .keys = &vibe_keys,
                                                 .rows = &vibe_table,
                                                 .about = &vibe_about,
                                                 .prompt_needle = "\"user\"",
                                                 .is_id = vibe_is_id,
                                                 .id_name = "the 8 digits of a Vibe session",
                                                 .dirs = &vibe_dirs,
                                                 .variable = "VIBE_HOME",
                                                 .home = ".vibe" };

static enum err_code vibe_open(const struct store_env *env, const char *path, struct store **out,
                               struct err *e)
{
    return jsonl_store_open(&vibe_ops, &vibe_format, env, path, "logs/session", out, e);
}

/* The result of a tool lists its members, and the first member of each tool is known. The result of
 * a call that failed or was refused has another text. */
static void vibe_check_done(struct slice row, struct arena *a, struct edit *edit, bool *counts)
{
    static const char *const first[][2] = { { "write_file", "path: " },
                                            { "edit", "file: " },
                                            { "search_replace", "file: " },
                                            { "bash", "command: " } };
    struct slice text = row_text(row, "content", NULL, a);

    *counts = false;
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        *counts |= slice_eq(edit->tool, slice_of(first[i][0])) && slice_starts(text, first[i][1]);
}

static enum err_code vibe_edits(const struct store *st, const struct session_ref *ref,
                                const struct edit_query *q, edit_fn *fn, void *arg, struct err *e)
{
    return tool_edits_rows(st, ref, jsonl_load, q, vibe_check_done, fn, arg, e);
}

/* One line that is no JSON object, and Vibe neither lists nor resumes the session (session_loader.py). */
static const struct log_rules vibe_log_rules = { .unknown = false };

const struct store_ops vibe_ops = {
    .name = "vibe",
    .label = "Mistral Vibe",
    .folders = "logs/session",
    .resume_command = "vibe --resume {id}",
    SESSION_DIRS_OPS,
    .files = session_dirs_parts,
    .open = vibe_open,
    .subagents = session_dirs_subagents,
    .subagent = session_dirs_subagent,
    .agent_variable = jsonl_agent_variable,
    .check = jsonl_check,
    .log_rules = &vibe_log_rules,
    .usage = session_about_usage,
    .edits = vibe_edits,
    .why = {
        [ABILITY_RENAME] = "Vibe writes its titles itself: use /rename in it",
        [ABILITY_NAME_FORK] = "Vibe writes its titles itself: use /rename in it",
        [ABILITY_TAG] = "Vibe sessions have no tags",
        [ABILITY_ARCHIVE] = "Vibe sessions cannot be archived",
        [ABILITY_DELETE] = "delete it in Vibe, which may have it open",
        [ABILITY_FORK] = "Vibe forks sessions only on its own screen",
        [ABILITY_RESUME_AT] = "Vibe continues after the last message: use /rewind in it",
        [ABILITY_REWIND] = "Vibe keeps its copies of files only in memory",
        [ABILITY_TOMBSTONE] = "a Vibe log is the only copy of its messages",
        [ABILITY_REAPPEND] = "Vibe keeps its titles beside the logs",
        [ABILITY_RETRIEVE] = "Vibe's logs are already where it looks for them",
        [ABILITY_MOVE] = "Vibe resumes it by its id",
        [ABILITY_HAVE_BRANCHES] = "Vibe logs have no branches",
        [ABILITY_SET] = "Vibe sessions have no settings",
    },
};
