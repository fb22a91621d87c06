#include <string.h>

#include "lite/base/time.h"
#include "store/api/host.h"
#include "store/systems/common/usage_rows.h"
#include "store/systems/pi/pi.h"

/* The entries of a log. Only messages have a role; compactions, summaries of branches, labels,
 * names and changes of the model are also entries of the tree. */

static const char *const roles[] = { "user",   "assistant",     "toolResult",
                                     "system", "bashExecution", NULL };
const struct index_keys pi_keys = { .type = "role",
                                    .inner = "message",
                                    .id = "id",
                                    .parent = "parentId",
                                    .time = "timestamp",
                                    .kinds = roles };

static enum pi_kind kind_of_message(struct slice message)
{
    struct slice role;

    for (size_t i = 0; json_get(message, "role", &role) && roles[i]; i++)
        if (json_string_is(role, roles[i]))
            return (enum pi_kind)(i + 1);
    return PI_OTHER;
}

/* The kind of a row by its contents; *message is empty for an entry without one. */
static enum pi_kind pi_kind_of(struct slice row, struct slice *message)
{
    if (json_get(row, "message", message) && json_type(*message) == JSON_OBJECT)
        return kind_of_message(*message);
    *message = (struct slice){ NULL, 0 };
    return PI_OTHER;
}

/* The text of a content that is a text or an array of parts. */
static struct slice pi_text_of(struct slice message, struct arena *a)
{
    struct slice part, text, all = { NULL, 0 };
    struct json_iter it;

    if (json_get_text(message, "content", a, &text))
        return text;
    json_list_open(&it, message, "content");
    while (json_list_next(&it, &part)) {
        if (json_get_is(part, "type", "text") && json_get_text(part, "text", a, &text))
            all = arena_join(a, all, "\n", text);
    }
    return all;
}

/* ---- for lists ---- */

/* The id in the path of the session that this one was forked from. */
static void pi_read_header(struct slice row, struct arena *a, struct jsonl_row_facts *out)
{
    struct slice parent;

    json_get_text(row, "cwd", a, &out->cwd);
    if (!json_get_text(row, "parentSession", a, &parent) || memchr(parent.p, '\0', parent.n))
        return;
    const char *path = arena_copy(a, parent).p, *slash = path ? strrchr(path, '/') : NULL;

    if (slash && !pi_name_id(slash + 1, &out->parent))
        out->parent = (struct slice){ NULL, 0 };
}

static enum err_code pi_read_row_facts(struct slice row, struct arena *a,
                                       struct jsonl_row_facts *out)
{
    enum { MESSAGE, TIME, ID, PARENT, TYPE, N };
    static const char *const names[] = { "message", "timestamp", "id", "parentId", "type" };
    struct slice value[N];
    enum pi_kind kind = PI_OTHER;

    if (!json_valid(row) || json_type(row) != JSON_OBJECT)
        return ERR_FORMAT;
    json_get_each(row, names, N, value);
    if (json_type(value[MESSAGE]) == JSON_OBJECT)
        kind = kind_of_message(value[MESSAGE]);
    if (!time_parse(json_text_of(value[TIME], a), &out->time_ms))
        out->time_ms = TIME_NONE;
    out->entry = json_text_of(value[ID], a);
    out->after = json_text_of(value[PARENT], a);
    out->waits = kind == PI_USER || kind == PI_TOOL;
    out->speaks = out->waits || kind == PI_ASSISTANT;
    if (kind == PI_USER)
        out->prompt = pi_text_of(value[MESSAGE], a);
    else if (kind == PI_ASSISTANT)
        json_get_text(value[MESSAGE], "model", a, &out->model);
    else if (json_string_is(value[TYPE], "session"))
        pi_read_header(row, a, out);
    else if (json_string_is(value[TYPE], "session_info"))
        out->names = json_get_text(row, "name", a, &out->title);
    return a->failed ? ERR_NOMEM : ERR_OK;
}

static enum err_code pi_complete_row(const struct store *st, const struct scope *scope,
                                     struct session_row *row, struct arena *a, struct err *e)
{
    (void)st, (void)a, (void)e;
    if (row->hidden)
        return ERR_OK;
    row->can = CAN_RESUME | CAN_FORK | CAN_RESUME_AT;
    if (project_logs_collides(scope, row->cwd))
        row->hidden = HIDDEN_COLLISION;
    else if (!row->first_prompt.n && !row->custom_title.n && !row->last_prompt.n)
        row->hidden = HIDDEN_EMPTY;
    return ERR_OK;
}

