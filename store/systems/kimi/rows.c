#include <string.h>

#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/systems/common/edits/tool_edits.h"
#include "store/systems/common/row_table.h"
#include "store/systems/common/usage_rows.h"
#include "store/systems/kimi/kimi.h"

/* The rows of a log. A turn begins with turn.prompt; what the agent says and does are events of its
 * loop. Other rows repeat this in the form that the model saw, or count tokens. */

static const char *const kinds[] = { "turn.prompt",
                                     "context.append_loop_event",
                                     "context.undo",
                                     "context.apply_compaction",
                                     "context.clear",
                                     "file_history.tracked",
                                     "file_history.checkpoint",
                                     "context.append_message",
                                     NULL };
const struct index_keys kimi_keys = { .type = "type", .id = "promptId", .kinds = kinds };

int64_t kimi_time(struct slice row)
{
    struct slice value;
    int64_t ms;

    return json_get(row, "time", &value) && json_int(value, &ms) ? ms : TIME_NONE;
}

bool kimi_is_typed(struct slice row)
{
    struct slice kind;

    return json_get_is(row, "type", "turn.prompt") &&
           (!json_at(row, "origin.kind", &kind) || json_string_is(kind, "user"));
}

struct slice kimi_prompt(struct slice row, struct arena *a)
{
    return row_text(row, "input", NULL, a);
}

static struct slice kimi_result(struct slice row, struct arena *a)
{
    struct slice result = { NULL, 0 }, output;

    return json_at(row, "event.result", &result) && json_get_text(result, "output", a, &output)
               ? output
               : result;
}

static struct slice kimi_seam(struct slice row, struct arena *a)
{
    (void)row, (void)a;
    return SLICE("the context was shortened");
}

/* clang-format off */
static const struct row_block kimi_parts[] = {
    { BLOCK_TEXT, "text", .when = "text:text", .empty = true },
    { BLOCK_THINKING, "think", .when = "think:text", .empty = true },
    { BLOCK_THINKING, "thinking", .when = "thinking:text", .empty = true },
    { BLOCK_NOTE, .read = row_whole }, ROW_BLOCKS_END
};

/* Commands that a person ran, and what they printed, are messages of the context. */
static const struct row_kind kimi_rows[] = {
    { "turn.prompt", MESSAGE_USER, .fits = kimi_is_typed,
      .blocks = { { BLOCK_PROMPT, "input", .empty = true } } },
    { "turn.prompt", MESSAGE_USER, MESSAGE_META, .blocks = { { BLOCK_NOTE, "input", .empty = true } } },
    { "context.append_message", MESSAGE_USER, MESSAGE_META, .silent = true,
      .when = "message.origin.kind=shell_command", .blocks = { { BLOCK_NOTE, .text = "message.content" } } },
    { "context.append_loop_event", MESSAGE_ASSISTANT, .when = "event.type=content.part",
      .blocks = { { .each = "event.part", .parts = kimi_parts } } },
    { "context.append_loop_event", MESSAGE_ASSISTANT, .when = "event.type=tool.call",
      .blocks = { { BLOCK_TOOL_CALL, .call = "event.toolCallId", .name = "event.name", .input = "event.args" } } },
    { "context.append_loop_event", MESSAGE_TOOL, .when = "event.type=tool.result",
      .blocks = { { BLOCK_TOOL_RESULT, .call = "event.toolCallId", .read = kimi_result,
                    .failed = "event.result.isError" } } },
    { "context.apply_compaction", MESSAGE_SYSTEM, MESSAGE_SEAM, .blocks = { { BLOCK_SEAM, .read = kimi_seam } } },
    { "context.clear", MESSAGE_SYSTEM, MESSAGE_SEAM, .blocks = { { BLOCK_SEAM, .read = kimi_seam } } },
    { "usage.record", MESSAGE_OTHER, .facts = { ROW_FACT(model, "model") } },
    { .kind = MESSAGE_OTHER },
};
/* clang-format on */

static int64_t kimi_row_time(struct slice row, struct arena *a)
{
    (void)a;
    return kimi_time(row);
}

static const struct row_table kimi_table = { .kind = kimi_rows,
                                             .n = sizeof kimi_rows / sizeof *kimi_rows,
                                             .otherwise = row_blank,
                                             .time = kimi_row_time };

struct fuller_copy {
    const struct session_ref *than;
    bool found;
};

static bool kimi_compare_copy(const struct session_ref *ref, void *arg)
{
    struct fuller_copy *f = arg;

    f->found = ref->file.size > f->than->file.size && !slice_eq(ref->path, f->than->path);
    return !f->found;
}

