#include <string.h>

#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/systems/common/config_dir.h"
#include "store/systems/common/row_table.h"
#include "store/systems/grok/grok.h"

/* ---- the conversation, from rows made in memory ---- */

static const char *const kinds[] = { "user", "agent", "thought", "call", "result", NULL };
static const struct index_keys row_keys = {
    .type = "kind", .id = "id", .time = "time", .kinds = kinds
};

static void grok_put_call(struct block_list *b, struct slice row)
{
    struct block block = { .kind = BLOCK_TOOL_CALL, .input = SLICE("{}") };
    struct slice update = SLICE("{}"), input;

    json_get(row, "update", &update);
    json_get_text(update, "title", &b->arena, &block.name);
    json_get_text(update, "toolCallId", &b->arena, &block.call_id);
    if (json_get(update, "rawInput", &input) && json_type(input) == JSON_OBJECT)
        block.input = input;
    transcript_block_put(b, block);
}

static void grok_put_result(struct block_list *b, struct slice row)
{
    struct block block = { .kind = BLOCK_TOOL_RESULT };
    struct slice update = SLICE("{}"), raw;

    json_get(row, "update", &update);
    json_get_text(update, "toolCallId", &b->arena, &block.call_id);
    block.failed = json_get_is(update, "status", "failed");

    /* The texts of a result's contents, and the names of files whose changes are among them. */
    struct slice item, inner, text, all = SLICE("");
    struct json_iter it;

    json_list_open(&it, update, "content");
    while (json_list_next(&it, &item)) {
        text = json_get(item, "content", &inner) ? grok_text(inner, &b->arena) : SLICE("");
        if (text.n || json_get_text(item, "path", &b->arena, &text))
            all = arena_join(&b->arena, all, "\n", text);
    }
    block.text = all;

    if (!block.text.n && json_get(update, "rawOutput", &raw) &&
        !json_get_text(update, "rawOutput", &b->arena, &block.text))
        block.text = raw;
    transcript_block_put(b, block);
}

/* clang-format off */
static const struct row_kind grok_rows[] = {
    { "user", MESSAGE_USER, .blocks = { { .kind = BLOCK_PROMPT, .text = "text" } } },
    { "agent", MESSAGE_ASSISTANT, .blocks = { { .kind = BLOCK_TEXT, .text = "text" } } },
    { "thought", MESSAGE_ASSISTANT, .blocks = { { .kind = BLOCK_THINKING, .text = "text" } } },
    { "call", MESSAGE_ASSISTANT, .put = grok_put_call },
    { "result", MESSAGE_TOOL, .put = grok_put_result },
    { "seam", MESSAGE_SYSTEM, .put = row_put_compaction },
    { NULL, MESSAGE_SYSTEM, .blocks = { { .kind = BLOCK_NOTE, .text = "text" } } },
};
/* clang-format on */
static const struct row_table grok_table = { .kind = grok_rows, .n = COUNT_OF(grok_rows) };
static const struct jsonl_format rows = { .keys = &row_keys, .rows = &grok_table };

enum err_code grok_blocks(const struct store *st, struct slice row, struct block_list *out,
                          struct err *e)
{
    (void)st;
    return row_table_show(&rows, row, out, e);
}

enum err_code grok_load(const struct store *st, const struct session_ref *ref,
                        const atomic_bool *cancel, struct transcript **out, struct err *e)
{
    struct buf bytes = { 0 };
    enum err_code rc = grok_compose(ref->path.p, false, &bytes, e);

    (void)st;
    if (!rc)
        rc = jsonl_load_bytes(&rows, ref, &bytes, cancel, out, e);
    buf_fini(&bytes);
    return rc ? err_wrap(e, rc, "load the conversation") : ERR_OK;
}

enum err_code grok_tail(const struct store *st, const struct session_ref *ref, size_t bytes,
                        const atomic_bool *cancel, struct transcript **out, struct err *e)
{
    (void)bytes;
    return grok_load(st, ref, cancel, out, e);
}

/* ---- for lists: the lines of the log, and summary.json ---- */

enum { SUMMARY_MOST = 4 << 20 };

static enum err_code grok_read_row_facts(struct slice row, struct arena *a,
                                         struct jsonl_row_facts *out)
{
    struct grok_line line;

