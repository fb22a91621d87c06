#include <stdio.h>
#include <stdlib.h>

#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/systems/common/config_dir.h"
#include "store/systems/common/edits/tool_edits.h"
#include "store/systems/common/row_table.h"
#include "store/systems/common/sqlite/sqlite_store.h"

/* The conversations of the Amazon Q CLI and of its successor, the Kiro CLI before version 2 and with --classic
 * (docs/formats/kiro.md). Each is one JSON text in a database:
 *
 *     <data>/amazon-q/data.sqlite3     table `conversations`: one for each directory
 *     <data>/kiro-cli/data.sqlite3     table `conversations_v2`
 *
 * <data> is $XDG_DATA_HOME or ~/.local/share. Only read. */

extern const struct store_ops amazonq_ops, kiro_classic_ops;

/* The table of each, with the same columns. */
#define AMAZONQ_TABLE                                                                              \
    "(SELECT CASE WHEN json_valid(value) THEN json_extract(value, '$.conversation_id') END AS "    \
    "id, "                                                                                         \
    "key, value, NULL AS created_at, NULL AS updated_at FROM conversations) c"
#define AMAZONQ_CLASSIC_TABLE                                                                      \
    "(SELECT conversation_id AS id, key, value, created_at, updated_at FROM conversations_v2) c"

/* ---- entries ---- */

/* The halves of an entry; false: it is damaged. */
static bool amazonq_entry(struct slice entry, struct slice *user, struct slice *assistant)
{
    struct slice key;
    struct json_iter it;

    if (!json_valid(entry))
        return false;
    if (json_type(entry) == JSON_OBJECT)
        return json_get(entry, "user", user) && json_get(entry, "assistant", assistant);
    return json_type(entry) == JSON_ARRAY && json_iter_open(&it, entry) &&
           json_iter_next(&it, &key, user) && json_iter_next(&it, &key, assistant);
}

/* The prompt in the content of a user's half of an entry, in the arena or borrowed; may be empty. */
static struct slice amazonq_prompt(struct slice user, struct arena *a)
{
    struct slice prompt = json_text_at(user, "content.Prompt.prompt", a);

    return prompt.n ? prompt : json_text_at(user, "content.CancelledToolUses.prompt", a);
}

static enum err_code amazonq_add_half(struct sqlite_conversation *c, int64_t number,
                                      const char *half, const char *role, struct slice json,
                                      int64_t time_ms)
{
    char id[48];

    snprintf(id, sizeof id, "entry-%lld-%s", (long long)number, half);
    return sqlite_conversation_add(c, slice_of(id), slice_of(role), "entry", json, time_ms);
}

/* A damaged entry is shown as it is. */
static enum err_code amazonq_add_entry(struct sqlite_conversation *c, int64_t number,
                                       struct slice entry)
{
    struct slice user, assistant;
    AUTO_ARENA a = { 0 };
    int64_t ms;

    if (!amazonq_entry(entry, &user, &assistant))
        return amazonq_add_half(c, number, "user", "system", entry, TIME_NONE);
    if (!time_parse(json_text_at(user, "timestamp", &a), &ms))
        ms = TIME_NONE;
    const char *role = amazonq_prompt(user, &a).n ? "user" : "tool";

    TRY(a.failed ? ERR_NOMEM : amazonq_add_half(c, number, "user", role, user, ms));
    return amazonq_add_half(c, number, "assistant", "assistant", assistant, TIME_NONE);
}

/* A row of the database is a whole conversation. */
static enum err_code amazonq_message(const struct sqlite_row *row, struct sqlite_conversation *c)
{
    struct slice value = sqlite_row_text(row, 0), entry;
    struct json_iter it;
    int64_t number = 0;
    enum err_code rc = ERR_OK;

    if (!json_valid(value))
        return amazonq_add_half(c, 0, "user", "system", value, TIME_NONE);
    json_list_open(&it, value, "history");
    while (!rc && json_list_next(&it, &entry))
        rc = amazonq_add_entry(c, number++, entry);
    return rc;
}

/* ---- blocks ---- */

/* The texts of a result, and JSON with what a command printed. */
static struct slice amazonq_result(struct slice result, struct arena *a)
{
    struct slice part, text, all = SLICE("");
    struct json_iter it;

    json_list_open(&it, result, "content");
    while (json_list_next(&it, &part)) {
        if (!json_get_text(part, "Text", a, &text) && !json_get(part, "Json", &text))
            text = part;
        all = arena_join(a, all, "\n", text);
    }
    return all;
}

/* clang-format off */
#define AMAZONQ_RESULTS(list) \
    { BLOCK_TOOL_RESULT, .each = list, .call = "tool_use_id", .read = amazonq_result, .failed = "status!=Success" }
#define AMAZONQ_CALLS(list) \
    { BLOCK_TOOL_CALL, .each = list, .call = "id", .name = "name", .input = "args" }
