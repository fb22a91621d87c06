#include "lite/json/json.h"
#include "store/systems/common/edits/tool_edits.h"
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

/* ---- for lists ---- */

static void qwen_read_title(struct slice row, struct arena *a, struct jsonl_row_facts *out)
{
    struct slice payload;

    out->names = slice_eq(qwen_subtype(row, a), SLICE("custom_title")) &&
                 json_get(row, "systemPayload", &payload) &&
                 json_get_text(payload, "customTitle", a, &out->title);
}

static enum err_code qwen_read_row_facts(struct slice row, struct arena *a,
                                         struct jsonl_row_facts *out)
{
    struct slice type;

    if (!json_valid(row) || !json_get(row, "type", &type))
        return ERR_FORMAT;
    out->time_ms = json_time_at(row, "timestamp", a);
    json_get_text(row, "uuid", a, &out->entry);
    json_get_text(row, "parentUuid", a, &out->after);
    bool user = json_string_is(type, "user");

    out->waits = user || json_string_is(type, "tool_result");
    out->speaks = out->waits || json_string_is(type, "assistant");
    if (user)
        out->prompt = qwen_prompt(row, a);
    else if (!out->speaks)
        qwen_read_title(row, a, out);
    json_get_text(row, "cwd", a, &out->cwd);
    json_get_text(row, "gitBranch", a, &out->git_branch);
    json_get_text(row, "model", a, &out->model);
    out->parent = json_text_at(row, "forkedFrom.sessionId", a);
    return a->failed ? ERR_NOMEM : ERR_OK;
}

static enum err_code qwen_complete_row(const struct store *st, const struct scope *scope,
                                       struct session_row *row, struct arena *a, struct err *e)
{
    (void)st, (void)a, (void)e;
    if (row->hidden)
        return ERR_OK;
    row->can = CAN_RESUME | CAN_REWIND;
    if (project_logs_collides(scope, row->cwd))
        row->hidden = HIDDEN_COLLISION;
    else if (row->created_ms == TIME_NONE && !row->custom_title.n)
        row->hidden = HIDDEN_EMPTY; /* Qwen lists whatever has a row: "(empty prompt)" */
    if (slice_has(row->ref.path, "/chats/archive/"))
        row->flags |= SESSION_ARCHIVED | SESSION_ARCHIVED_KNOWN;
    return ERR_OK;
}

/* ---- for readers ---- */

/* Which records of the program are shown. */
static uint8_t system_flags(struct slice subtype, bool *keep)
{
    static const char *const shown[] = { "chat_compression", "slash_command", "notification" };

    *keep = false;
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        *keep |= slice_eq(subtype, slice_of(shown[i]));
    return slice_eq(subtype, slice_of(shown[0])) ? MESSAGE_SEAM : 0;
}

static enum err_code qwen_judge_row(struct logfile *log, size_t line, struct message *m, bool *keep,
                                    struct err *e)
{
    static const uint8_t kind_of[] = { MESSAGE_OTHER, MESSAGE_USER, MESSAGE_ASSISTANT, MESSAGE_TOOL,
                                       MESSAGE_SYSTEM };
    const struct index_line *ix = &log->index.line[line];
    struct arena a = { 0 };
    struct slice row;

    m->kind = kind_of[ix->kind];
    m->flags = ix->state == LINE_BROKEN ? MESSAGE_BROKEN : 0;
    if (m->flags || (ix->kind != QWEN_USER && ix->kind != QWEN_SYSTEM))
        return ERR_OK;
    enum err_code rc = logfile_row(log, line, &row, e);

    if (!rc && ix->kind == QWEN_USER)
        m->flags = qwen_is_typed(row) ? 0 : MESSAGE_META;
    if (!rc && ix->kind == QWEN_SYSTEM)
        m->flags = system_flags(qwen_subtype(row, &a), keep);
    if (!rc && a.failed)
        rc = err_nomem(e);
    arena_fini(&a);
    return rc;
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
                                          .judge = qwen_judge_row,
                                          .choose = jsonl_choose_path,
                                          .read = qwen_read_row_facts,
                                          .prompt_needle = "\"user\"",
                                          .branches = true,
                                          .title_needle = "\"custom_title\"",
                                          .complete = qwen_complete_row,
                                          .message = qwen_read_message,
                                          .is_id = qwen_is_id,
                                          .id_name = "a Qwen Code session id",
                                          .logs = &qwen_logs,
                                          .variable = "QWEN_RUNTIME_DIR",
                                          .home = ".qwen" };

/* ---- blocks ---- */

static void qwen_put_call(struct block_list *b, struct slice call)
{
    struct block block = { .kind = BLOCK_TOOL_CALL };

    json_get_text(call, "name", &b->arena, &block.name);
    json_get_text(call, "id", &b->arena, &block.call_id);
    json_get(call, "args", &block.input);
    transcript_block_put(b, block);
}