    if (!grok_line_read(row, &line))
        return ERR_FORMAT;
    out->time_ms = line.time_ms;
    out->waits = line.kind == GROK_PROMPT || line.kind == GROK_RESULT;
    out->speaks = out->waits || line.kind == GROK_ANSWER || line.kind == GROK_CALL;
    if (line.kind == GROK_PROMPT)
        out->prompt = grok_text(line.content, a);
    return a->failed ? ERR_NOMEM : ERR_OK;
}

/* A sub-agent is hidden unless the summary of the session has another value. */
static bool is_hidden(struct slice summary, struct arena *a)
{
    struct slice hidden;

    if (json_get(summary, "hidden", &hidden) && json_type(hidden) != JSON_NULL)
        return json_type(hidden) == JSON_TRUE;
    return slice_starts(json_copy_at(summary, "session_kind", a), "subagent");
}

bool grok_is_subagent(const struct session_ref *ref)
{
    struct arena a = { 0 };
    struct buf summary = { 0 };
    bool is = !session_dirs_json(ref, "summary.json", SUMMARY_MOST, &summary) &&
              slice_starts(json_copy_at(buf_slice(&summary), "session_kind", &a), "subagent");

    buf_fini(&summary);
    arena_fini(&a);
    return is;
}

static void grok_read_summary(struct slice summary, struct session_row *row, struct arena *a)
{
    int64_t active = json_time_at(summary, "last_active_at", a);

    row->cwd = json_copy_at(summary, "info.cwd", a);
    row->custom_title = json_copy_at(summary, "generated_title", a);
    if (!row->custom_title.n)
        row->custom_title = json_copy_at(summary, "session_summary", a);
    row->git_branch = json_copy_at(summary, "head_branch", a);
    row->model = json_copy_at(summary, "current_model_id", a);
    row->agent_name = json_copy_at(summary, "agent_name", a);
    row->parent_id = json_copy_at(summary, "parent_session_id", a);
    row->flags |= (row->parent_id.n ? SESSION_FORK : 0u) |
                  (json_get_true(summary, "title_is_manual") ? 0u : SESSION_AI_TITLE);
    row->created_ms = json_time_at(summary, "created_at", a);
    if (active == TIME_NONE)
        active = json_time_at(summary, "updated_at", a);
    if (active != TIME_NONE)
        row->modified_ms = row->activity_ms = row->ref.recent_ms = active;
}

static enum err_code grok_complete_row(const struct store *st, const struct scope *scope,
                                       struct session_row *row, struct arena *a, struct err *e)
{
    struct buf summary = { 0 };
    enum err_code rc = session_dirs_json(&row->ref, "summary.json", SUMMARY_MOST, &summary);

    (void)st;
    if (!rc && summary.n)
        grok_read_summary(buf_slice(&summary), row, a);
    if (!rc && !row->hidden) {
        row->can = CAN_RESUME | CAN_REWIND;
        if (!summary.n || (!row->first_prompt.n && !row->custom_title.n && !row->last_prompt.n))
            row->hidden = HIDDEN_EMPTY;
        else if (is_hidden(buf_slice(&summary), a))
            row->hidden = HIDDEN_SIDECHAIN;
        else if (!config_dir_in_scope(scope, row->cwd, a))
            row->hidden = HIDDEN_COLLISION;
    }
    buf_fini(&summary);
    return rc || a->failed ? err_nomem(e) : ERR_OK;
}

static bool grok_is_id(struct slice id)
{
    return slice_is_of(id, JSONL_ID_CHARACTERS) && id.n > 0 && id.n <= 128 && id.p[0] != '-';
}

static const struct index_keys log_keys = { .type = "method", .id = "id" };
const struct jsonl_format grok_format = { .keys = &log_keys,
                                          .read = grok_read_row_facts,
                                          .prompt_needle = "\"user_message_chunk\"",
                                          .in_pieces = true,
                                          .complete = grok_complete_row,
                                          .is_id = grok_is_id,
                                          .id_name = "a Grok session id",
                                          .dirs = &grok_dirs,
                                          .variable = "GROK_HOME",
                                          .home = ".grok" };
