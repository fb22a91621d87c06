#include <fcntl.h>
#include <string.h>

#include "lite/base/time.h"
#include "lite/io/file.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/log/log_damage.h"
#include "store/systems/common/config_dir.h"
#include "store/systems/common/edits/tool_edits.h"
#include "store/systems/common/jsonl.h"
#include "store/systems/common/row_table.h"
#include "store/systems/common/session_dirs.h"

/* The sessions of the Kiro CLI (docs/formats/kiro.md): its path is $KIRO_HOME or ~/.kiro, with
 *
 *   sessions/cli/<uuid>.jsonl                          the log of a session; <uuid>.json is about it (engine v2)
 *   sessions/<workspace>/sess_<uuid>/messages.jsonl    the same of engine v3 and of Kiro's IDE; session.json is about it
 *
 * Only read. The store is a struct jsonl_store. */

extern const struct store_ops kiro_ops;

static const struct session_dirs kiro_dirs;

/* The rows of a log:
 *
 *   v2  {"version", "kind": "Prompt" | "AssistantMessage" | "ToolResults", "data": {"message_id", "content": [{"kind", "data"}]}}
 *   v3  {"id", "timestamp", "payload": {"type": "user" | "assistant" | "tool_call" | "tool_result" | ..., "content", ...}}
 *
 * Only prompts of the former have a time. Other rows are Kiro's bookkeeping and are left out. */
static const struct index_keys kiro_keys = { .type = "kind", .id = "id", .time = "timestamp" };

/* A prompt of v2 has seconds, perhaps with a fraction. */
static int64_t kiro_time_of(struct slice row, struct arena *a)
{
    struct slice value;
    const char *dot;
    int64_t seconds;

    if (json_get(row, "timestamp", &value) && json_type(value) == JSON_STRING)
        return json_time_at(row, "timestamp", a);
    if (!json_at(row, "data.meta.timestamp", &value))
        return TIME_NONE;
    dot = memchr(value.p, '.', value.n);
    value.n = dot ? (size_t)(dot - value.p) : value.n;
    return json_int(value, &seconds) && seconds > 0 && seconds < INT64_MAX / 1000 ? seconds * 1000
                                                                                  : TIME_NONE;
}

static struct slice kiro_join(struct slice all, struct slice text, struct arena *a)
{
    return text.n ? arena_join(a, all, "\n", text) : all;
}

static struct slice kiro_prompt(struct slice row, struct arena *a)
{
    struct slice content, key, part, text, all = SLICE("");
    struct json_iter it;

    if ((!json_at(row, "data.content", &content) && !json_at(row, "payload.content", &content)) ||
        json_text(content, a, &all))
        return all;
    if (json_type(content) == JSON_ARRAY && json_iter_open(&it, content))
        while (json_iter_next(&it, &key, &part)) {
            /* The text of a part of v2, or of a list of v3. */
            const bool v2 = json_get_is(part, "kind", "text");

            if ((v2 || json_get_is(part, "type", "text")) &&
                json_get_text(part, v2 ? "data" : "text", a, &text))
                all = kiro_join(all, text, a);
        }
    return all;
}

/* ---- the document about a session ---- */

static int64_t kiro_time_in(struct slice about, const char *name, const char *other,
                            struct arena *a)
{
    struct slice text = json_copy_at(about, name, a);
    int64_t ms;

    return time_parse(text.n ? text : json_copy_at(about, other, a), &ms) ? ms : TIME_NONE;
}

