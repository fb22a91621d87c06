#include "store/api/host.h"
#include "store/systems/common/edits/tool_edits.h"
#include "store/systems/common/row_table.h"
#include "store/systems/common/session_about.h"
#include "store/systems/common/session_dirs.h"

/* A made-up agent, the example of docs/adding-an-agent.md. Its path is $TINY_HOME or ~/.tiny, with
 *
 *   sessions/<id>/log.jsonl     one message per line:
 *
 *       {"at": "2026-02-09T02:48:28Z", "id": "1", "by": "user", "text": "Mend the gate"}
 *       {"at": ..., "id": "2", "by": "agent", "thoughts": "A hinge.", "text": "I mend it.",
 *        "calls": [{"id": "c1", "tool": "write_file", "input": {"path": "gate.txt", "content": "mended"}}]}
 *       {"at": ..., "id": "3", "by": "tool", "call": "c1", "text": "error: the disk is full"}
 *
 *   sessions/<id>/about.json    {"title", "directory", "model", "tokens": {"in", "out"}}
 *
 * Only read. */

extern const struct store_ops tiny_ops;

static const char *const tiny_roles[] = { "user", "agent", "tool", NULL };
static const struct index_keys tiny_keys = {
    .type = "by", .id = "id", .time = "at", .kinds = tiny_roles
};

/* clang-format off */
static const struct row_kind tiny_rows[] = {
    { "user", MESSAGE_USER, .blocks = { { .kind = BLOCK_PROMPT, .text = "text" } } },
    { "agent", MESSAGE_ASSISTANT,
      .blocks = { { .kind = BLOCK_THINKING, .text = "thoughts" }, { .kind = BLOCK_TEXT, .text = "text" },
                  { BLOCK_TOOL_CALL, .each = "calls", .call = "id", .name = "tool", .input = "input" } } },
    { "tool", MESSAGE_TOOL,
      .blocks = { { BLOCK_TOOL_RESULT, "text", .call = "call", .failures = { "error: " } } } },
};
/* clang-format on */
static const struct row_table tiny_table = { .kind = tiny_rows,
                                             .n = sizeof tiny_rows / sizeof *tiny_rows };

static const struct session_about tiny_about = {
    .file = "about.json",
    .most = 64 << 10,
    .member = { ABOUT(custom_title, "title"), ABOUT(cwd, "directory"), ABOUT(model, "model") },
    .input = "tokens.in",
    .output = "tokens.out",
    .model = "model",
};

static const struct session_dirs tiny_dirs = { .log = "/log.jsonl" };

static const struct jsonl_format tiny_format = { .keys = &tiny_keys,
                                                 .rows = &tiny_table,
                                                 .about = &tiny_about,
                                                 .dirs = &tiny_dirs,
                                                 .prompt_needle = "\"user\"",
                                                 .is_id = host_id_is_plain,
                                                 .id_name = "a Tiny session id",
                                                 .variable = "TINY_HOME",
                                                 .home = ".tiny" };

static enum err_code tiny_open(const struct store_env *env, const char *path, struct store **out,
                               struct err *e)
{
    return jsonl_store_open(&tiny_ops, &tiny_format, env, path, "sessions", out, e);
}

const struct store_ops tiny_ops = {
    .name = "tiny",
    .label = "Tiny",
    .folders = "sessions",
    .resume_command = "tiny --resume {id}",
    SESSION_DIRS_OPS,
    .open = tiny_open,
    .agent_variable = jsonl_agent_variable,
    .usage = session_about_usage,
    .edits = tool_edits_logged,
    .why = {
        [ABILITY_RENAME] = "Tiny writes its titles itself",
        [ABILITY_TAG] = "Tiny sessions have no tags",
        [ABILITY_ARCHIVE] = "Tiny sessions cannot be archived",
        [ABILITY_DELETE] = "delete it in Tiny, which may have it open",
        [ABILITY_FORK] = "Tiny cannot fork a session",
        [ABILITY_RESUME_AT] = "Tiny continues after the last message",
        [ABILITY_REWIND] = "Tiny keeps no copies of files",
        [ABILITY_HAVE_AGENTS] = "Tiny has no sub-agents",
    },
};