/* Returns true if another folder has the session, and there it has more. */
static bool kimi_has_fuller_copy(const struct session_ref *ref)
{
    const struct scope everywhere = { .all = true };
    struct fuller_copy f = { ref, false };

    return !store_find_each_listed(ref->store, &everywhere, ref->id, kimi_compare_copy, &f, NULL) &&
           f.found;
}

static enum err_code kimi_complete_row(const struct store *st, const struct scope *scope,
                                       struct session_row *row, struct arena *a, struct err *e)
{
    struct kimi_state state;

    (void)st;
    kimi_state_read(&row->ref, a, &state);
    row->cwd = state.cwd;
    row->custom_title = state.title;
    if (!row->last_prompt.n) /* it may be between the windows */
        row->last_prompt = state.last_prompt;
    row->parent_id = state.forked_from;
    row->flags |= (state.archived ? SESSION_ARCHIVED | SESSION_ARCHIVED_KNOWN : 0U) |
                  (state.forked_from.n ? SESSION_FORK : 0U);
    if (a->failed)
        return err_nomem(e);
    if (row->hidden)
        return ERR_OK;
    row->can = CAN_RESUME | CAN_REWIND;
    if (project_logs_collides(scope, row->cwd))
        row->hidden = HIDDEN_COLLISION;
    else if (!row->first_prompt.n &&
             ((!row->custom_title.n && !row->last_prompt.n && !state.known) ||
              kimi_has_fuller_copy(&row->ref)))
        row->hidden = HIDDEN_EMPTY; /* Kimi Code lists whatever has a state */
    return ERR_OK;
}

/* The turns that were not undone, by the lines of their prompts. */
struct turns {
    struct arena arena;
    size_t *line;
    size_t n;
};

/* An undo hides the last turns. */
static enum err_code undo_turns(struct turns *t, struct logfile *log, size_t line, bool *shown,
                                struct err *e)
{
    struct slice row, value;
    int64_t count = 1;

    TRY(logfile_row(log, line, &row, e));
    if (!json_get(row, "count", &value) || !json_int(value, &count) || count < 1)
        count = 1;
    size_t keep = (uint64_t)count >= t->n ? 0 : t->n - (size_t)count;

    for (size_t i = keep < t->n ? t->line[keep] : line; i < line; i++)
        shown[i] = false;
    t->n = keep;
    return ERR_OK;
}

static enum err_code kimi_choose_lines(struct logfile *log, bool *shown, struct err *e)
{
    const struct index *ix = &log->index;
    struct turns turns = { .n = 0 };
    enum err_code rc = ERR_OK;

    for (size_t i = 0; !rc && i < ix->n; i++) {
        uint8_t kind = ix->line[i].state == LINE_OK ? ix->line[i].kind : KIMI_OTHER;

        shown[i] = ix->line[i].state == LINE_BROKEN || kind == KIMI_PROMPT || kind == KIMI_EVENT ||
                   kind == KIMI_COMPACTION || kind == KIMI_CLEAR || kind == KIMI_MESSAGE;
        if (kind == KIMI_PROMPT) {
            size_t *more = arena_grow(&turns.arena, turns.line, turns.n, sizeof *more);

            if (!more)
                rc = err_nomem(e);
            else {
                turns.line = more;
                turns.line[turns.n++] = i;
                rc = ERR_OK;
            }
        } else if (kind == KIMI_UNDO)
            rc = undo_turns(&turns, log, i, shown, e);
    }
    arena_fini(&turns.arena);
    return rc;
}

static bool kimi_read_message(struct slice row, struct arena *a, struct jsonl_message *out)
{
    const struct row_kind *k = row_table_kind(&kimi_format, row, a);
    struct slice value = { NULL, 0 };
    const char *path;
    char text[TIME_TEXT];

    if (!k || k->kind == MESSAGE_OTHER)
        return false;
    out->uuid = json_text_at(row, "promptId", a);

    int64_t ms = kimi_time(row);

    if (ms != TIME_NONE) {
        time_format(ms, text);
        out->timestamp = arena_copy(a, slice_of(text));
    }

    out->is_system = k->kind == MESSAGE_SYSTEM || k->flags & MESSAGE_META;
    out->type = out->is_system                 ? "system"
                : k->kind == MESSAGE_USER      ? "user"
                : k->kind == MESSAGE_ASSISTANT ? "assistant"
                                               : "tool";
    out->message = row;

    /* A row of the system is delivered as it is; the others are wrapped like the messages of an API. */
    if (k->kind == MESSAGE_SYSTEM)
        return true;
    if (k->kind == MESSAGE_USER)
        path = k->silent ? "message.content" : "input";
    else
        path = row_is(row, "event.type=content.part") ? "event.part" : "event";
    bool found = json_at(row, path, &value);

    /* {"role", "content"} around a value of the row. */
    bool list = k->kind != MESSAGE_USER;
    const struct slice parts[] = { SLICE("{\"role\":\""), slice_of(list ? out->type : "user"),
                                   list ? SLICE("\",\"content\":[") : SLICE("\",\"content\":"),
                                   found ? value : SLICE("null"), list ? SLICE("]}") : SLICE("}") };
    const char *message = arena_concat(a, parts, sizeof parts / sizeof *parts);

    if (message)
        out->message = slice_of(message);
    return true;
}