static const struct row_block amazonq_user[] = {
    AMAZONQ_RESULTS("content.ToolUseResults.tool_use_results"),
    AMAZONQ_RESULTS("content.CancelledToolUses.tool_use_results"),
    { BLOCK_PROMPT, .read = amazonq_prompt },
    { BLOCK_IMAGE, .each = "images" },
    ROW_BLOCKS_END
};
static const struct row_block amazonq_assistant[] = {
    { BLOCK_TEXT, .text = "Response.content" }, AMAZONQ_CALLS("Response.tool_uses"),
    { BLOCK_TEXT, .text = "ToolUse.content" }, AMAZONQ_CALLS("ToolUse.tool_uses"),
    ROW_BLOCKS_END
};
/* clang-format on */

static enum err_code amazonq_blocks(const struct store *st, struct slice row,
                                    struct block_list *out, struct err *e)
{
    struct slice entry;

    (void)st;
    if (!json_valid(row) || !json_get(row, "entry", &entry) || json_type(entry) != JSON_OBJECT)
        transcript_block_put(out, (struct block){ .kind = BLOCK_RAW, .text = row });
    else
        row_blocks_put(out, row_is(row, "role=assistant") ? amazonq_assistant : amazonq_user,
                       entry);
    return out->arena.failed ? err_nomem(e) : ERR_OK;
}

#define SESSIONS(table)                                                                            \
    "SELECT c.id, c.key, c.created_at, c.updated_at, c.value FROM " table                          \
    " WHERE (?1 = '' OR c.id = ?1)"

enum column {
    COLUMN_ID,
    COLUMN_DIRECTORY,
    COLUMN_CREATED,
    COLUMN_UPDATED,
    COLUMN_VALUE,
};

/* The programs have a database also for other things, so the table may be missing. */
static const char no_sessions[] = "SELECT 1 WHERE ?1 IS NULL";

static enum err_code amazonq_found_table(const struct sqlite_row *row, void *arg, struct err *e)
{
    (void)row, (void)e;
    *(bool *)arg = true;
    return ERR_OK;
}

static bool amazonq_has_table(struct sqlite_db *db, const char *name)
{
    const struct slice table = slice_of(name);
    bool found = false;

    return sqlite_db_each(db, "SELECT 1 FROM sqlite_master WHERE name = ?1", &table, 1,
                          amazonq_found_table, &found, NULL) ||
           found; /* if it cannot be read, the query of the sessions says why */
}

static const char *amazonq_sessions(struct sqlite_db *db, struct arena *a)
{
    (void)a;
    return amazonq_has_table(db, "conversations") ? SESSIONS(AMAZONQ_TABLE) : no_sessions;
}

static const char *amazonq_classic_sessions(struct sqlite_db *db, struct arena *a)
{
    (void)a;
    return amazonq_has_table(db, "conversations_v2") ? SESSIONS(AMAZONQ_CLASSIC_TABLE)
                                                     : no_sessions;
}

/* What the entries of a conversation tell a list. Texts are in the arena or borrowed. */
struct found {
    struct slice first, last;
    int64_t first_ms, last_ms; /* TIME_NONE: not recorded */
    bool waits;                /* the newest entry ends with calls */
};

static struct found amazonq_read_history(struct slice value, struct arena *a)
{
    struct found out = { SLICE(""), SLICE(""), TIME_NONE, TIME_NONE, false };
    struct slice entry, user, assistant, prompt, calls;
    int64_t ms;
    struct json_iter it;

    json_list_open(&it, value, "history");
    while (json_list_next(&it, &entry)) {
        if (!amazonq_entry(entry, &user, &assistant))
            continue;
        prompt = amazonq_prompt(user, a);
        if (prompt.n)
            out.last = prompt;
        if (!out.first.n)
            out.first = prompt;
        out.waits = json_get(assistant, "ToolUse", &calls);
        if (!time_parse(json_text_at(user, "timestamp", a), &ms))
            continue;
        out.last_ms = ms;
        if (out.first_ms == TIME_NONE)
            out.first_ms = ms;
    }
    return out;
}

/* Old versions record no times for a conversation. */
static int64_t amazonq_time_of(const struct sqlite_row *row, int column, int64_t otherwise)
{
    return sqlite_row_int(row, column) > 0 ? sqlite_row_int(row, column) : otherwise;
}

