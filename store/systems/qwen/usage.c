#include "store/systems/common/edits/tool_edits.h"
#include "store/systems/common/usage_rows.h"
#include "store/systems/qwen/qwen.h"

/* The tokens of each answer, and the edits with the whole texts that their results record. */

/* Whether candidatesTokenCount includes the tokens of the thinking depends on the model's vendor;
 * the total shows it. */
static void read_counts(struct slice usage, struct usage_record *u)
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
static bool read_usage(struct slice row, struct arena *a, struct usage_record *u)
{
    struct slice usage, forked;

    *u = usage_record_empty();
    if (!json_valid(row) || !json_get(row, "usageMetadata", &usage) ||
        json_type(usage) != JSON_OBJECT || !json_get_text(row, "uuid", a, &u->answer))
        return false;
    read_counts(usage, u);
    u->time_ms = json_time_at(row, "timestamp", a);
    json_get_text(row, "model", a, &u->model);
    u->request = u->message = u->answer;
    u->copied = json_get(row, "forkedFrom", &forked) && json_type(forked) == JSON_OBJECT;
    return true;
}

static enum err_code walk_agent(const char *path, struct slice id, void *arg, struct err *e)
{
    return usage_walk_file(arg, path, 0, id, e);
}

enum err_code qwen_usage(const struct store *st, const struct session_ref *ref,
                         const atomic_bool *cancel, usage_fn *fn, void *arg, struct err *e)
{
    struct usage_walk w = { read_usage, "\"usageMetadata\"", cancel, fn, arg };
    enum err_code rc = usage_walk_file(&w, ref->path.p, 0, SLICE(""), e);

    (void)st;
    return rc ? rc : qwen_each_subagent(ref, walk_agent, &w, e);
}

/* ---- edits ---- */

static void fill(struct slice row, struct arena *a, struct edit *edit, bool *counts)
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
    return tool_edits_files(&qwen_ops, ref, q, fill, fn, arg, e);
}
