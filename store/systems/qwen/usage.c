#include "lite/base/time.h"
#include "store/systems/common/edits/tool_edits.h"
#include "store/systems/common/usage_rows.h"
#include "store/systems/qwen/qwen.h"

/* The tokens of each answer, and the edits with the whole texts that their results record. */

#define MARK "\"usageMetadata\""

struct usage_walk {
    const atomic_bool *cancel;
    struct slice agent;
    usage_fn *fn;
    void *arg;
    struct arena arena;
};

/* candidatesTokenCount contains the tokens of the thinking or not, depending on the model's vendor; the total shows it. */
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
    struct slice usage, at, forked;

    *u = usage_record_empty();
    if (!json_valid(row) || !json_get(row, "usageMetadata", &usage) ||
        json_type(usage) != JSON_OBJECT || !json_get_text(row, "uuid", a, &u->answer))
        return false;
    read_counts(usage, u);
    if (!json_get_text(row, "timestamp", a, &at) || !time_parse(at, &u->time_ms))
        u->time_ms = TIME_NONE;
    json_get_text(row, "model", a, &u->model);
    u->request = u->message = u->answer;
    u->copied = json_get(row, "forkedFrom", &forked) && json_type(forked) == JSON_OBJECT;
    return true;
}

static enum err_code hand_over(struct slice row, void *arg, struct err *e)
{
    struct usage_walk *w = arg;
    struct usage_record u;
    enum err_code rc = ERR_OK;

    arena_reset(&w->arena);
    if (read_usage(row, &w->arena, &u)) {
        u.agent = w->agent;
        u.aside = w->agent.n > 0;
        u.message = w->agent.n ? SLICE("") : u.message;
        rc = w->arena.failed ? ERR_OK : w->fn(&u, w->arg, e);
    }
    return w->arena.failed ? err_nomem(e) : rc;
}

static enum err_code walk_agent(const char *path, struct slice id, void *arg, struct err *e)
{
    struct usage_walk *w = arg;

    w->agent = id;
    enum err_code rc = usage_rows_of_file(path, 0, MARK, w->cancel, hand_over, w, e);

    return rc == ERR_NOT_FOUND || rc == ERR_IO || rc == ERR_UNSAFE ? ERR_OK : rc;
}

enum err_code qwen_usage(const struct store *st, const struct session_ref *ref,
                         const atomic_bool *cancel, usage_fn *fn, void *arg, struct err *e)
{
    struct usage_walk w = { .cancel = cancel, .fn = fn, .arg = arg };
    enum err_code rc = usage_rows_of_file(ref->path.p, 0, MARK, cancel, hand_over, &w, e);

    (void)st;
    if (!rc)
        rc = qwen_each_subagent(ref, walk_agent, &w, e);
    arena_fini(&w.arena);
    return rc;
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
