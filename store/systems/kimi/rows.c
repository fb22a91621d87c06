#include <string.h>

#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/systems/common/edits/tool_edits.h"
#include "store/systems/common/jsonl.h"
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

static enum kimi_part event_part(struct slice row)
{
    struct slice event;

    if (!json_get(row, "event", &event))
        return KIMI_NO_PART;
    return json_get_is(event, "type", "content.part")  ? KIMI_ANSWER
           : json_get_is(event, "type", "tool.call")   ? KIMI_CALL
           : json_get_is(event, "type", "tool.result") ? KIMI_RESULT
                                                       : KIMI_NO_PART;
}

enum kimi_part kimi_part_of(struct slice row)
{
    struct slice kind;

    if (json_get_is(row, "type", "context.append_loop_event"))
        return event_part(row);
    if (json_get_is(row, "type", "context.append_message"))
        return json_at(row, "message.origin.kind", &kind) && json_string_is(kind, "shell_command")
                   ? KIMI_SHELL
                   : KIMI_NO_PART;
    if (json_get_is(row, "type", "context.apply_compaction") ||
        json_get_is(row, "type", "context.clear"))
        return KIMI_SEAM;
    if (!json_get_is(row, "type", "turn.prompt"))
        return KIMI_NO_PART;
    return !json_at(row, "origin.kind", &kind) || json_string_is(kind, "user") ? KIMI_TYPED
                                                                               : KIMI_INPUT;
}

static struct slice text_under(struct slice row, const char *name, struct arena *a)
{
    struct slice part, text, all = { NULL, 0 };
    struct json_iter it;

    if (json_get_text(row, name, a, &text))
        return text;
    json_list_open(&it, row, name);
    while (json_list_next(&it, &part)) {
        if (json_get_text(part, "text", a, &text))
            all = arena_join(a, all, "\n", text);
    }
    return all;
}

struct slice kimi_prompt(struct slice row, struct arena *a)
{
    return text_under(row, "input", a);
}

/* ---- for lists ---- */

static enum err_code kimi_read_row_facts(struct slice row, struct arena *a,
                                         struct jsonl_row_facts *out)
{
    if (!json_valid(row) || json_type(row) != JSON_OBJECT)
        return ERR_FORMAT;
    enum kimi_part part = kimi_part_of(row);

    out->time_ms = kimi_time(row);
    out->waits = part == KIMI_TYPED || part == KIMI_INPUT || part == KIMI_RESULT;
    out->speaks = out->waits || part == KIMI_ANSWER || part == KIMI_CALL;
    if (part == KIMI_TYPED)
        out->prompt = kimi_prompt(row, a);
    else if (json_get_is(row, "type", "usage.record"))
        json_get_text(row, "model", a, &out->model);
    return a->failed ? ERR_NOMEM : ERR_OK;
}

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

/* ---- the conversation ---- */

/* The turns that were not undone, by the lines of their prompts. */
struct turns {
    struct arena arena;
    size_t *line;
    size_t n;
};

static enum err_code kimi_begin_turn(struct turns *t, size_t line, struct err *e)
{
    size_t *more = arena_grow(&t->arena, t->line, t->n, sizeof *more);

    if (!more)
        return err_nomem(e);
    t->line = more;
    t->line[t->n++] = line;
    return ERR_OK;
}

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
        if (kind == KIMI_PROMPT)
            rc = kimi_begin_turn(&turns, i, e);
        else if (kind == KIMI_UNDO)
            rc = undo_turns(&turns, log, i, shown, e);
    }
    arena_fini(&turns.arena);
    return rc;
}

