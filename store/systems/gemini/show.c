#include <string.h>

#include "lite/base/cleanup.h"
#include "lite/json/json.h"
#include "store/systems/common/edits/tool_edits.h"
#include "store/systems/common/memory_rows.h"
#include "store/systems/common/row_table.h"
#include "store/systems/common/usage_rows.h"
#include "store/systems/gemini/gemini.h"

/* The lines of a file are operations, not the conversation. After they are applied, each message is
 * one row: its bytes, with blanks for the line ends between the members of an older document. */

enum { READ_MAX = 256 << 20 };

static const char *const kinds[] = { "user", "gemini", NULL };
static const struct index_keys keys = {
    .type = "type", .id = "id", .time = "timestamp", .kinds = kinds
};

static struct slice gemini_output_of(struct slice call, struct arena *a)
{
    struct json_iter it;
    struct slice part, text = { NULL, 0 };

    json_list_open(&it, call, "result");
    while (!text.n && json_list_next(&it, &part)) {
        text = json_text_at(part, "functionResponse.response.output", a);
        if (!text.n)
            text = json_text_at(part, "functionResponse.response.error", a);
    }
    return text;
}

static void gemini_put_prompt(struct block_list *b, struct slice row)
{
    struct arena *a = &b->arena;

    transcript_block_put_text(b,
                              gemini_kind_of(row, a) == GEMINI_PROMPT ? BLOCK_PROMPT : BLOCK_NOTE,
                              gemini_text(row, a));
}

static void gemini_put_answer(struct block_list *b, struct slice row)
{
    struct arena *a = &b->arena;
    struct json_iter it;
    struct slice thought, call;

    json_list_open(&it, row, "thoughts");
    while (json_list_next(&it, &thought)) {
        transcript_block_put_text(b, BLOCK_THINKING, json_text_at(thought, "subject", a));
        transcript_block_put_text(b, BLOCK_THINKING, json_text_at(thought, "description", a));
    }
    transcript_block_put_text(b, BLOCK_TEXT, gemini_text(row, a));
    json_list_open(&it, row, "toolCalls");
    while (json_list_next(&it, &call)) {
        /* Each call, and its result. */
        struct slice input, id = json_text_at(call, "id", &b->arena);
        struct slice status = json_text_at(call, "status", &b->arena);

        if (!json_get(call, "args", &input))
            input = SLICE("{}");
        transcript_block_put(b, (struct block){ .kind = BLOCK_TOOL_CALL,
                                                .name = json_text_at(call, "name", &b->arena),
                                                .input = input,
                                                .call_id = id });
        transcript_block_put(
            b, (struct block){ .kind = BLOCK_TOOL_RESULT,
                               .call_id = id,
                               .text = gemini_output_of(call, &b->arena),
                               .failed = status.n && !slice_eq(status, SLICE("success")) });
    }
}

/* clang-format off */
static const struct row_block gemini_note[] = {
    { BLOCK_NOTE, .name = "type", .read = gemini_text, .empty = true }, ROW_BLOCKS_END
};
static const struct row_kind gemini_rows[] = {
    { "user", MESSAGE_USER, .put = gemini_put_prompt },
    { "gemini", MESSAGE_ASSISTANT, .put = gemini_put_answer },
    { NULL, MESSAGE_SYSTEM, .when = "type:none", .blocks = { { BLOCK_RAW, .read = row_whole } } },
    { .kind = MESSAGE_SYSTEM },
};
/* clang-format on */
static const struct row_table gemini_table = { .kind = gemini_rows,
                                               .n = COUNT_OF(gemini_rows),
                                               .otherwise = gemini_note };

const struct jsonl_format gemini_format = { .keys = &keys,
                                            .rows = &gemini_table,
                                            .usual = gemini_default_path,
                                            .size = sizeof(struct gemini),
                                            .needs_folder = true };

static enum err_code gemini_show_load(const struct session_ref *ref, bool dropped,
                                      const atomic_bool *cancel, struct transcript **out,
                                      struct err *e)
{
    struct gemini_chat c;
    struct arena a = { 0 };
    struct buf rows = { 0 };
    enum err_code rc = gemini_chat_read(ref->path.p, READ_MAX, &c, e);

    if (rc)
        return err_wrap(e, rc, "load the conversation");

    /* A damaged line is shown before the message that follows it, or at the end if no message does. */
    for (size_t i = 0, damaged = 0; i <= (dropped ? c.ever_n : c.n) && !rc; i++) {
        for (; !dropped && !rc && damaged < c.damaged_n && (c.damaged[damaged].at <= i || i == c.n);
             damaged++)
            if (buf_add(&rows, c.damaged[damaged].line) ||
                (!c.damaged[damaged].torn && buf_add_byte(&rows, '\n')))
                rc = err_nomem(e);
        if (rc || i == (dropped ? c.ever_n : c.n))
            break;
        struct slice raw = dropped ? c.ever[i].raw : c.message[i].raw;

        arena_reset(&a);
        if (gemini_kind_of(raw, &a) != GEMINI_HIDDEN && memory_rows_line(&rows, raw))
            rc = err_nomem(e);
    }
    if (!rc)
        rc = jsonl_load_bytes(&gemini_format, ref, &rows, cancel, out, e);
    buf_fini(&rows);
    arena_fini(&a);
    gemini_chat_fini(&c);
    return rc;
}

enum err_code gemini_load(const struct store *st, const struct session_ref *ref,
                          const atomic_bool *cancel, struct transcript **out, struct err *e)
{
    (void)st;
    return gemini_show_load(ref, false, cancel, out, e);
}

enum err_code gemini_tail(const struct store *st, const struct session_ref *ref, size_t bytes,
                          const atomic_bool *cancel, struct transcript **out, struct err *e)
{
    (void)bytes;
    return gemini_load(st, ref, cancel, out, e);
}

