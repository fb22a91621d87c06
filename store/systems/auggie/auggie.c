#include <fcntl.h>
#include <string.h>

#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "lite/io/file.h"
#include "lite/json/json.h"
#include "store/systems/common/document.h"
#include "store/systems/common/edits/tool_edits.h"
#include "store/systems/common/row_table.h"
#include "store/systems/common/session_about.h"
#include "store/systems/common/usage_rows.h"

/* The sessions of Augment's CLI, `auggie` (docs/formats/auggie.md): its path is ~/.augment, with
 *
 *   sessions/<id>.json              the session as one document: titles, and the list `chatHistory`
 *   sessions/<id>-backup<n>.json    what the agent kept of it before it rewrote the history
 *
 * An element of `chatHistory` is an exchange: a request, which is a prompt or results of tools, and its answer. Only
 * read. */

extern const struct store_ops auggie_ops;

static const char suffix[] = ".json";
static const char *const auggie_parts[] = { "asked", "answered", NULL };
static const struct index_keys auggie_keys = { .type = "part",
                                               .time = "finishedAt",
                                               .kinds = auggie_parts };
static const struct document_format auggie_document = { .list = "chatHistory",
                                                        .members = true,
                                                        .parts = auggie_parts };

/* The directory is in the state of the editor that goes with a prompt. */
static void auggie_read_request(struct slice row, struct arena *a, struct jsonl_row_facts *out)
{
    struct slice node, folder;
    struct json_iter nodes, folders;

    if (out->placed)
        return;
    json_list_open(&nodes, row, "exchange.request_nodes");
    while (!out->cwd.n && json_list_next(&nodes, &node)) {
        json_list_open(&folders, node, "ide_state_node.workspace_folders");
        if (json_list_next(&folders, &folder) &&
            !json_get_text(folder, "repository_root", a, &out->cwd))
            json_get_text(folder, "folder_root", a, &out->cwd);
    }
}

/* clang-format off */
static const struct row_kind auggie_rows[] = {
    { NULL, MESSAGE_OTHER, .when = "sessionId:text", /* the document itself */
      .facts = { ROW_FACT(title, "customTitle|title"), ROW_FACT(parent, "parentConversationId") } },
    { "asked", MESSAGE_SYSTEM, MESSAGE_SEAM, .when = "isHistorySummary", .put = row_put_compaction },
    { "asked", MESSAGE_USER, .untyped = MESSAGE_TOOL, .read = auggie_read_request,
      .blocks = { { BLOCK_PROMPT, .text = "exchange.request_message" },
                  { BLOCK_TOOL_RESULT, "tool_result_node.content", .each = "exchange.request_nodes",
                    .when = "tool_result_node:any", .call = "tool_result_node.tool_use_id",
                    .failed = "tool_result_node.is_error" } } },
    { "answered", MESSAGE_ASSISTANT,
      .blocks = { { BLOCK_THINKING, "thinking.content|thinking.summary", .each = "exchange.response_nodes", .when = "thinking:any" },
                  { BLOCK_TEXT, .text = "exchange.response_text" },
                  { BLOCK_TOOL_CALL, .each = "exchange.response_nodes", .when = "tool_use:any", .call = "tool_use.tool_use_id",
                    .name = "tool_use.tool_name", .arguments = "tool_use.input_json" } },
      .facts = { ROW_FACT(model, "exchange.model_id") } },
};
static const struct row_table auggie_table = { .kind = auggie_rows, .n = sizeof auggie_rows / sizeof *auggie_rows };
/* clang-format on */

/* The conversations of sub-agents name the one that they work for, and the agent's list has none of them. */
static void auggie_complete(const struct scope *scope, struct slice document,
                            struct session_row *row, struct arena *a)
{
    (void)scope, (void)document, (void)a;
    if (!row->hidden && row->parent_id.n)
        row->hidden = HIDDEN_SIDECHAIN;
}

static const struct session_about auggie_about = { .needs_prompt = true,
                                                   .complete = auggie_complete };

static bool auggie_is_id(struct slice id)
{
    enum { ID_MOST = 128 };

    return slice_is_of(id, JSONL_ID_CHARACTERS) && id.n > 0 && id.n <= ID_MOST && id.p[0] != '-' &&
           !slice_has(id, "-backup");
}

static bool auggie_name_id(const char *name, struct slice *id)
{
    size_t n = strlen(name), k = sizeof suffix - 1;

    *id = (struct slice){ name, n > k ? n - k : 0 };
    return n > k && strcmp(name + n - k, suffix) == 0 && auggie_is_id(*id);
}