/* Returns true if the session is a sub-agent's. A side conversation is a person's. */
static bool kiro_read_about(struct slice about, struct session_row *row, struct arena *a)
{
    struct slice parent = json_copy_at(about, "parent_session_id", a);
    int64_t updated = kiro_time_in(about, "updated_at", "lastModifiedAt", a);

    row->cwd = json_copy_at(about, "cwd", a);
    if (!row->cwd.n) {
        /* The first of a list of directories. */
        struct slice list, key, value, text = SLICE("");
        struct json_iter it;

        if (json_get(about, "workspacePaths", &list) && json_type(list) == JSON_ARRAY &&
            json_iter_open(&it, list) && json_iter_next(&it, &key, &value) &&
            json_text(value, a, &text))
            text = arena_copy(a, text);
        row->cwd = text;
    }
    row->custom_title = json_copy_at(about, "title", a);
    if (slice_starts(row->first_prompt, row->custom_title.n ? row->custom_title.p : ""))
        row->custom_title = SLICE("");
    row->flags |= SESSION_AI_TITLE;
    row->model = json_copy_at(about, "modelId", a);
    if (!row->model.n)
        row->model = json_copy_at(about, "session_state.rts_model_state.model_info.model_id", a);
    row->created_ms = kiro_time_in(about, "created_at", "createdAt", a);
    if (updated != TIME_NONE)
        row->activity_ms = updated;
    if (!parent.n)
        parent = json_copy_at(about, "parentSessionId", a);
    if (!parent.n)
        return false;
    row->parent_id = parent;
    if (!json_get_is(about, "createdReason", "tangent"))
        return true;
    row->flags |= SESSION_FORK;
    return false;
}

/* The members that a list shows precede the state of the session, which may be large. */
enum { ABOUT_MOST = 64 << 10 };

static const char flat[] = "cli", directory[] = "sess_";

/* Returns true if the session is one of engine v3. */
static bool kiro_is_directory(struct slice id)
{
    return slice_starts(id, directory);
}

static enum err_code kiro_read_document(const struct session_ref *ref, struct buf *out)
{
    struct arena a = { 0 };
    struct slice dir = session_dirs_of(ref);
    struct file f;
    const char *path =
        kiro_is_directory(ref->id)
            ? arena_format(&a, "%.*s/session.json", SLICE_ARG(dir))
            : arena_format(&a, "%.*s.json", (int)(ref->path.n - sizeof JSONL_SUFFIX + 1),
                           ref->path.p);
    enum err_code rc = path ? file_open(AT_FDCWD, path, 0, &f, NULL) : ERR_NOMEM;

    if (!rc) {
        rc = file_read_part(&f, 0, ABOUT_MOST, out, NULL);
        file_close(&f);
    }
    arena_fini(&a);
    out->n = rc ? 0 : out->n;
    return rc == ERR_NOMEM ? rc : ERR_OK;
}

static enum err_code kiro_complete_row(const struct store *st, const struct scope *scope,
                                       struct session_row *row, struct arena *a, struct err *e)
{
    struct buf about = { 0 };
    enum err_code rc = kiro_read_document(&row->ref, &about);
    bool is_agent = !rc && about.n && kiro_read_about(buf_slice(&about), row, a);

    (void)st;
    if (!rc && !row->hidden) {
        row->can = CAN_RESUME;
        if (is_agent)
            row->hidden = HIDDEN_SIDECHAIN;
        else if (!row->first_prompt.n && !row->last_prompt.n)
            row->hidden = HIDDEN_EMPTY;
        else if (!config_dir_in_scope(scope, row->cwd, a))
            row->hidden = HIDDEN_COLLISION;
    }
    buf_fini(&about);
    return rc || a->failed ? err_nomem(e) : ERR_OK;
}

/* A text, or JSON, of which only the output of a command is shown. */
static struct slice kiro_result_text(struct slice part, struct arena *a)
{
    struct slice data, item, inner, text, all = SLICE("");
    struct json_iter it;

    if (!json_get(part, "data", &data))
        return all;
    json_list_open(&it, data, "content");
    while (json_list_next(&it, &item)) {
        if (!json_get(item, "data", &inner))
            continue;
        if (json_text(inner, a, &text)) {
            all = kiro_join(all, text, a);
        } else if (json_get_text(inner, "stdout", a, &text)) {
            all = kiro_join(all, text, a);
            if (json_get_text(inner, "stderr", a, &text))
                all = kiro_join(all, text, a);
        } else {
            all = kiro_join(all, inner, a);
        }
    }
    return all;
}

