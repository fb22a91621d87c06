#include <string.h>

#include "lite/base/time.h"
#include "store/api/host.h"
#include "store/systems/common/row_table.h"
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

/* The id in the path of the session that this one was forked from. */
static void pi_read_parent(struct slice row, struct arena *a, struct jsonl_row_facts *out)
{
    struct slice parent;

    if (!json_get_text(row, "parentSession", a, &parent) || memchr(parent.p, '\0', parent.n))
        return;
    const char *path = arena_copy(a, parent).p, *slash = path ? strrchr(path, '/') : NULL;

    if (slash && !pi_name_id(slash + 1, &out->parent))
        out->parent = (struct slice){ NULL, 0 };
}

/* The line of a command that a person ran in pi. */
static struct slice pi_command(struct slice row, struct arena *a)
{
    struct slice command = json_text_at(row, "message.command", a);

    return command.p ? arena_join(a, SLICE("!"), " ", command) : command;
}

static void pi_put_entry(struct block_list *b, struct slice row)
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

/* clang-format off */
#define PI_PARTS(spoken)                                                                                     \
    { spoken, "text", .when = "type=text", .empty = true },                                                  \
    { BLOCK_THINKING, "thinking", .when = "type=thinking", .empty = true },                                  \
    { BLOCK_TOOL_CALL, .when = "type=toolCall", .call = "id", .name = "name", .input = "arguments" },        \
    { BLOCK_IMAGE, .when = "type=image", .name = "mimeType", .base64 = "data" },                             \
    { BLOCK_NOTE, .read = row_whole }, ROW_BLOCKS_END
static const struct row_block pi_parts[] = { PI_PARTS(BLOCK_TEXT) };
static const struct row_block pi_notes[] = { PI_PARTS(BLOCK_NOTE) };

static const struct row_kind pi_rows[] = {
    { "user", MESSAGE_USER,
      .blocks = { { BLOCK_PROMPT, "message.content", .part = "text" },
                  { .each = "message.content", .when = "type!=text", .parts = pi_notes } } },
    { "assistant", MESSAGE_ASSISTANT, .facts = { ROW_FACT(model, "message.model") },
      .blocks = { { .each = "message.content", .parts = pi_parts } } },
    { "toolResult", MESSAGE_TOOL,
      .blocks = { { BLOCK_TOOL_RESULT, "message.content", .part = "text", .call = "message.toolCallId",
                    .name = "message.toolName", .failed = "message.isError" } } },
    { "system", MESSAGE_OTHER, .blocks = { { .each = "message.content", .parts = pi_notes } } },
    { "bashExecution", MESSAGE_USER, MESSAGE_META, .silent = true,
      .blocks = { { BLOCK_COMMAND, .read = pi_command }, { BLOCK_NOTE, .text = "message.output" } } },
    { NULL, MESSAGE_SYSTEM, MESSAGE_SEAM, .when = "type=compaction", .put = pi_put_entry },
    { NULL, MESSAGE_SYSTEM, .when = "type=branch_summary", .put = pi_put_entry },
    { NULL, MESSAGE_SYSTEM, .when = "type=custom_message", .put = pi_put_entry },
    { NULL, MESSAGE_OTHER, .when = "type=session", .facts = { ROW_FACT(cwd, "cwd") },
      .read = pi_read_parent, .put = pi_put_entry },
    { NULL, MESSAGE_OTHER, .when = "type=session_info", .facts = { ROW_FACT(title, "name") },
      .put = pi_put_entry },
    { NULL, MESSAGE_OTHER, .put = pi_put_entry },
};
static const struct row_table pi_table = { .kind = pi_rows, .n = sizeof pi_rows / sizeof *pi_rows,
                                           .facts = { ROW_FACT(entry, "id"), ROW_FACT(after, "parentId") },
                                           .otherwise = row_blank };
/* clang-format on */

static enum err_code pi_complete_row(const struct store *st, const struct scope *scope,
                                     struct session_row *row, struct arena *a, struct err *e)
{
    (void)st, (void)a, (void)e;
    if (row->hidden)
        return ERR_OK;
    row->can = CAN_RESUME | CAN_FORK | CAN_RESUME_AT | CAN_REWIND;
    if (project_logs_collides(scope, row->cwd))
        row->hidden = HIDDEN_COLLISION;
    else if (!row->first_prompt.n && !row->custom_title.n && !row->last_prompt.n)
        row->hidden = HIDDEN_EMPTY;
    return ERR_OK;
}

static bool pi_read_message(struct slice row, struct arena *a, struct jsonl_message *out)
{
    static const char *const types[] = { "user", "assistant", "tool" };
    struct slice role;
    size_t i = json_at(row, "message.role", &role) ? json_key_in(role, roles, 3) : 3;

    out->type = i < 3 ? types[i] : "system";
    out->is_system = i >= 3;
    if (!json_get(row, "message", &out->message) || json_type(out->message) != JSON_OBJECT)
        out->message = row;
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
                                        .rows = &pi_table,
                                        .choose = jsonl_choose_path,
                                        .prompt_needle = "\"user\"",
                                        .branches = true,
                                        .title_needle = "\"session_info\"",
                                        .complete = pi_complete_row,
                                        .message = pi_read_message,
                                        .is_id = pi_is_id,
                                        .id_name = "a pi session id",
                                        .logs = &pi_logs,
                                        .usual = pi_usual_path };

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
