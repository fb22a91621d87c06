#include "lite/json/json.h"
#include "store/systems/common/edits/tool_edits.h"
#include "store/systems/common/row_table.h"
#include "store/systems/common/usage_rows.h"
#include "store/systems/qwen/qwen.h"

/* The records of a log. Each has a uuid and the uuid of the record before it; telemetry and snapshots of the file
 * history are links of this chain like messages, and are not shown. */

static const char *const kinds[] = { "user", "assistant", "tool_result", "system", NULL };
const struct index_keys qwen_keys = {
    .type = "type", .id = "uuid", .parent = "parentUuid", .time = "timestamp", .kinds = kinds
};

bool qwen_parts(struct slice row, struct json_iter *parts)
{
    struct slice message, list;

    return json_get(row, "message", &message) && json_get(message, "parts", &list) &&
           json_type(list) == JSON_ARRAY && json_iter_open(parts, list);
}

struct slice qwen_subtype(struct slice row, struct arena *a)
{
    struct slice text = { NULL, 0 };

    json_get_text(row, "subtype", a, &text);
    return text;
}

/* ---- prompts ---- */

/* Older versions do not record who wrote a row; then all rows of the user except those of
 * sub-agents are taken as typed. A person may also write while the agent works. */
static bool qwen_is_typed(struct slice row)
{
    struct slice provenance, subtype;

    return json_get_is(row, "type", "user") &&
           (!json_get(row, "subtype", &subtype) ||
            json_string_is(subtype, "mid_turn_user_message")) &&
           (!json_get(row, "provenance", &provenance) || json_string_is(provenance, "real_user"));
}

/* The text of the message's parts; the contents of files that the prompt names follow it as
 * separate parts. */
static struct slice qwen_text_of(struct slice row, struct arena *a)
{
    struct slice key, part, text, all = { NULL, 0 };
    struct json_iter parts;

    if (!qwen_parts(row, &parts))
        return all;
    while (json_iter_next(&parts, &key, &part)) {
        if (!json_get_text(part, "text", a, &text) || json_get_true(part, "thought"))
            continue;
        if (all.n && slice_has(text, "--- Content from referenced files ---"))
            break;
        all = arena_join(a, all, "\n", text);
    }
    return all;
}

struct slice qwen_prompt(struct slice row, struct arena *a)
{
    return qwen_is_typed(row) ? qwen_text_of(row, a) : (struct slice){ NULL, 0 };
}

/* What a tool printed, its error, or another answer as JSON. */
static struct slice qwen_result(struct slice part, struct arena *a)
{
    struct slice response = { NULL, 0 }, text;

    if (json_at(part, "functionResponse.response", &response) &&
        (json_get_text(response, "error", a, &text) || json_get_text(response, "output", a, &text)))
        return text;
    return response;
}

static struct slice qwen_payload(struct slice row, struct arena *a)
{
    struct slice payload = { NULL, 0 };

    (void)a;
    json_get(row, "systemPayload", &payload);
    return payload;
}

/* clang-format off */
#define QWEN_DATA(member) "inlineData." member "|fileData." member
#define QWEN_PARTS(spoken)                                                                                  \
    { BLOCK_TOOL_CALL, .when = "functionCall:any", .call = "functionCall.id", .name = "functionCall.name",  \
      .input = "functionCall.args" },                                                                       \
    { BLOCK_TOOL_RESULT, .when = "functionResponse:any", .call = "functionResponse.id",                     \
      .name = "functionResponse.name", .read = qwen_result,                                                 \
      .failed = "functionResponse.response.error:text" },                                                   \
    { BLOCK_IMAGE, .when = QWEN_DATA("mimeType") "^=image/", .name = QWEN_DATA("mimeType"),                 \
      .base64 = QWEN_DATA("data") },                                                                        \
    { BLOCK_DOCUMENT, .when = "inlineData|fileData:any", .name = QWEN_DATA("mimeType"),                     \
      .base64 = QWEN_DATA("data"), .empty = true },                                                         \
    { BLOCK_THINKING, "text", .when = "text:text&thought" }, { spoken, "text", .when = "text:text" },       \
    ROW_BLOCKS_END
