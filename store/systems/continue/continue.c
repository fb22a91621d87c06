#include <fcntl.h>
#include <string.h>

#include "lite/base/cleanup.h"
#include "lite/io/file.h"
#include "lite/json/json.h"
#include "store/systems/common/document.h"
#include "store/systems/common/edits/tool_edits.h"
#include "store/systems/common/row_table.h"
#include "store/systems/common/session_about.h"
#include "store/systems/common/usage_rows.h"
#include "store/systems/continue/continue.h"

/* The sessions of Continue's CLI, `cn` (docs/formats/continue.md): its path is $CONTINUE_GLOBAL_DIR or ~/.continue, with
 *
 *   sessions/<id>.json        the session as one document: title, directory, and the list `history`
 *   sessions/sessions.json    the agent's own list
 *
 * An element of `history` is a message without a time; the calls of an answer contain their results. Only read. */

enum { ID_MOST = 128 };

static const char suffix[] = ".json";
static const char *const cn_roles[] = { "user", "assistant", "tool", "thinking", NULL };
static const struct index_keys cn_keys = { .type = "role", .inner = "message", .kinds = cn_roles };
static const struct document_format cn_document = { .list = "history", .members = true };

struct slice cn_output(struct slice call, struct arena *a)
{
    struct slice part, text, all = SLICE("");
    struct json_iter it;

    json_list_open(&it, call, "output");
    while (json_list_next(&it, &part))
        if (json_get_text(part, "content", a, &text))
            all = arena_join(a, all, "\n", text);
    return all;
}

static void cn_put_summary(struct block_list *b, struct slice row)
{
    transcript_block_put_compaction(b, json_text_at(row, "conversationSummary", &b->arena));
}

/* Extensions of editors keep their sessions in the same folder and name the directory by its URI. */
static void cn_read_members(struct slice row, struct arena *a, struct jsonl_row_facts *out)
{
    static const char scheme[] = "file://";
    const size_t n = sizeof scheme - 1;

    (void)row, (void)a;
    if (slice_starts(out->cwd, scheme))
        out->cwd = (struct slice){ out->cwd.p + n, out->cwd.n - n };
    if (slice_eq(out->title, SLICE("Untitled Session")) ||
        slice_eq(out->title, SLICE("New Session")))
        out->title = SLICE("");
}

/* clang-format off */
static const struct row_kind cn_rows[] = {
    { NULL, MESSAGE_OTHER, .when = "workspaceDirectory:text", .read = cn_read_members, /* the document itself */
      .facts = { ROW_FACT(title, "title"), ROW_FACT(cwd, "workspaceDirectory") } },
    { NULL, MESSAGE_SYSTEM, MESSAGE_SEAM, .when = "conversationSummary:text", .put = cn_put_summary },
    { "user", MESSAGE_USER,
      .blocks = { { .kind = BLOCK_PROMPT, .text = "message.content" }, { BLOCK_NOTE, "content", .each = "contextItems" },
                  { BLOCK_IMAGE, .each = "message.content", .when = "type=imageUrl" } } },
    { "assistant", MESSAGE_ASSISTANT,
      .blocks = { { .kind = BLOCK_TEXT, .text = "message.content" },
                  { BLOCK_TOOL_CALL, .each = "toolCallStates", .call = "toolCallId", .name = "toolCall.function.name",
                    .arguments = "toolCall.function.arguments" },
                  { BLOCK_TOOL_RESULT, .each = "toolCallStates", .when = "output:any", .call = "toolCallId",
                    .read = cn_output, .failed = "status=errored" } },
      .facts = { ROW_FACT(model, "message.usage.model") } },
    { "thinking", MESSAGE_ASSISTANT, .blocks = { { .kind = BLOCK_THINKING, .text = "message.content" } } },
    { "tool", MESSAGE_TOOL, .blocks = { { BLOCK_TOOL_RESULT, "message.content", .call = "message.toolCallId" } } },
    { NULL, MESSAGE_SYSTEM, .blocks = { { .kind = BLOCK_NOTE, .text = "message.content" } } },
};
static const struct row_table cn_table = { .kind = cn_rows,
                                                 .n = sizeof cn_rows / sizeof *cn_rows };
/* clang-format on */

static const struct session_about cn_about = { .most = 0 };

static bool cn_is_id(struct slice id)
{
    return slice_is_of(id, JSONL_ID_CHARACTERS) && id.n > 0 && id.n <= ID_MOST && id.p[0] != '-' &&
           !slice_eq(id, SLICE("sessions"));
}