/* "session_" and a UUID, or any plain name of this kind. */
static bool kimi_is_id(struct slice id)
{
    return slice_is_of(id, JSONL_ID_CHARACTERS) && id.n > 0 && id.n <= 128 && id.p[0] != '-';
}

const struct jsonl_format kimi_format = { .keys = &kimi_keys,
                                          .rows = &kimi_table,
                                          .choose = kimi_choose_lines,
                                          .prompt_needle = "\"turn.prompt\"",
                                          .model_needle = "\"usage.record\"",
                                          .complete = kimi_complete_row,
                                          .message = kimi_read_message,
                                          .is_id = kimi_is_id,
                                          .id_name = "a Kimi Code session id",
                                          .dirs = &kimi_dirs,
                                          .variable = "KIMI_CODE_HOME",
                                          .home = ".kimi-code" };

/* The tokens of each answer, in rows usage.record {model, usage{inputOther, output, inputCacheRead,
 * inputCacheCreation}}. */

/* The rows have no ids, and a fork copies them. Counts alone do not identify an answer, because
 * sub-agents may have equal ones, so the time is included. */
static bool kimi_read_usage(struct slice row, struct arena *a, struct usage_record *u)
{
    struct slice usage;

    *u = usage_record_empty();
    if (!json_valid(row) || !json_get(row, "usage", &usage) || json_type(usage) != JSON_OBJECT)
        return false;
    json_get_text(row, "model", a, &u->model);
    json_get(row, "time", &u->request);
    u->answer = (struct slice){ usage.p, (size_t)(row.p + row.n - usage.p) }; /* with the time */
    u->time_ms = kimi_time(row);
    u->input = usage_count(usage, "inputOther");
    u->output = usage_count(usage, "output");
    u->cache_read = usage_count(usage, "inputCacheRead");
    u->cache_write = usage_count(usage, "inputCacheCreation");
    return true;
}

enum err_code kimi_usage(const struct store *st, const struct session_ref *ref,
                         const atomic_bool *cancel, usage_fn *fn, void *arg, struct err *e)
{
    struct usage_walk w = {
        .read = kimi_read_usage, .mark = "\"usage.record\"", .cancel = cancel, .fn = fn, .arg = arg
    };
    AUTO_ARENA a = { 0 };
    struct session_ref agent;
    struct slice *ids;
    size_t n = 0;

    TRY(usage_walk_file(&w, ref->path.p, 0, SLICE(""), e));
    TRY(kimi_subagents(st, ref, &a, &ids, &n, e));
    for (size_t i = 0; i < n; i++)
        if (!kimi_subagent(st, ref, ids[i], &a, &agent, NULL))
            TRY(usage_walk_file(&w, agent.path.p, 0, ids[i], e));
    return ERR_OK;
}

/* The edits are those of the tool calls. The instructions of the model are one of the first rows, and have a listing of the
 * directory. */

static bool kimi_find_listing(const struct session_ref *ref, struct slice row, struct arena *a,
                              struct listing *out)
{
    static const char before[] = "The current working directory is `";
    static const char title[] = "The directory listing of current working directory is:\n\n```\n";
    struct slice text;

    (void)ref;
    if (!json_valid(row) || !json_get_text(row, "systemPrompt", a, &text))
        return false;
    const char *end = text.p + text.n, *tree = slice_find(text.p, text.n, title, strlen(title));
    const char *root = slice_find(text.p, text.n, before, strlen(before));
    const char *close = root ? memchr(root, '\n', (size_t)(end - root)) : NULL;

    root = root ? root + strlen(before) : NULL;
    close = close ? memchr(root, '`', (size_t)(close - root)) : NULL;
    if (!tree || !close)
        return false;
    tree += strlen(title);
    *out =
        (struct listing){ .root = arena_copy(a, (struct slice){ root, (size_t)(close - root) }).p,
                          .tree = { tree, (size_t)(end - tree) },
                          .time_ms = kimi_time(row) };
    return out->root != NULL;
}

enum err_code kimi_edits(const struct store *st, const struct session_ref *ref,
                         const struct edit_query *q, edit_fn *fn, void *arg, struct err *e)
{
    if (q->reads)
        TRY(listing_report(ref, kimi_find_listing, q, fn, arg, e));
    return tool_edits_logged(st, ref, q, fn, arg, e);
}