static const struct row_block qwen_spoken[] = { QWEN_PARTS(BLOCK_TEXT) };
static const struct row_block qwen_notes[] = { QWEN_PARTS(BLOCK_NOTE) };

#define QWEN_SPEAKS(parts_) .blocks = { { .each = "message.parts", .parts = parts_ } }
#define QWEN_NOTE .blocks = { { BLOCK_NOTE, .name = "subtype", .read = qwen_payload, .empty = true } }
static const struct row_kind qwen_rows[] = {
    { "user", MESSAGE_USER, .fits = qwen_is_typed, .prompt = qwen_text_of, .untyped = MESSAGE_USER,
      .blocks = { { BLOCK_PROMPT, .read = qwen_text_of },
                  { .each = "message.parts", .when = "text:none", .parts = qwen_notes } } },
    { "user", MESSAGE_USER, MESSAGE_META, QWEN_SPEAKS(qwen_notes) },
    { "assistant", MESSAGE_ASSISTANT, QWEN_SPEAKS(qwen_spoken) },
    { "tool_result", MESSAGE_TOOL, QWEN_SPEAKS(qwen_notes) },
    { "system", MESSAGE_SYSTEM, MESSAGE_SEAM, .when = "subtype=chat_compression", .put = row_put_compaction },
    { "system", MESSAGE_SYSTEM, .when = "subtype=slash_command", QWEN_NOTE },
    { "system", MESSAGE_SYSTEM, .when = "subtype=notification", QWEN_NOTE },
    { "system", MESSAGE_OTHER, .when = "subtype=custom_title", QWEN_NOTE,
      .facts = { ROW_FACT(title, "systemPayload.customTitle") } },
    { "system", MESSAGE_OTHER, QWEN_NOTE },
    { NULL, MESSAGE_OTHER, .shown = true, .when = "type:none", .blocks = { { BLOCK_RAW, .read = row_whole } } },
    { NULL, MESSAGE_OTHER, .shown = true, QWEN_SPEAKS(qwen_notes) },
};
static const struct row_table qwen_table = {
    .kind = qwen_rows,
    .n = sizeof qwen_rows / sizeof *qwen_rows,
    .facts = { ROW_FACT(entry, "uuid"), ROW_FACT(after, "parentUuid"), ROW_FACT(cwd, "cwd"),
               ROW_FACT(git_branch, "gitBranch"), ROW_FACT(model, "model"),
               ROW_FACT(parent, "forkedFrom.sessionId") },
    .otherwise = row_blank,
};
/* clang-format on */

static enum err_code qwen_complete_row(const struct store *st, const struct scope *scope,
                                       struct session_row *row, struct arena *a, struct err *e)
{
    (void)st, (void)a, (void)e;
    if (row->hidden)
        return ERR_OK;
    row->can = CAN_RESUME | CAN_REWIND;
    if (project_logs_collides(scope, row->cwd))
        row->hidden = HIDDEN_COLLISION;
    else if (row->created_ms == TIME_NONE && !row->custom_title.n && !row->first_prompt.n)
        row->hidden = HIDDEN_EMPTY; /* Qwen lists whatever has a row: "(empty prompt)" */
    if (slice_has(row->ref.path, "/chats/archive/"))
        row->flags |= SESSION_ARCHIVED | SESSION_ARCHIVED_KNOWN;
    return ERR_OK;
}

static bool qwen_read_message(struct slice row, struct arena *a, struct jsonl_message *out)
{
    struct slice type;

    if (!json_get(row, "type", &type))
        return false;
    out->type = json_string_is(type, "user")          ? "user"
                : json_string_is(type, "assistant")   ? "assistant"
                : json_string_is(type, "tool_result") ? "tool"
                                                      : "system";
    out->is_system = json_string_is(type, "system");
    json_get_text(row, "uuid", a, &out->uuid);
    json_get_text(row, "timestamp", a, &out->timestamp);
    json_get(row, out->is_system ? "systemPayload" : "message", &out->message);
    if (!out->message.n)
        out->message = SLICE("null");
    return true;
}