/* All projects share one folder. */
static struct slice auggie_folder_of(struct slice directory, struct arena *a)
{
    (void)directory, (void)a;
    return SLICE("");
}

static const char *const auggie_inside[] = { NULL };
static const struct project_logs auggie_logs = { .folder_of = auggie_folder_of,
                                                 .inside = auggie_inside,
                                                 .name_id = auggie_name_id };
static const struct jsonl_format auggie_format = { .keys = &auggie_keys,
                                                   .document = &auggie_document,
                                                   .rows = &auggie_table,
                                                   .about = &auggie_about,
                                                   .prompt_needle = "\"asked\"",
                                                   .title_needle = "\"sessionId\"",
                                                   .is_id = auggie_is_id,
                                                   .id_name = "an Auggie session id",
                                                   .logs = &auggie_logs,
                                                   .home = ".augment",
                                                   .needs_folder = true };

static enum err_code auggie_open(const struct store_env *env, const char *path, struct store **out,
                                 struct err *e)
{
    return jsonl_store_open(&auggie_ops, &auggie_format, env, path, "sessions", out, e);
}

/* ---- tokens: those of each exchange ---- */

static bool auggie_read_counts(struct slice exchange, struct arena *a, struct usage_record *u)
{
    struct slice node, counts;
    struct json_iter it;
    bool any = false;

    *u = usage_record_empty();
    u->answer = json_text_at(exchange, "exchange.request_id", a);
    json_list_open(&it, exchange, "exchange.response_nodes");
    while (json_list_next(&it, &node)) {
        if (!json_get(node, "token_usage", &counts) || json_type(counts) != JSON_OBJECT)
            continue;
        any = true;
        u->input += usage_count(counts, "input_tokens");
        u->output += usage_count(counts, "output_tokens");
        u->cache_read += usage_count(counts, "cache_read_input_tokens");
        u->cache_write += usage_count(counts, "cache_creation_input_tokens");
    }
    u->request = u->message = u->answer;
    u->model = json_text_at(exchange, "exchange.model_id", a);
    u->time_ms = json_time_at(exchange, "finishedAt", a);
    return any && u->answer.n;
}

static enum err_code auggie_usage(const struct store *st, const struct session_ref *ref,
                                  const atomic_bool *cancel, usage_fn *fn, void *arg, struct err *e)
{
    struct usage_record u;
    AUTO_ARENA a = { 0 };
    AUTO_BUF text = { 0 };
    struct slice exchange;
    struct json_iter it;

    (void)st, (void)cancel;
    TRY(file_read_all(AT_FDCWD, ref->path.p, 0, DOCUMENT_MOST, &text, e));
    if (!json_valid(buf_slice(&text)))
        return ERR_OK;
    json_list_open(&it, buf_slice(&text), "chatHistory");
    while (json_list_next(&it, &exchange)) {
        if (auggie_read_counts(exchange, &a, &u))
            TRY(fn(&u, arg, e));
        if (a.failed)
            return err_nomem(e);
        arena_reset(&a);
    }
    return ERR_OK;
}

const struct store_ops auggie_ops = {
    .name = "auggie",
    .label = "Auggie",
    .folders = "sessions",
    .resume_command = "auggie --resume {id}",
    PROJECT_LOGS_OPS,
    .messages = block_messages,
    .files = jsonl_files,
    .open = auggie_open,
    .close = jsonl_store_close,
    .usage = auggie_usage,
    .edits = tool_edits_loaded,
    .check = document_check,
    .one_document = true,
    .why = {
        [ABILITY_RENAME] = "rename it in Auggie: /rename",
        [ABILITY_NAME_FORK] = "rename it in Auggie: /rename",
        [ABILITY_TAG] = "Auggie sessions have no tags",
        [ABILITY_ARCHIVE] = "Auggie sessions cannot be archived",
        [ABILITY_DELETE] = "delete it in Auggie: auggie session delete",
        [ABILITY_FORK] = "Auggie forks a session only on its screen: /fork",
        [ABILITY_RESUME_AT] = "Auggie goes on after the last exchange",
        [ABILITY_REWIND] = "Auggie keeps no copies of files",
        [ABILITY_TOMBSTONE] = "an Auggie document is the only copy of its messages",
        [ABILITY_MOVE] = "Auggie resumes it by its id",
        [ABILITY_REAPPEND] = "Auggie keeps its titles in the documents",
        [ABILITY_RETRIEVE] = "Auggie's documents are already where it looks for them",
        [ABILITY_HAVE_AGENTS] = "Auggie's sub-agents have sessions of their own",
        [ABILITY_HAVE_BRANCHES] = "Auggie sessions have no branches",
        [ABILITY_SET] = "Auggie sessions have no settings",
    },
};