/* The answer of a tool or of a sub-agent: a text, or JSON. */
static struct slice kiro_answer(struct slice row, struct arena *a)
{
    struct slice value = SLICE(""), text;

    if (!json_at(row, "payload.content", &value) && !json_at(row, "payload.response", &value))
        return value;
    return json_text(value, a, &text) ? text : value;
}

static void kiro_put_summary(struct block_list *b, struct slice row)
{
    transcript_block_put_compaction(b, kiro_prompt(row, &b->arena));
}

/* clang-format off */
#define KIRO_PARTS(spoken)                                                                             \
    { spoken, "data", .when = "kind=text&data:text" },                                            \
    { spoken, "text", .when = "type=text&text:text" },                                                 \
    { BLOCK_THINKING, "data.text", .when = "kind=thinking&data.text:text", .empty = true },            \
    { BLOCK_TOOL_CALL, .when = "kind=toolUse&data:any", .call = "data.toolUseId", .name = "data.name", \
      .input = "data.input", .drop = "__tool_use_purpose" },                                           \
    { BLOCK_TOOL_RESULT, .when = "kind=toolResult&data:any", .call = "data.toolUseId",                 \
      .read = kiro_result_text, .failed = "data.status=error" },                                       \
    { BLOCK_IMAGE, .when = "kind=image&data:any" }, { BLOCK_RAW, .read = row_whole }, ROW_BLOCKS_END
static const struct row_block kiro_prompt_parts[] = { KIRO_PARTS(BLOCK_PROMPT) };
static const struct row_block kiro_parts[] = { KIRO_PARTS(BLOCK_TEXT) };

#define KIRO_IMAGES { BLOCK_IMAGE, .each = "payload.images" }
#define KIRO_CALL                                                                                      \
    .blocks = { { BLOCK_TOOL_CALL, .when = "payload.toolCallId:text", .call = "payload.toolCallId",    \
                  .name = "payload.toolName", .input = "payload.args" },                               \
                { BLOCK_TOOL_CALL, .when = "payload.toolCallId:none", .call = "payload.subSessionId",  \
                  .name = "payload.subAgentName", .input = "payload" } }
#define KIRO_RESULT                                                                                    \
    .blocks = { { BLOCK_TOOL_RESULT, .call = "payload.toolCallId|payload.subSessionId",                \
                  .read = kiro_answer, .failed = "payload.success:false" } }
static const struct row_kind kiro_rows[] = {
    { NULL, MESSAGE_USER, .when = "payload.type=user",
      .blocks = { { BLOCK_PROMPT, .read = kiro_prompt }, KIRO_IMAGES } },
    { NULL, MESSAGE_SYSTEM, .when = "payload.type=assistant&payload.operationType=Summary",
      .put = kiro_put_summary },
    { NULL, MESSAGE_ASSISTANT, .when = "payload.type=assistant&payload.operationType=Reasoning",
      .blocks = { { BLOCK_THINKING, .read = kiro_prompt }, KIRO_IMAGES } },
    { NULL, MESSAGE_ASSISTANT, .when = "payload.type=assistant",
      .blocks = { { BLOCK_TEXT, .read = kiro_prompt }, KIRO_IMAGES } },
    { NULL, MESSAGE_ASSISTANT, .when = "payload.type=tool_call", KIRO_CALL },
    { NULL, MESSAGE_ASSISTANT, .when = "payload.type=sub_agent_start", KIRO_CALL },
    { NULL, MESSAGE_TOOL, .when = "payload.type=tool_result", KIRO_RESULT },
    { NULL, MESSAGE_TOOL, .when = "payload.type=sub_agent_complete", KIRO_RESULT },
    { "Prompt", MESSAGE_USER, .when = "payload:none", .prompt = kiro_prompt, .untyped = MESSAGE_USER,
      .blocks = { { .each = "data.content", .parts = kiro_prompt_parts } } },
    { "AssistantMessage", MESSAGE_ASSISTANT, .when = "payload:none",
      .blocks = { { .each = "data.content", .parts = kiro_parts } } },
    { "ToolResults", MESSAGE_TOOL, .when = "payload:none",
      .blocks = { { .each = "data.content", .parts = kiro_parts } } },
};
static const struct row_table kiro_table = { .kind = kiro_rows, .n = sizeof kiro_rows / sizeof *kiro_rows,
                                             .time = kiro_time_of };
