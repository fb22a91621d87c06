#include <string.h>

#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/systems/common/edits/tool_edits.h"
#include "store/systems/common/usage_rows.h"
#include "store/systems/grok/grok.h"

/* The edits of a session, and the tokens of each turn. The result of a call that changed a file
 * contains the change: {"type": "diff", "path", "oldText", "newText"}, where the texts are the
 * replaced part, or after a patch the whole file. The call of a shell command shows which files it
 * moved or removed. */

/* ---- edits ---- */

struct turn {
    struct slice id, prompt;
    int64_t time_ms;
};

struct walk {
    struct tool_edits edits;
    struct arena arena; /* owns the texts of the session */
    struct turn *turn;  /* the turns of the session, also those that were dropped */
    size_t turns;
};

/* The number of places that a call replaced, and whether the first one had this text. */
static size_t count_places(struct slice diff, struct slice old_text, struct arena *a, bool *same)
{
    struct slice place;
    struct json_iter it;
    size_t n = 0;

    *same = true;
    json_list_open(&it, diff, "_meta.details");
    while (json_list_next(&it, &place))
        if (n++ == 0)
            *same = slice_eq(json_text_at(place, "old_string", a), old_text);
    return n;
}

static void grok_read_diff(struct slice diff, struct arena *a, struct edit *edit,
                           struct edit_replacement *place)
{
    bool same, replaced = json_get_text(diff, "oldText", a, &place->old_text);

    place->new_text = json_text_at(diff, "newText", a);
    if (!replaced || !place->old_text.n) {
        edit->kind = EDIT_WRITE;
        edit->after_known = EDIT_TEXT;
        edit->after = place->new_text;
        return;
    }
    edit->kind = EDIT_REPLACE;
    place->all = count_places(diff, place->old_text, a, &same) > 1;
    if (same) {
        edit->replacement = place;
        edit->replacements = 1;
        return;
    }
    edit->before_known = EDIT_TEXT;
    edit->before = place->old_text;
    edit->kind = place->new_text.n ? EDIT_REPLACE : EDIT_DELETE;
    edit->after_known = place->new_text.n ? EDIT_TEXT : EDIT_UNKNOWN;
    edit->after = place->new_text;
}

static enum err_code put_diffs(struct walk *w, struct slice update, struct err *e)
{
    struct arena *a = &w->edits.scratch;
    struct slice item, path;
    struct json_iter it;
    enum err_code rc = ERR_OK;

    json_list_open(&it, update, "content");
    while (!rc && json_list_next(&it, &item)) {
        struct edit edit = { .call = json_text_at(update, "toolCallId", a), .tool = SLICE("edit") };
        struct edit_replacement place = { .all = false };

        if (!json_get_is(item, "type", "diff") || !json_get_text(item, "path", a, &path) ||
            !path.n || memchr(path.p, '\0', path.n))
            continue;
        edit.path = arena_copy(a, path).p;
        grok_read_diff(item, a, &edit, &place);
        rc = a->failed ? err_nomem(e) : tool_edits_put(&w->edits, &edit, e);
    }
    return rc;
}

/* Edits of files are taken from the results; a command is taken at its word if it succeeded. */
static void keep_commands(struct slice row, struct arena *a, struct edit *edit, bool *counts)
{
    struct slice code;

    (void)a;
    *counts = edit->kind == EDIT_RENAME || edit->kind == EDIT_DELETE;
    if (json_at(row, "update.rawOutput.exit_code", &code) && !slice_eq(code, SLICE("0")))
        *counts = false;
}

static bool grok_begin_turn(struct walk *w, struct slice row, int64_t time_ms)
{
    struct arena *a = &w->arena;
    struct turn *more = arena_grow(a, w->turn, w->turns, sizeof *more);

    if (!more)
        return false;
    w->turn = more;
    w->turn[w->turns++] =
        (struct turn){ json_copy_at(row, "id", a), json_copy_at(row, "text", a), time_ms };
    w->edits.now.turn = w->turn[w->turns - 1].id;
    w->edits.now.prompt = w->turn[w->turns - 1].prompt;
    return !a->failed;
}

static enum err_code walk_log(struct walk *w, const struct store *st, const struct session_ref *ref,
                              struct err *e)
{
    const struct edit_query *q = w->edits.q;
    struct buf rows = { 0 };
    struct slice rest, row;
    bool torn, first = true;
    enum err_code rc = grok_compose(ref->path.p, true, &rows, e);