/* ---- edits ---- */

/* The call of a message with this id. */
static bool gemini_find_call(struct slice row, struct slice id, struct arena *a, struct slice *call)
{
    struct slice own;
    struct json_iter it;

    json_list_open(&it, row, "toolCalls");
    while (json_list_next(&it, call))
        if (json_get_text(*call, "id", a, &own) && slice_eq(own, id))
            return true;
    return false;
}

/* The result of an edit contains the whole file before and after it. */
static void gemini_fill(struct slice row, struct arena *a, struct edit *edit, bool *counts)
{
    struct slice call, shown, text;

    (void)counts;
    if (edit->kind == EDIT_RENAME || edit->kind == EDIT_DELETE ||
        !gemini_find_call(row, edit->call, a, &call) || !json_get(call, "resultDisplay", &shown) ||
        json_type(shown) != JSON_OBJECT)
        return;
    if (json_get_text(shown, "originalContent", a, &text)) {
        edit->before = text;
        edit->before_known = EDIT_TEXT;
    }
    if (json_get_text(shown, "newContent", a, &text)) {
        edit->after = text;
        edit->after_known = EDIT_TEXT;
    }
}

static enum err_code load_all(const struct store *st, const struct session_ref *ref,
                              const atomic_bool *cancel, struct transcript **out, struct err *e)
{
    (void)st;
    return gemini_show_load(ref, true, cancel, out, e);
}

/* The first record of the context. A later one has the same time, but may have been made anew. */
static bool gemini_find_listing(const struct session_ref *ref, struct slice row, struct arena *a,
                                struct listing *out)
{
    struct slice list, second, message = { NULL, 0 };
    struct json_iter it;

    if (!json_valid(row) || !json_at(row, "$set.messages", &list) || !json_iter_open(&it, list) ||
        !json_list_next(&it, &message) || json_list_next(&it, &second))
        return false;
    struct slice text = gemini_text(message, a), root = gemini_project(ref, NULL, a);
    const char *line = arena_format(a, "\n%.*s/\n", SLICE_ARG(root));
    const char *at = line ? slice_find(text.p, text.n, line, strlen(line)) : NULL;

    if (!root.n || !slice_starts(text, "<session_context>") || !at)
        return false;
    at += strlen(line);
    *out = (struct listing){ .root = root.p,
                             .tree = { at, (size_t)(text.p + text.n - at) },
                             .time_ms = json_time_at(message, "timestamp", a),
                             .most = 200,
                             .skips_ignored = true };
    return true;
}

/* Rewound turns also changed files. */
enum err_code gemini_edits(const struct store *st, const struct session_ref *ref,
                           const struct edit_query *q, edit_fn *fn, void *arg, struct err *e)
{
    if (q->reads)
        TRY(listing_report(ref, gemini_find_listing, q, fn, arg, e));
    return tool_edits_rows(st, ref, load_all, q, gemini_fill, fn, arg, e);
}

/* The tokens of an answer are in its message, {input, output, cached, thoughts, tool}, which may be
 * written several times and is identified by its id. Rewound turns are counted, because they were
 * paid for. */
static const struct usage_members gemini_tokens = { "input", "output", "cached",
                                                    .thinking = "thoughts",
                                                    .includes_caches = true };

static bool gemini_read_usage(struct slice raw, struct arena *a, struct usage_record *u)
{
    struct slice tokens;

    *u = usage_record_empty();
    if (!json_get(raw, "tokens", &tokens) || json_type(tokens) != JSON_OBJECT ||
        !json_get_text(raw, "id", a, &u->answer))
        return false;

    u->request = u->message = u->answer;
    usage_read_counts(&gemini_tokens, tokens, u);
    u->input += usage_count(tokens, "tool");
    json_get_text(raw, "model", a, &u->model);
    u->time_ms = json_time_at(raw, "timestamp", a);
    return true;
}

static enum err_code gemini_walk(const struct session_ref *ref, struct slice agent, usage_fn *fn,
                                 void *arg, struct err *e)
{
    struct gemini_chat c;
    struct usage_record u;
    enum err_code rc = gemini_chat_read(ref->path.p, READ_MAX, &c, e);

    if (rc)
        return rc;
    for (size_t i = 0; i < c.ever_n && !rc; i++)
        if (gemini_read_usage(c.ever[i].raw, &c.arena, &u)) {
            u.agent = agent;
            u.aside = agent.n > 0;
            u.message = agent.n ? SLICE("") : u.message;
            rc = c.arena.failed ? err_nomem(e) : fn(&u, arg, e);
        }
    gemini_chat_fini(&c);
    return rc;
}

enum err_code gemini_usage(const struct store *st, const struct session_ref *ref,
                           const atomic_bool *cancel, usage_fn *fn, void *arg, struct err *e)
{
    struct arena a = { 0 };
    struct session_ref agent;
    struct slice *ids = NULL;
    size_t n = 0;
    enum err_code rc = gemini_walk(ref, SLICE(""), fn, arg, e);

    if (!rc)
        rc = gemini_subagents(st, ref, &a, &ids, &n, e);
    for (size_t i = 0; i < n && !rc; i++) {
        if (cancel && atomic_load_explicit(cancel, memory_order_relaxed))
            rc = err_set(e, ERR_CANCELLED, ref->path.p, "read token usage");
        else if (!gemini_subagent(st, ref, ids[i], &a, &agent, NULL))
            rc = gemini_walk(&agent, ids[i], fn, arg, e);
        if (rc == ERR_NOT_FOUND || rc == ERR_IO || rc == ERR_UNSAFE)
            rc = ERR_OK;
    }
    arena_fini(&a);
    return rc;
}