/* clang-format on */

static struct slice kiro_row_id(struct slice row, struct arena *a)
{
    struct slice id;

    return json_get_text(row, "id", a, &id) ? id : json_text_at(row, "data.message_id", a);
}

static bool kiro_is_id(struct slice id)
{
    return slice_is_of(id, JSONL_ID_CHARACTERS) && id.n >= 8 && id.n <= 128 && id.p[0] != '-';
}

static const struct jsonl_format kiro_format = { .keys = &kiro_keys,
                                                 .rows = &kiro_table,
                                                 .prompt_needle = "\"content\"",
                                                 .complete = kiro_complete_row,
                                                 .id = kiro_row_id,
                                                 .is_id = kiro_is_id,
                                                 .id_name = "a Kiro session id",
                                                 .dirs = &kiro_dirs,
                                                 .variable = "KIRO_HOME",
                                                 .home = ".kiro" };

static enum err_code kiro_open(const struct store_env *env, const char *path, struct store **out,
                               struct err *e)
{
    return jsonl_store_open(&kiro_ops, &kiro_format, env, path, "sessions", out, e);
}

/* ---- the sessions: files of one folder, and directories in others ---- */

static bool is_file(struct slice id)
{
    return kiro_format.is_id(id) && !kiro_is_directory(id);
}

static bool kiro_name_id(const char *name, struct slice *id)
{
    *id = slice_of(name);
    return kiro_is_directory(*id) && kiro_format.is_id(*id);
}

/* The folders are named after a hash of the directory. */
static bool is_workspace(const struct jsonl_store *s, const struct scope *scope, const char *folder)
{
    (void)s, (void)scope;
    return strcmp(folder, flat) != 0;
}

static const struct session_dirs kiro_dirs = { .log = "/messages.jsonl",
                                               .name_id = kiro_name_id,
                                               .in_scope = is_workspace };

static const char *flat_folder(const struct store *st, struct arena *a)
{
    return arena_format(a, "%s/%s", ((const struct jsonl_store *)st)->folder, flat);
}

struct walk {
    session_ref_fn *fn;
    void *arg;
    bool more;
};

static bool kiro_visit(const struct session_ref *ref, void *arg)
{
    struct walk *w = arg;

    w->more = w->fn(ref, w->arg);
    return w->more;
}

static enum err_code kiro_enumerate(const struct store *st, const struct scope *scope,
                                    session_ref_fn *fn, void *arg, struct err *e)
{
    struct walk w = { .fn = fn, .arg = arg, .more = true };
    struct arena a = { 0 };
    const char *folder = flat_folder(st, &a);
    enum err_code rc =
        folder ? jsonl_each_log(st, scope, folder, is_file, kiro_visit, &w, e) : err_nomem(e);

    if (!rc && w.more)
        rc = session_dirs_enumerate(st, scope, fn, arg, e);
    arena_fini(&a);
    return rc;
}

static enum err_code kiro_find(const struct store *st, const struct scope *scope, struct slice id,
                               struct arena *a, struct session_ref *ref, struct err *e)
{
    if (!is_file(id))
        return session_dirs_find(st, scope, id, a, ref, e);
    return jsonl_ref_at(st,
                        arena_format(a, "%s/%.*s" JSONL_SUFFIX, flat_folder(st, a), SLICE_ARG(id)),
                        id, a, ref, e);
}