static void qwen_put_result(struct block_list *b, struct slice result)
{
    struct block block = { .kind = BLOCK_TOOL_RESULT };
    struct slice response;

    json_get_text(result, "id", &b->arena, &block.call_id);
    json_get_text(result, "name", &b->arena, &block.name);
    if (json_get(result, "response", &response)) {
        block.failed = json_get_text(response, "error", &b->arena, &block.text);
        if (!block.failed && !json_get_text(response, "output", &b->arena, &block.text))
            block.text = response;
    }
    transcript_block_put(b, block);
}

static void put_data(struct block_list *b, struct slice data)
{
    struct block block = { .kind = BLOCK_IMAGE };
    struct slice bytes;

    json_get_text(data, "mimeType", &b->arena, &block.name);
    if (!slice_starts(block.name, "image/"))
        block.kind = BLOCK_DOCUMENT;
    if (json_get_text(data, "data", &b->arena, &bytes))
        block.bytes = (int64_t)(bytes.n / 4 * 3);
    transcript_block_put(b, block);
}

static void qwen_put_part(struct block_list *b, enum block_kind spoken, struct slice part)
{
    struct slice text, value;

    if (json_get(part, "functionCall", &value))
        qwen_put_call(b, value);
    else if (json_get(part, "functionResponse", &value))
        qwen_put_result(b, value);
    else if (json_get(part, "inlineData", &value) || json_get(part, "fileData", &value))
        put_data(b, value);
    else if (json_get_text(part, "text", &b->arena, &text) && text.n)
        transcript_block_put(
            b, (struct block){ .kind = json_get_true(part, "thought") ? BLOCK_THINKING : spoken,
                               .text = text });
}

static void put_system(struct block_list *b, struct slice row)
{
    struct slice subtype = qwen_subtype(row, &b->arena), payload = { NULL, 0 };

    json_get(row, "systemPayload", &payload);
    if (slice_eq(subtype, SLICE("chat_compression")))
        transcript_block_put_compaction(b, SLICE(""));
    else
        transcript_block_put(
            b, (struct block){ .kind = BLOCK_NOTE, .name = subtype, .text = payload });
}

static void qwen_put_message(struct block_list *b, struct slice row, struct slice type)
{
    enum block_kind spoken = json_string_is(type, "assistant") ? BLOCK_TEXT
                             : qwen_is_typed(row)              ? BLOCK_PROMPT
                                                               : BLOCK_NOTE;
    struct slice key, part, prompt = qwen_prompt(row, &b->arena);
    struct json_iter parts;

    if (prompt.n) {
        transcript_block_put(b, (struct block){ .kind = BLOCK_PROMPT, .text = prompt });
        spoken = BLOCK_NOTE;
    }
    if (qwen_parts(row, &parts))
        while (json_iter_next(&parts, &key, &part))
            if (!prompt.n || !json_get(part, "text", &key))
                qwen_put_part(b, spoken, part);
}

enum err_code qwen_blocks(const struct store *st, struct slice row, struct block_list *out,
                          struct err *e)
{
    struct slice type;

    (void)st;
    if (!json_valid(row) || !json_get(row, "type", &type))
        transcript_block_put(out, (struct block){ .kind = BLOCK_RAW, .text = row });
    else if (json_string_is(type, "system"))
        put_system(out, row);
    else
        qwen_put_message(out, row, type);
    if (out->n == 0)
        transcript_block_put(out, (struct block){ .kind = BLOCK_NOTE });
    return out->arena.failed ? err_nomem(e) : ERR_OK;
}

/* The tokens of each answer, and the edits with the whole texts that their results record. */

/* Whether candidatesTokenCount includes the tokens of the thinking depends on the model's vendor;
 * the total shows it. */
static void qwen_read_counts(struct slice usage, struct usage_record *u)
{
    int64_t prompt = usage_count(usage, "promptTokenCount"),
            total = usage_count(usage, "totalTokenCount");

    u->cache_read = usage_count(usage, "cachedContentTokenCount");
    u->input = prompt > u->cache_read ? prompt - u->cache_read : 0;
    u->output = total > prompt ? total - prompt
                               : usage_count(usage, "candidatesTokenCount") +
                                     usage_count(usage, "thoughtsTokenCount");
}

/* A fork keeps the ids of its rows, so an answer is counted once. */
static bool qwen_read_usage(struct slice row, struct arena *a, struct usage_record *u)
{
    struct slice usage, forked;

    *u = usage_record_empty();
    if (!json_valid(row) || !json_get(row, "usageMetadata", &usage) ||
        json_type(usage) != JSON_OBJECT || !json_get_text(row, "uuid", a, &u->answer))
        return false;
    qwen_read_counts(usage, u);
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
        return; /* of a large file: what the call replaced is known */
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