static enum err_code kimi_judge_row(struct logfile *log, size_t line, struct message *m, bool *keep,
                                    struct err *e)
{
    static const uint8_t kind_of[] = {
        [KIMI_NO_PART] = MESSAGE_OTHER,    [KIMI_TYPED] = MESSAGE_USER,
        [KIMI_INPUT] = MESSAGE_USER,       [KIMI_SHELL] = MESSAGE_USER,
        [KIMI_ANSWER] = MESSAGE_ASSISTANT, [KIMI_CALL] = MESSAGE_ASSISTANT,
        [KIMI_RESULT] = MESSAGE_TOOL,      [KIMI_SEAM] = MESSAGE_SYSTEM,
    };
    struct slice row;

    m->kind = MESSAGE_OTHER;
    m->flags = MESSAGE_BROKEN;
    if (log->index.line[line].state == LINE_BROKEN)
        return ERR_OK;
    TRY(logfile_row(log, line, &row, e));

    enum kimi_part part = kimi_part_of(row);

    *keep = part != KIMI_NO_PART;
    m->kind = kind_of[part];
    m->time_ms = kimi_time(row);
    m->flags = part == KIMI_INPUT || part == KIMI_SHELL ? MESSAGE_META
               : part == KIMI_SEAM                      ? MESSAGE_SEAM
                                                        : 0;
    return ERR_OK;
}

/* {"role", "content"} around a value of the row. */
static void wrap(struct arena *a, const char *role, bool list, struct slice value,
                 struct jsonl_message *out)
{
    const struct slice parts[] = { SLICE("{\"role\":\""), slice_of(role),
                                   list ? SLICE("\",\"content\":[") : SLICE("\",\"content\":"),
                                   value, list ? SLICE("]}") : SLICE("}") };
    const char *text = arena_concat(a, parts, sizeof parts / sizeof *parts);

    if (text)
        out->message = slice_of(text);
}

static void kimi_write_time(struct slice row, struct arena *a, struct jsonl_message *out)
{
    char text[TIME_TEXT];
    int64_t ms = kimi_time(row);

    if (ms == TIME_NONE)
        return;
    time_format(ms, text);
    out->timestamp = arena_copy(a, slice_of(text));
}

static bool kimi_read_message(struct slice row, struct arena *a, struct jsonl_message *out)
{
    struct slice value = SLICE("null");
    enum kimi_part part = kimi_part_of(row);

    out->uuid = json_text_at(row, "promptId", a);
    kimi_write_time(row, a, out);
    switch (part) {
    case KIMI_TYPED:
    case KIMI_INPUT:
    case KIMI_SHELL:
        out->type = part == KIMI_TYPED ? "user" : "system";
        out->is_system = part != KIMI_TYPED;
        json_at(row, part == KIMI_SHELL ? "message.content" : "input", &value);
        wrap(a, "user", false, value.n ? value : SLICE("null"), out);
        return true;
    case KIMI_ANSWER:
    case KIMI_CALL:
    case KIMI_RESULT:
        out->type = part == KIMI_RESULT ? "tool" : "assistant";
        json_at(row, part == KIMI_ANSWER ? "event.part" : "event", &value);
        wrap(a, out->type, true, value.n ? value : SLICE("null"), out);
        return true;
    case KIMI_SEAM:
        out->type = "system";
        out->is_system = true;
        out->message = row;
        return true;
    case KIMI_NO_PART: break;
    }
    return false;
}

/* "session_" and a UUID, or any plain name of this kind. */
static bool kimi_is_id(struct slice id)
{
    return slice_is_of(id, JSONL_ID_CHARACTERS) && id.n > 0 && id.n <= 128 && id.p[0] != '-';
}

const struct jsonl_format kimi_format = { .keys = &kimi_keys,
                                          .judge = kimi_judge_row,
                                          .choose = kimi_choose_lines,
                                          .read = kimi_read_row_facts,
                                          .prompt_needle = "\"turn.prompt\"",
                                          .model_needle = "\"usage.record\"",
                                          .complete = kimi_complete_row,
                                          .message = kimi_read_message,
                                          .is_id = kimi_is_id,
                                          .id_name = "a Kimi Code session id",
                                          .dirs = &kimi_dirs,
                                          .variable = "KIMI_CODE_HOME",
                                          .home = ".kimi-code" };

