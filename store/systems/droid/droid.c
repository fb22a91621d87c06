#include "lite/json/json.h"
#include "store/log/log_damage.h"
#include "store/systems/common/config_dir.h"
#include "store/systems/common/edits/tool_edits.h"
#include "store/systems/common/memory_rows.h"
#include "store/systems/common/row_table.h"
#include "store/systems/common/session_about.h"
#include "store/systems/common/session_dirs.h"

/* The sessions of Factory's Droid (docs/formats/droid.md): its path is ~/.factory, with
 *
 *   sessions/<directory, flattened>/<id>.jsonl           the log: a first line about the session, then messages
 *   sessions/<directory, flattened>/<id>.settings.json   model and sums of tokens
 *
 * Only read. */

extern const struct store_ops droid_ops;

/* What a text contains after Droid's reminders. */
static struct slice droid_typed(struct slice text)
{
    static const char open[] = "<system-reminder>", end[] = "</system-reminder>";

    while (slice_starts(text, open)) {
        const char *at = slice_find(text.p, text.n, end, sizeof end - 1);

        if (!at)
            return SLICE("");
        at += sizeof end - 1;
        text = (struct slice){ at, (size_t)(text.p + text.n - at) };
        while (text.n && (unsigned char)text.p[0] <= ' ')
            text = (struct slice){ text.p + 1, text.n - 1 };
    }
    return text;
}

/* The texts of a message, a line for each. */
static struct slice droid_prompt(struct slice row, struct arena *a)
{
    struct slice content, part, text, all = SLICE("");
    struct json_iter it;

    json_at(row, "message.content", &content);
    if (json_text(content, a, &text))
        return droid_typed(text);
    if (json_type(content) != JSON_ARRAY || !json_iter_open(&it, content))
        return all;
    while (json_list_next(&it, &part)) {
        if (!json_get_is(part, "type", "text") || !json_get_text(part, "text", a, &text))
            continue;
        text = droid_typed(text);
        if (text.n)
            all = arena_join(a, all, "\n", text);
    }
    return all;
}

/* Droid's reminders, and what follows them. */
static void droid_put_text(struct block_list *b, struct slice text)
{
    struct slice typed = droid_typed(text);

    transcript_block_put_text(b, BLOCK_NOTE, (struct slice){ text.p, text.n - typed.n });
    transcript_block_put_text(b, BLOCK_PROMPT, typed);
}

/* The contents have the form of Anthropic's API. */
static void droid_put(struct block_list *b, struct slice row)
{
    struct slice content;

    if (json_at(row, "message.content", &content))
        content_blocks_put(b, content,
                           row_is(row, "message.role=user") ? droid_put_text : content_put_text);
}

/* Results of tools, and reminders that Droid adds for the model, are messages of the user's role. */
static const char *const droid_roles[] = { "user", "assistant", NULL };
static const struct index_keys droid_keys = {
    .type = "role", .inner = "message", .id = "id", .time = "timestamp", .kinds = droid_roles
};

/* clang-format off */
static const struct row_kind droid_rows[] = {
    /* what Droid itself tells the person, in the user's role */
    { "user", MESSAGE_SYSTEM, .when = "type=message&message.visibility=user_only", .blocks = { { BLOCK_NOTE, .text = "message.content" } } },
    { "user", MESSAGE_USER, .when = "type=message", .prompt = droid_prompt, .untyped = MESSAGE_TOOL, .put = droid_put },
    { "assistant", MESSAGE_ASSISTANT, .when = "type=message", .put = droid_put },
    { NULL, MESSAGE_SYSTEM, .when = "type=message", .put = droid_put },
    { NULL, MESSAGE_OTHER, .when = "type=session_start", .facts = { ROW_FACT(title, "title"), ROW_FACT(cwd, "cwd"), ROW_FACT(parent, "parent") } },
};
/* clang-format on */
static const struct row_table droid_table = { .kind = droid_rows,
                                              .n = sizeof droid_rows / sizeof *droid_rows };

/* Sub-agents have logs of their own, whose titles begin so. */
static void droid_complete(const struct scope *scope, struct slice settings,
                           struct session_row *row, struct arena *a)
{
    (void)scope, (void)settings, (void)a;
    row->flags |= SESSION_AI_TITLE;
    if (!row->hidden && slice_starts(row->custom_title, "# Task Tool Invocation"))
        row->hidden = HIDDEN_SIDECHAIN;
}