    rest = buf_slice(&rows);
    for (; !rc && slice_line(&rest, &row, &torn); first = false) {
        if (q->cancel && atomic_load_explicit(q->cancel, memory_order_relaxed))
            rc = err_set(e, ERR_CANCELLED, ref->path.p, "read edits");
        else if (first && w->edits.now.agent.n) {
            /* The work of a sub-agent belongs to the turn that was running when it began. */
            int64_t time_ms = json_time_at(row, "time", &w->arena);

            for (size_t i = 0; i < w->turns && time_ms != TIME_NONE; i++)
                if (w->turn[i].time_ms != TIME_NONE && w->turn[i].time_ms <= time_ms) {
                    w->edits.now.turn = w->turn[i].id;
                    w->edits.now.prompt = w->turn[i].prompt;
                }
        }
        if (!rc) {
            struct block_list blocks = { 0 };
            struct slice kind, update;
            int64_t ms = json_time_at(row, "time", &w->arena);

            rc = grok_blocks(st, row, &blocks, e);

            if (ms != TIME_NONE)
                w->edits.now.time_ms = ms;
            if (!json_get(row, "kind", &kind))
                kind = SLICE("");
            w->edits.now.message = json_copy_at(row, "id", &w->arena);
            if (!rc && !w->edits.now.agent.n && json_string_is(kind, "user") &&
                !grok_begin_turn(w, row, ms))
                rc = err_nomem(e);
            if (!rc && json_string_is(kind, "result") && json_get(row, "update", &update) &&
                blocks.n && !blocks.block[0].failed)
                rc = put_diffs(w, update, e);
            w->edits.row = row;
            if (!rc)
                rc = tool_edits_blocks(&w->edits, &blocks, e);
            transcript_blocks_fini(&blocks);
        }
    }
    buf_fini(&rows);
    return rc;
}

enum err_code grok_edits(const struct store *st, const struct session_ref *ref,
                         const struct edit_query *q, edit_fn *fn, void *arg, struct err *e)
{
    const struct scope everywhere = { .all = true };
    struct walk w = { .edits = { .q = q, .fn = fn, .arg = arg, .fill = keep_commands } };
    struct session_row *row = session_row_new();
    enum err_code rc = row ? ERR_OK : err_nomem(e);

    w.edits.now.time_ms = TIME_NONE;
    if (!rc && !st->ops->describe(st, &everywhere, ref, row, NULL) && row->cwd.n)
        w.edits.cwd = arena_copy(&w.arena, row->cwd).p;
    session_row_free(row);
    if (!rc)
        rc = walk_log(&w, st, ref, e);
    if (!rc) {
        /* Sub-agents edit files, too. */
        struct session_ref agent;
        struct slice *ids = NULL;
        size_t n = 0;

        rc = grok_subagents(st, ref, &w.arena, &ids, &n, e);

        for (size_t i = 0; i < n && !rc; i++) {
            w.edits.now.agent = ids[i];
            if (!grok_subagent(st, ref, ids[i], &w.arena, &agent, NULL))
                rc = walk_log(&w, st, &agent, e);
            if (rc == ERR_NOT_FOUND || rc == ERR_IO)
                rc = ERR_OK;
        }
    }
    if (!rc && w.arena.failed)
        rc = err_nomem(e);
    tool_edits_fini(&w.edits);
    arena_fini(&w.arena);
    return rc;
}

/* ---- tokens: the sums at the end of a turn, including those of its sub-agents ---- */

static const struct usage_members grok_tokens = { "inputTokens", "outputTokens", "cachedReadTokens",
                                                  "cacheCreationTokens", .includes_caches = true };

/* A fork copies the ids of prompts. */

static bool grok_read_usage(struct slice row, struct arena *a, struct usage_record *u)
{
    static const double ticks = 1e10; /* the ticks of a dollar */
    struct grok_line line;
    struct slice type, usage, models, model, value;
    struct json_iter it;

    *u = usage_record_empty();
    if (!grok_line_read(row, &line) || !json_get(line.update, "sessionUpdate", &type) ||
        !json_string_is(type, "turn_completed") || !json_get(line.update, "usage", &usage) ||
        json_type(usage) != JSON_OBJECT)
        return false;
    usage_read_counts(&grok_tokens, usage, u);
    if (json_get(usage, "costUsdTicks", &value) && !json_get_true(usage, "costIsPartial") &&
        !json_get_true(usage, "usageIsIncomplete"))
        u->cost = usage_cost_of(value) / ticks;
    u->time_ms = line.time_ms;
    if (json_get(usage, "modelUsage", &models) && json_type(models) == JSON_OBJECT &&
        json_iter_open(&it, models) && json_iter_next(&it, &model, &value) &&
        !json_text(model, a, &u->model))
        u->model = SLICE("");
    if (json_get_text(line.update, "prompt_id", a, &u->answer)) {
        u->request = u->answer;
    } else {
        u->answer = line.update;
        json_get(row, "timestamp", &u->request);
    }
    return u->input || u->output || u->cache_read || u->cache_write;
}

enum err_code grok_usage(const struct store *st, const struct session_ref *ref,
                         const atomic_bool *cancel, usage_fn *fn, void *arg, struct err *e)
{
    const struct usage_walk w = { .read = grok_read_usage,
                                  .mark = "\"turn_completed\"",
                                  .cancel = cancel,
                                  .fn = fn,
                                  .arg = arg };

    (void)st;
    return grok_is_subagent(ref) ? ERR_OK : usage_walk_file(&w, ref->path.p, 0, SLICE(""), e);
}