static bool qwen_is_id(struct slice id)
{
    return slice_is_of(id, "0123456789abcdefABCDEF-") && id.n >= 32 && id.n <= 36;
}

const struct jsonl_format qwen_format = { .keys = &qwen_keys,
                                          .rows = &qwen_table,
                                          .choose = jsonl_choose_path,
                                          .prompt_needle = "\"user\"",
                                          .branches = true,
                                          .title_needle = "\"custom_title\"",
                                          .complete = qwen_complete_row,
                                          .message = qwen_read_message,
                                          .is_id = qwen_is_id,
                                          .id_name = "a Qwen Code session id",
                                          .logs = &qwen_logs,
                                          .variable = "QWEN_RUNTIME_DIR",
                                          .usual = qwen_usual_path,
                                          .size = sizeof(struct qwen) };

/* The tokens of each answer, and the edits with the whole texts that their results record. */

/* A fork keeps the ids of its rows, so an answer is counted once. */
static bool qwen_read_usage(struct slice row, struct arena *a, struct usage_record *u)
{
    struct slice usage, forked;

    *u = usage_record_empty();
    if (!json_valid(row) || !json_get(row, "usageMetadata", &usage) ||
        json_type(usage) != JSON_OBJECT || !json_get_text(row, "uuid", a, &u->answer))
        return false;

    /* Whether candidatesTokenCount includes the tokens of the thinking depends on the model's
     * vendor; the total shows it. */
    int64_t prompt = usage_count(usage, "promptTokenCount"),
            total = usage_count(usage, "totalTokenCount");

    u->cache_read = usage_count(usage, "cachedContentTokenCount");
    u->input = prompt > u->cache_read ? prompt - u->cache_read : 0;
    u->output = total > prompt ? total - prompt
                               : usage_count(usage, "candidatesTokenCount") +
                                     usage_count(usage, "thoughtsTokenCount");

    u->time_ms = json_time_at(row, "timestamp", a);
    json_get_text(row, "model", a, &u->model);
    u->request = u->message = u->answer;
    u->copied = json_get(row, "forkedFrom", &forked) && json_type(forked) == JSON_OBJECT;
    return true;
}

static enum err_code qwen_walk_agent(const char *path, struct slice id, void *arg, struct err *e)
{
    return usage_walk_file(arg, path, 0, id, e);
}

enum err_code qwen_usage(const struct store *st, const struct session_ref *ref,
                         const atomic_bool *cancel, usage_fn *fn, void *arg, struct err *e)
{
    struct usage_walk w = {
        .read = qwen_read_usage, .mark = "\"usageMetadata\"", .cancel = cancel, .fn = fn, .arg = arg
    };

    (void)st;
    TRY(usage_walk_file(&w, ref->path.p, 0, SLICE(""), e));
    return qwen_each_subagent(ref, qwen_walk_agent, &w, e);
}

/* ---- edits ---- */

static void qwen_fill(struct slice row, struct arena *a, struct edit *edit, bool *counts)
{
    struct slice result, text, v;

    (void)counts;
    edit->copied = json_get(row, "forkedFrom", &v) && json_type(v) == JSON_OBJECT;
    if (!json_at(row, "toolCallResult.resultDisplay", &result) ||
        json_type(result) != JSON_OBJECT || edit->kind == EDIT_RENAME || edit->kind == EDIT_DELETE)
        return;
    if (json_get_true(result, "originalContentTruncated") ||
        json_get_true(result, "newContentTruncated"))
        return; /* the file is large: what the call replaced is known */
    if (json_get_text(result, "originalContent", a, &text)) {
        edit->before = text;
        edit->before_known = EDIT_TEXT;
    }
    if (json_get_text(result, "newContent", a, &text)) {
        edit->after = text;
        edit->after_known = EDIT_TEXT;
    }
}

enum err_code qwen_edits(const struct store *st, const struct session_ref *ref,
                         const struct edit_query *q, edit_fn *fn, void *arg, struct err *e)
{
    (void)st;
    return tool_edits_files(&qwen_ops, ref, q, qwen_fill, fn, arg, e);
}