/* ---- blocks ---- */

static void kimi_put_message(struct block_list *b, struct slice part)
{
    struct block block = { .kind = BLOCK_TEXT };
    struct arena *a = &b->arena;

    if (!json_get_text(part, "text", a, &block.text) &&
        (json_get_text(part, "think", a, &block.text) ||
         json_get_text(part, "thinking", a, &block.text)))
        block.kind = BLOCK_THINKING;
    else if (!block.text.p)
        block = (struct block){ .kind = BLOCK_NOTE, .text = part };
    transcript_block_put(b, block);
}

static void kimi_put_call(struct block_list *b, struct slice event)
{
    struct block block = { .kind = BLOCK_TOOL_CALL };

    json_get_text(event, "name", &b->arena, &block.name);
    json_get_text(event, "toolCallId", &b->arena, &block.call_id);
    json_get(event, "args", &block.input);
    transcript_block_put(b, block);
}

static void kimi_put_result(struct block_list *b, struct slice event)
{
    struct block block = { .kind = BLOCK_TOOL_RESULT };
    struct slice result;

    json_get_text(event, "toolCallId", &b->arena, &block.call_id);
    if (json_get(event, "result", &result)) {
        block.failed = json_get_true(result, "isError");
        if (!json_get_text(result, "output", &b->arena, &block.text))
            block.text = result;
    }
    transcript_block_put(b, block);
}

static void kimi_put_row(struct block_list *b, struct slice row)
{
    struct slice value = { NULL, 0 }, prompt;

    switch (kimi_part_of(row)) {
    case KIMI_SHELL:
        json_get(row, "message", &value);
        transcript_block_put_text(b, BLOCK_NOTE, text_under(value, "content", &b->arena));
        break;
    case KIMI_TYPED:
    case KIMI_INPUT:
        prompt = kimi_prompt(row, &b->arena);
        transcript_block_put(
            b, (struct block){ .kind = kimi_part_of(row) == KIMI_TYPED ? BLOCK_PROMPT : BLOCK_NOTE,
                               .text = prompt });
        break;
    case KIMI_ANSWER:
        json_at(row, "event.part", &value);
        kimi_put_message(b, value);
        break;
    case KIMI_CALL:
    case KIMI_RESULT:
        json_get(row, "event", &value);
        (kimi_part_of(row) == KIMI_CALL ? kimi_put_call : kimi_put_result)(b, value);
        break;
    case KIMI_SEAM:
        transcript_block_put(
            b, (struct block){ .kind = BLOCK_SEAM, .text = SLICE("the context was shortened") });
        break;
    case KIMI_NO_PART: transcript_block_put(b, (struct block){ .kind = BLOCK_NOTE }); break;
    }
}

enum err_code kimi_blocks(const struct store *st, struct slice row, struct block_list *out,
                          struct err *e)
{
    (void)st;
    if (json_valid(row) && json_type(row) == JSON_OBJECT)
        kimi_put_row(out, row);
    else
        transcript_block_put(out, (struct block){ .kind = BLOCK_RAW, .text = row });
    return out->arena.failed ? err_nomem(e) : ERR_OK;
}

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
    struct arena a = { 0 };
    struct session_ref agent;
    struct slice *ids;
    size_t n = 0;
    enum err_code rc = usage_walk_file(&w, ref->path.p, 0, SLICE(""), e);

    if (!rc)
        rc = kimi_subagents(st, ref, &a, &ids, &n, e);
    for (size_t i = 0; !rc && i < n; i++)
        if (!kimi_subagent(st, ref, ids[i], &a, &agent, NULL))
            rc = usage_walk_file(&w, agent.path.p, 0, ids[i], e);
    arena_fini(&a);
    return rc;
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