static bool cn_name_id(const char *name, struct slice *id)
{
    size_t n = strlen(name), k = sizeof suffix - 1;

    *id = (struct slice){ name, n > k ? n - k : 0 };
    return n > k && strcmp(name + n - k, suffix) == 0 && cn_is_id(*id);
}

/* All projects share one folder. */
static struct slice cn_folder_of(struct slice directory, struct arena *a)
{
    (void)directory, (void)a;
    return SLICE("");
}

static const char *const cn_inside[] = { NULL };
static const struct project_logs cn_logs = { .folder_of = cn_folder_of,
                                             .inside = cn_inside,
                                             .name_id = cn_name_id };
static const struct jsonl_format cn_format = { .keys = &cn_keys,
                                               .document = &cn_document,
                                               .rows = &cn_table,
                                               .about = &cn_about,
                                               .prompt_needle = "\"user\"",
                                               .title_needle = "\"workspaceDirectory\"",
                                               .is_id = cn_is_id,
                                               .id_name = "a Continue session id",
                                               .logs = &cn_logs,
                                               .variable = "CONTINUE_GLOBAL_DIR",
                                               .home = ".continue",
                                               .needs_folder = true };

static enum err_code cn_open(const struct store_env *env, const char *path, struct store **out,
                             struct err *e)
{
    return jsonl_store_open(&continue_ops, &cn_format, env, path, "sessions", out, e);
}

/* ---- tokens: the sums of the session, which neither contain what a fork copied nor lose what a compaction removed ---- */

static enum err_code cn_usage(const struct store *st, const struct session_ref *ref,
                              const atomic_bool *cancel, usage_fn *fn, void *arg, struct err *e)
{
    struct usage_record u = usage_record_empty();
    AUTO_ARENA a = { 0 };
    AUTO_BUF text = { 0 };
    struct slice document, usage;

    (void)st, (void)cancel;
    TRY(file_read_all(AT_FDCWD, ref->path.p, 0, DOCUMENT_MOST, &text, e));
    document = buf_slice(&text);
    if (!json_valid(document) || !json_get(document, "usage", &usage) ||
        json_type(usage) != JSON_OBJECT)
        return ERR_OK;
    u.answer = u.request = ref->id;
    u.model = json_text_at(document, "chatModelTitle", &a);
    u.output = usage_count(usage, "completionTokens");
    u.cache_read = usage_count(usage, "promptTokensDetails.cachedTokens");
    u.cache_write = usage_count(usage, "promptTokensDetails.cacheWriteTokens");
    u.input = usage_count(usage, "promptTokens");
    u.input -= u.cache_read < u.input ? u.cache_read : u.input;
    u.cost = usage_cost(usage, "totalCost");
    u.time_ms = session_modified_ms(&ref->file);
    return a.failed ? err_nomem(e) : fn(&u, arg, e);
}

const struct store_ops continue_ops = {
    .name = "continue",
    .label = "Continue CLI",
    .folders = "sessions",
    .resume_command = "cn --fork {id}",
    .fork_command = "cn --fork {id}",
    PROJECT_LOGS_OPS,
    .messages = block_messages,
    .files = jsonl_files,
    .open = cn_open,
    .close = jsonl_store_close,
    .agent_variable = jsonl_agent_variable,
    .usage = cn_usage,
    .checkpoints = cn_checkpoints,
    .plan = cn_plan,
    .edits = tool_edits_loaded,
    .check = document_check,
    .one_document = true,
    .no_hooks = "no hooks of Continue's CLI are documented",
    .why = {
        [ABILITY_RENAME] = "rename it in Continue: /title",
        [ABILITY_NAME_FORK] = "rename it in Continue: /title",
        [ABILITY_TAG] = "Continue sessions have no tags",
        [ABILITY_ARCHIVE] = "Continue sessions cannot be archived",
        [ABILITY_DELETE] = "Continue keeps its sessions in an index, too, which only it writes",
        [ABILITY_FORK] = "Continue forks itself: cn --fork ID",
        [ABILITY_RESUME_AT] = "Continue goes on after the last message",
        [ABILITY_TOMBSTONE] = "a Continue document is the only copy of its messages",
        [ABILITY_MOVE] = "Continue opens only its last session, wherever that was",
        [ABILITY_REAPPEND] = "Continue keeps its titles in the documents",
        [ABILITY_RETRIEVE] = "Continue's documents are already where it looks for them",
        [ABILITY_HAVE_AGENTS] = "Continue does not record what its sub-agents do",
        [ABILITY_HAVE_BRANCHES] = "Continue sessions have no branches",
        [ABILITY_SET] = "Continue sessions have no settings",
    },
};