static bool amazonq_listed(const struct sqlite_row *row, const struct sqlite_place *place,
                           const struct scope *scope, struct arena *a, struct sqlite_listed *out)
{
    struct slice value = sqlite_row_text(row, COLUMN_VALUE);
    struct found found = amazonq_read_history(json_valid(value) ? value : SLICE("{}"), a);

    (void)place;
    out->id = sqlite_row_text(row, COLUMN_ID);
    out->title = SLICE("");
    out->cwd = sqlite_row_text(row, COLUMN_DIRECTORY);
    out->model = json_text_at(value, "model_info.model_id", a);
    if (!out->model.n)
        out->model = json_text_at(value, "model", a);
    out->first = found.first;
    out->last = found.last;
    out->created_ms = amazonq_time_of(row, COLUMN_CREATED, found.first_ms);
    out->modified_ms = amazonq_time_of(row, COLUMN_UPDATED, found.last_ms);
    out->hidden = found.first.n ? HIDDEN_NOT : HIDDEN_EMPTY;
    out->flags = found.waits ? SESSION_INTERRUPTED : 0;
    return config_dir_in_scope(scope, out->cwd, a);
}

/* Adds the database: the given file, or the database in a directory. */
static enum err_code amazonq_add_database(struct sqlite_store *s, const char *named, struct err *e)
{
    bool file = named && sqlite_store_is_file(s->base.path);
    AUTO_FREE char *path = config_dir_join(s->base.path, file ? "" : "data.sqlite3");

    NEED(path);
    if (!sqlite_store_is_file(path))
        return err_set(e, ERR_NOT_FOUND, path, "open store: no database of conversations");
    return sqlite_store_add(s, path, NULL, e);
}

#define CONVERSATION(table) "SELECT c.value FROM " table " WHERE c.id = ?1"
#define FORMAT(table, query)                                                                       \
    {                                                                                              \
        .id_name = "the id of a conversation", .sessions = query, .listed = amazonq_listed,        \
        .messages = CONVERSATION(table), .tail = CONVERSATION(table),                              \
        .count = "SELECT 1 FROM " table " WHERE c.id = ?1", .message = amazonq_message,            \
    }

static const struct sqlite_format format = FORMAT(AMAZONQ_TABLE, amazonq_sessions);
static const struct sqlite_format classic = FORMAT(AMAZONQ_CLASSIC_TABLE, amazonq_classic_sessions);

static enum err_code amazonq_open(const struct store_env *env, const char *path, struct store **out,
                                  struct err *e)
{
    char *folder = path ? config_dir_absolute(env, path) : config_dir_data(env, "amazon-q");

    return sqlite_store_open(&amazonq_ops, &format, env, path, folder, amazonq_add_database, out,
                             e);
}

static enum err_code kiro_classic_open(const struct store_env *env, const char *path,
                                       struct store **out, struct err *e)
{
    char *folder = path ? config_dir_absolute(env, path) : config_dir_data(env, "kiro-cli");

    return sqlite_store_open(&kiro_classic_ops, &classic, env, path, folder, amazonq_add_database,
                             out, e);
}

#define MEMBERS                                                                                    \
    .size_unknown = true, .close = sqlite_store_close, .enumerate = sqlite_store_enumerate,        \
    .unreadable = sqlite_store_unreadable, .describe = sqlite_store_describe,                      \
    .find = sqlite_store_find, .at_path = sqlite_store_at_path, .tail = sqlite_store_tail,         \
    .load = sqlite_store_load, .blocks = amazonq_blocks, .messages = sqlite_store_messages,        \
    .edits = tool_edits_loaded,                                                                    \
    .why = {                                                                                       \
        [ABILITY_RENAME] = "its conversations are in a database that only the agent writes",       \
        [ABILITY_DELETE] = "its conversations are in a database that only the agent writes",       \
        [ABILITY_ARCHIVE] = "its conversations cannot be archived",                                \
        [ABILITY_TAG] = "its conversations have no tags",                                          \
        [ABILITY_FORK] = "no command of the agent that forks a conversation is known",             \
        [ABILITY_NAME_FORK] = "no command of the agent that forks a conversation is known",        \
        [ABILITY_RESUME_AT] = "it continues after the last message",                               \
        [ABILITY_REWIND] = "the agent is not known to keep copies of files",                       \
        [ABILITY_TOMBSTONE] = "it keeps its messages in its own database",                         \
        [ABILITY_REAPPEND] = "its conversations have no metadata to append again",                 \
        [ABILITY_RETRIEVE] = "its conversations are already where it looks for them",              \
        [ABILITY_HAVE_AGENTS] = "its conversations have no sub-agents",                            \
        [ABILITY_MOVE] = "the directory is in its own database",                                   \
        [ABILITY_HAVE_BRANCHES] = "its conversations have no branches",                            \
        [ABILITY_SET] = "it keeps its settings in its own database",                               \
    }

const struct store_ops amazonq_ops = { .name = "amazonq",
                                       .label = "Amazon Q CLI",
                                       .resume_command = "q chat --resume",
                                       .open = amazonq_open,
                                       MEMBERS };
const struct store_ops kiro_classic_ops = { .name = "kiro-classic",
                                            .label = "Kiro CLI (classic)",
                                            .resume_command = "kiro-cli chat --resume-id {id}",
                                            .open = kiro_classic_open,
                                            MEMBERS };