/* ---- for readers ---- */

static enum err_code pi_judge_entry(struct logfile *log, size_t line, struct message *m, bool *keep,
                                    struct err *e)
{
    static const uint8_t as[] = { MESSAGE_OTHER, MESSAGE_USER,   MESSAGE_ASSISTANT,
                                  MESSAGE_TOOL,  MESSAGE_SYSTEM, MESSAGE_USER };
    const struct index_line *ix = &log->index.line[line];
    enum pi_kind kind = ix->kind;
    struct slice row, message;

    m->flags = ix->state == LINE_BROKEN ? MESSAGE_BROKEN : 0;
    m->kind = MESSAGE_OTHER;
    if (m->flags)
        return ERR_OK;
    TRY(kind == PI_OTHER ? logfile_row(log, line, &row, e) : ERR_OK);
    if (kind == PI_OTHER) {
        kind = pi_kind_of(row, &message);
        m->flags = json_get_is(row, "type", "compaction") ? MESSAGE_SEAM : 0;
        *keep = kind != PI_OTHER || m->flags || json_get_is(row, "type", "branch_summary") ||
                json_get_is(row, "type", "custom_message");
        m->kind = MESSAGE_SYSTEM;
    }
    if (kind != PI_OTHER)
        m->kind = as[kind];
    *keep = *keep && kind != PI_SYSTEM;
    if (kind == PI_SHELL)
        m->flags = MESSAGE_META;
    return ERR_OK;
}

static bool pi_read_message(struct slice row, struct arena *a, struct jsonl_message *out)
{
    static const char *const types[] = {
        "system", "user", "assistant", "tool", "system", "system"
    };
    struct slice message;
    enum pi_kind kind = pi_kind_of(row, &message);

    out->type = types[kind];
    out->is_system = strcmp(out->type, "system") == 0;
    out->message = message.n ? message : row;
    json_get_text(row, "id", a, &out->uuid);
    json_get_text(row, "timestamp", a, &out->timestamp);
    return true;
}

static bool pi_is_id(struct slice id)
{
    for (size_t i = 0; i < id.n; i++)
        if ((unsigned char)id.p[i] < ' ' || id.p[i] == 0x7f)
            return false;
    return host_id_is_plain(id) && id.n <= 200;
}

const struct jsonl_format pi_format = { .keys = &pi_keys,
                                        .judge = pi_judge_entry,
                                        .choose = jsonl_choose_path,
                                        .read = pi_read_row_facts,
                                        .prompt_needle = "\"user\"",
                                        .branches = true,
                                        .title_needle = "\"session_info\"",
                                        .complete = pi_complete_row,
                                        .message = pi_read_message,
                                        .is_id = pi_is_id,
                                        .id_name = "a pi session id",
                                        .logs = &pi_logs };

/* ---- blocks ---- */

static void pi_put_part(struct block_list *b, enum block_kind spoken, struct slice part)
{
    struct arena *a = &b->arena;
    struct block block = { .kind = spoken };

    if (json_get_is(part, "type", "text")) {
        json_get_text(part, "text", a, &block.text);
    } else if (json_get_is(part, "type", "thinking")) {
        block.kind = BLOCK_THINKING;
        json_get_text(part, "thinking", a, &block.text);
    } else if (json_get_is(part, "type", "toolCall")) {
        block.kind = BLOCK_TOOL_CALL;
        json_get_text(part, "name", a, &block.name);
        json_get_text(part, "id", a, &block.call_id);
        json_get(part, "arguments", &block.input);
    } else if (json_get_is(part, "type", "image")) {
        block.kind = BLOCK_IMAGE;
        json_get_text(part, "mimeType", a, &block.name);
        if (json_get_text(part, "data", a, &block.text))
            block.bytes = (int64_t)(block.text.n / 4 * 3);
        block.text = (struct slice){ NULL, 0 };
    } else {
        block = (struct block){ .kind = BLOCK_NOTE, .text = part };
    }
    transcript_block_put(b, block);
}

static void pi_put_parts(struct block_list *b, enum block_kind spoken, struct slice message)
{
    struct slice part, text;
    struct json_iter it;

    if (json_get_text(message, "content", &b->arena, &text)) {
        transcript_block_put(b, (struct block){ .kind = spoken, .text = text });
        return;
    }
    json_list_open(&it, message, "content");
    while (json_list_next(&it, &part))
        pi_put_part(b, spoken, part);
}