static enum err_code kiro_at_path(const struct store *st, struct slice path, struct arena *a,
                                  struct session_ref *ref, struct err *e)
{
    const char *folder = flat_folder(st, a);
    size_t n = folder ? strlen(folder) : 0;
    struct slice id;

    if (!folder)
        return err_nomem(e);
    if (path.n > n && memcmp(path.p, folder, n) == 0 && path.p[n] == '/' &&
        jsonl_id_of_name(path.p + n + 1, is_file, &id))
        return jsonl_ref_at(st, path.p, id, a, ref, e);
    return session_dirs_at_path(st, path, a, ref, e);
}

/* The documents beside the log of engine v2, or the directory of a session of engine v3. */
static enum err_code kiro_deleted_parts(const struct store *st, const struct session_ref *ref,
                                        bool all, struct arena *a, const char ***part, size_t *n,
                                        struct err *e)
{
    static const char *const suffix[] = { JSONL_SUFFIX, ".json", ".history" };
    int name = (int)(ref->path.n - sizeof JSONL_SUFFIX + 1);

    if (kiro_is_directory(ref->id))
        return session_dirs_parts(st, ref, all, a, part, n, e);
    *part = NULL;
    *n = 0;
    for (size_t i = 0; i < sizeof suffix / sizeof *suffix; i++) {
        const char *path = arena_format(a, "%.*s%s", name, ref->path.p, suffix[i]);

        if (!path || !arena_add_text(a, part, n, path))
            return err_nomem(e);
    }
    return ERR_OK;
}

const struct store_ops kiro_ops = {
    .name = "kiro",
    .label = "Kiro CLI",
    .folders = "sessions",
    .resume_command = "kiro-cli chat --resume-id {id}",
    .change_command = { [STORE_COMMAND_DELETE] = "kiro-cli chat --delete-session {id}" },
    .deleted_parts = kiro_deleted_parts,
    .open = kiro_open,
    .close = jsonl_store_close,
    .enumerate = kiro_enumerate,
    .unreadable = jsonl_unreadable,
    .describe = jsonl_describe,
    .find = kiro_find,
    .find_each = store_find_each_listed,
    .at_path = kiro_at_path,
    .tail = jsonl_tail,
    .load = jsonl_load,
    .blocks = row_table_blocks,
    .messages = block_messages,
    .agent_variable = jsonl_agent_variable,
    .check = jsonl_check,
    .log_rules = &log_rules_unknown,
    .edits = tool_edits_logged,
    .why = {
        [ABILITY_RENAME] = "Kiro keeps its titles beside state that only it writes",
        [ABILITY_TAG] = "Kiro sessions have no tags",
        [ABILITY_ARCHIVE] = "Kiro sessions cannot be archived",
        [ABILITY_DELETE] = "delete it in Kiro, which may have it open",
        [ABILITY_FORK] = "no Kiro command that forks a session is known",
        [ABILITY_NAME_FORK] = "no Kiro command that forks a session is known",
        [ABILITY_RESUME_AT] = "Kiro continues after the last message",
        [ABILITY_REWIND] = "Kiro is not known to keep copies of files",
        [ABILITY_TOMBSTONE] = "a Kiro log is the only copy of its messages",
        [ABILITY_REAPPEND] = "Kiro keeps its metadata beside the logs",
        [ABILITY_RETRIEVE] = "Kiro's logs are already where it looks for them",
        [ABILITY_HAVE_AGENTS] = "Kiro's sub-agents are separate sessions: --all-kinds lists them",
        [ABILITY_MOVE] = "whether Kiro follows a moved directory is not known: resume it by its id",
        [ABILITY_HAVE_BRANCHES] = "Kiro logs have no branches",
        [ABILITY_SET] = "Kiro sessions have no settings that other programs may write",
    },
};