static const struct session_about droid_about = {
    .suffix = ".settings.json",
    .most = 1 << 20,
    .member = { ABOUT(model, "model") },
    .needs_prompt = true,
    .complete = droid_complete,
    .input = "tokenUsage.inputTokens",
    .output = "tokenUsage.outputTokens",
    .thinking = "tokenUsage.thinkingTokens",
    .cache_read = "tokenUsage.cacheReadTokens",
    .cache_write = "tokenUsage.cacheCreationTokens",
    .model = "model",
};

static bool droid_is_id(struct slice id)
{
    return slice_is_of(id, "0123456789abcdef-") && id.n >= 32 && id.n <= 36;
}

/* Only slashes are replaced. It is not certain that all versions did so; the first line of a session contains its
 * directory. */
static struct slice droid_folder_of(struct slice directory, struct arena *a)
{
    char *name = arena_format(a, "%.*s", SLICE_ARG(directory));

    for (char *c = name; c && *c; c++)
        if (*c == '/')
            *c = '-';
    return name ? slice_of(name) : (struct slice){ NULL, 0 };
}

static const char *const droid_inside[] = { "", NULL };
static const struct project_logs droid_logs = { .folder_of = droid_folder_of,
                                                .inside = droid_inside,
                                                .vague = true };

static const struct jsonl_format droid_format = { .keys = &droid_keys,
                                                  .rows = &droid_table,
                                                  .about = &droid_about,
                                                  .prompt_needle = "\"user\"",
                                                  .title_needle = "\"session_start\"",
                                                  .is_id = droid_is_id,
                                                  .id_name = "a Droid session id",
                                                  .logs = &droid_logs,
                                                  .home = ".factory" };

static enum err_code droid_open(const struct store_env *env, const char *path, struct store **out,
                                struct err *e)
{
    return jsonl_store_open(&droid_ops, &droid_format, env, path, "sessions", out, e);
}

static char *droid_hooks_path(const struct store_env *env)
{
    return config_dir_file(jsonl_usual_path(&droid_format, env), "settings.json");
}

/* From https://docs.factory.ai: the form and the members are those of Claude Code. Where there is a hooks.json, whose form
 * differs, the hooks of settings.json are not read. */
static const struct agent_hooks droid_hooks = {
    .form = HOOK_NESTED,
    .path = droid_hooks_path,
    .comments = true,
    .documented = true,
    .event = { [HOOK_PROMPT] = "UserPromptSubmit", [HOOK_END] = "Stop" },
    .timeout = 5,
    .hidden_by = "hooks.json",
    .session = "session_id",
    .prompt = "prompt",
    .cwd = "cwd",
};

const struct store_ops droid_ops = {
    .name = "droid",
    .label = "Factory Droid",
    .folders = "sessions",
    .resume_command = "droid --resume {id}",
    .fork_command = "droid --fork {id}",
    .hooks = &droid_hooks,
    PROJECT_LOGS_OPS,
    .folder_of = project_logs_folder_of,
    .set_directory = project_logs_set_directory,
    .place = project_logs_place,
    .check = jsonl_check,
    .log_rules = &log_rules_unknown,
    .files = jsonl_files,
    .open = droid_open,
    .close = jsonl_store_close,
    .messages = block_messages,
    .usage = session_about_usage,
    .edits = tool_edits_logged,
    .why = {
        [ABILITY_RENAME] = "Droid writes the titles of its sessions itself",
        [ABILITY_NAME_FORK] = "Droid writes the titles of its sessions itself",
        [ABILITY_TAG] = "Droid sessions have no tags",
        [ABILITY_ARCHIVE] = "archive it in Droid",
        [ABILITY_DELETE] = "delete it in Droid, which may have it open",
        [ABILITY_FORK] = "Droid forks itself: droid --fork ID",
        [ABILITY_RESUME_AT] = "Droid continues after the last message",
        [ABILITY_REWIND] = "Droid is not known to keep copies of files",
        [ABILITY_TOMBSTONE] = "a Droid log is the only copy of its messages",
        [ABILITY_REAPPEND] = "Droid keeps its metadata in the first line of a log",
        [ABILITY_RETRIEVE] = "Droid's logs are already where it looks for them",
        [ABILITY_HAVE_AGENTS] = "no link from a sub-agent to its session is known in Droid's logs",
        [ABILITY_HAVE_BRANCHES] = "Droid logs are not known to have branches",
        [ABILITY_SET] = "Droid sessions have no settings that other programs may write",
    },
};