static void put_user(struct block_list *b, struct slice message)
{
    struct slice part, text = pi_text_of(message, &b->arena);
    struct json_iter it;

    if (text.n)
        transcript_block_put(b, (struct block){ .kind = BLOCK_PROMPT, .text = text });
    json_list_open(&it, message, "content");
    while (json_list_next(&it, &part))
        if (!json_get_is(part, "type", "text"))
            pi_put_part(b, BLOCK_NOTE, part);
}

static void pi_put_result(struct block_list *b, struct slice message)
{
    struct arena *a = &b->arena;
    struct block block = { .kind = BLOCK_TOOL_RESULT, .text = pi_text_of(message, a) };

    json_get_text(message, "toolCallId", a, &block.call_id);
    json_get_text(message, "toolName", a, &block.name);
    block.failed = json_get_true(message, "isError");
    transcript_block_put(b, block);
}

static void put_shell(struct block_list *b, struct slice message)
{
    struct arena *a = &b->arena;
    struct slice command, output;

    if (json_get_text(message, "command", a, &command)) {
        const char *line = arena_format(a, "! %.*s", SLICE_ARG(command));

        if (line)
            transcript_block_put(b,
                                 (struct block){ .kind = BLOCK_COMMAND, .text = slice_of(line) });
    }
    if (json_get_text(message, "output", a, &output))
        transcript_block_put(b, (struct block){ .kind = BLOCK_NOTE, .text = output });
}

static void put_entry(struct block_list *b, struct slice row)
{
    struct slice summary = { NULL, 0 }, type = { NULL, 0 };

    json_get_text(row, "type", &b->arena, &type);
    if (json_get_text(row, "summary", &b->arena, &summary) &&
        json_get_is(row, "type", "compaction"))
        transcript_block_put_compaction(b, summary);
    else
        transcript_block_put(b,
                             (struct block){ .kind = BLOCK_NOTE, .name = type, .text = summary });
}

enum err_code pi_blocks(const struct store *st, struct slice row, struct block_list *out,
                        struct err *e)
{
    struct slice message;
    bool valid = json_valid(row) && json_type(row) == JSON_OBJECT;

    (void)st;
    if (!valid)
        transcript_block_put(out, (struct block){ .kind = BLOCK_RAW, .text = row });
    else
        switch (pi_kind_of(row, &message)) {
        case PI_USER: put_user(out, message); break;
        case PI_ASSISTANT: pi_put_parts(out, BLOCK_TEXT, message); break;
        case PI_TOOL: pi_put_result(out, message); break;
        case PI_SHELL: put_shell(out, message); break;
        case PI_SYSTEM: pi_put_parts(out, BLOCK_NOTE, message); break;
        case PI_OTHER: put_entry(out, row); break;
        }
    if (out->n == 0)
        transcript_block_put(out, (struct block){ .kind = BLOCK_NOTE });
    return out->arena.failed ? err_nomem(e) : ERR_OK;
}

/* The tokens of each answer and of the summaries that pi requested: {input, output, cacheRead,
 * cacheWrite, cost{total}}. The rows of the file include all branches. */

/* A fork keeps ids and times of its entries; the ids alone are too short to be different everywhere. */
static bool pi_read_usage(struct slice row, struct arena *a, struct usage_record *u)
{
    struct slice message, usage, cost;

    *u = usage_record_empty();
    if (!json_valid(row) || !json_get_text(row, "id", a, &u->answer) ||
        !json_get_text(row, "timestamp", a, &u->request))
        return false;
    if (!json_get(row, "message", &message))
        message = row;
    if (!json_get(message, "usage", &usage) || json_type(usage) != JSON_OBJECT)
        return false;
    json_get_text(message, "model", a, &u->model);
    u->message = u->answer;
    u->input = usage_count(usage, "input");
    u->output = usage_count(usage, "output");
    u->cache_read = usage_count(usage, "cacheRead");
    u->cache_write = usage_count(usage, "cacheWrite");
    if (json_get(usage, "cost", &cost))
        u->cost = usage_cost(cost, "total");
    if (!time_parse(u->request, &u->time_ms))
        u->time_ms = TIME_NONE;
    return true;
}

enum err_code pi_usage(const struct store *st, const struct session_ref *ref,
                       const atomic_bool *cancel, usage_fn *fn, void *arg, struct err *e)
{
    const struct usage_walk w = {
        .read = pi_read_usage, .mark = "\"usage\"", .cancel = cancel, .fn = fn, .arg = arg
    };

    (void)st;
    return usage_walk_file(&w, ref->path.p, 0, SLICE(""), e);
}
