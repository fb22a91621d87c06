#include <string.h>

#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/systems/common/config_dir.h"
#include "store/systems/grok/grok.h"

/* ---- the conversation, from rows made in memory ---- */

enum kind { KIND_OTHER, KIND_USER, KIND_AGENT, KIND_THOUGHT, KIND_CALL, KIND_RESULT };
static const char *const kinds[] = { "user", "agent", "thought", "call", "result", NULL };
static const struct index_keys row_keys = {
    .type = "kind", .id = "id", .time = "time", .kinds = kinds
};

static enum err_code grok_judge_row(struct logfile *log, size_t line, struct message *m, bool *keep,
                                    struct err *e)
{
    static const uint8_t kind_of[] = {
        [KIND_OTHER] = MESSAGE_SYSTEM,    [KIND_USER] = MESSAGE_USER,
        [KIND_AGENT] = MESSAGE_ASSISTANT, [KIND_THOUGHT] = MESSAGE_ASSISTANT,
        [KIND_CALL] = MESSAGE_ASSISTANT,  [KIND_RESULT] = MESSAGE_TOOL,
    };
    const struct index_line *ix = &log->index.line[line];

    (void)keep, (void)e;
    m->kind = kind_of[ix->kind <= KIND_RESULT ? ix->kind : KIND_OTHER];
    m->flags = ix->state == LINE_BROKEN ? MESSAGE_BROKEN : 0;
    return ERR_OK;
}

static const struct jsonl_format rows = { .keys = &row_keys, .judge = grok_judge_row };

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

/* ---- blocks ---- */

static void grok_put_result(struct block_list *b, struct slice update)
{
    struct block block = { .kind = BLOCK_TOOL_RESULT };
    struct slice raw;

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

enum err_code grok_blocks(const struct store *st, struct slice row, struct block_list *out,
                          struct err *e)
{
    static const char *const words[] = { "user", "agent", "thought", "call", "result", "seam" };
    struct slice kind = SLICE(""), update = SLICE("{}"), text = SLICE(""), input;

    (void)st;
    if (json_valid(row)) {
        text = json_text_at(row, "text", &out->arena);
        json_get(row, "kind", &kind);
        json_get(row, "update", &update);
    }
    switch (kind.n ? json_key_in(kind, words, 6) : 7) {
    case 0: transcript_block_put_text(out, BLOCK_PROMPT, text); break;
    case 1: transcript_block_put_text(out, BLOCK_TEXT, text); break;
    case 2: transcript_block_put_text(out, BLOCK_THINKING, text); break;
    case 3: {
        struct block block = { .kind = BLOCK_TOOL_CALL, .input = SLICE("{}") };

        json_get_text(update, "title", &out->arena, &block.name);
        json_get_text(update, "toolCallId", &out->arena, &block.call_id);
        if (json_get(update, "rawInput", &input) && json_type(input) == JSON_OBJECT)
            block.input = input;
        transcript_block_put(out, block);
    } break;
    case 4: grok_put_result(out, update); break;
    case 5: transcript_block_put_compaction(out, SLICE("")); break;
    case 6: transcript_block_put_text(out, BLOCK_NOTE, text); break;
    default: transcript_block_put(out, (struct block){ .kind = BLOCK_RAW, .text = row });
    }
    return out->arena.failed ? err_nomem(e) : ERR_OK;
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
                                          .judge = grok_judge_row,
                                          .read = grok_read_row_facts,
                                          .prompt_needle = "\"user_message_chunk\"",
                                          .in_pieces = true,
                                          .complete = grok_complete_row,
                                          .is_id = grok_is_id,
                                          .id_name = "a Grok session id",
                                          .dirs = &grok_dirs,
                                          .variable = "GROK_HOME",
                                          .home = ".grok" };
