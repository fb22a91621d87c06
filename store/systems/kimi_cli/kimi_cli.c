#include <fcntl.h>

#include "lite/base/time.h"
#include "lite/io/file.h"
#include "lite/json/json.h"
#include "store/systems/common/config_dir.h"
#include "store/systems/common/edits/tool_edits.h"
#include "store/systems/common/session_dirs.h"

/* The sessions of the Kimi CLI, the predecessor of Kimi Code (docs/formats/kimi.md): its path is $KIMI_SHARE_DIR or
 * ~/.kimi, with
 *
 *   sessions/<MD5 of the directory>/<id>/context.jsonl    the log: one message per line, without times and ids
 *   sessions/<MD5 of the directory>/<id>/state.json       title, archived
 *   sessions/<MD5 of the directory>/<id>/subagents/       each as such a directory
 *   kimi.json                                             the directories
 *
 * Only read. The store is a struct jsonl_store. */

extern const struct store_ops kimi_cli_ops;

/* The rows of a log: {"role": "user" | "assistant" | "tool", "content", "tool_calls", "tool_call_id"}; other roles begin
 * with "_" and are the program's own. */

enum { STATE_MOST = 1 << 20, ID_MOST = 128 };

enum kind { KIND_OTHER, KIND_USER, KIND_ASSISTANT, KIND_TOOL };
static const char *const kinds[] = { "user", "assistant", "tool", NULL };
static const struct index_keys keys = { .type = "role", .id = "id", .kinds = kinds };

/* The texts of a content, which is a text or a list of parts; of parts of the kind "think" with `thinking`. */
static struct slice text_of(struct slice row, bool thinking, struct arena *a)
{
    const char *kind = thinking ? "think" : "text";
    struct slice part, text, all = SLICE("");
    struct json_iter it;

    if (json_get_text(row, "content", a, &text))
        return thinking ? all : text;
    json_list_open(&it, row, "content");
    while (json_list_next(&it, &part))
        if (json_get_is(part, "type", kind) && json_get_text(part, kind, a, &text))
            all = arena_join(a, all, "\n", text);
    return all;
}

/* The program also tells the model something in the person's role, in an element: <system>, <system-reminder>. */
static bool is_typed(struct slice row, struct arena *a)
{
    return json_get_is(row, "role", "user") && !slice_starts(text_of(row, false, a), "<system");
}

/* ---- for lists ---- */

static enum err_code read_row_facts(struct slice row, struct arena *a, struct jsonl_row_facts *out)
{
    if (!json_valid(row) || json_type(row) != JSON_OBJECT)
        return ERR_FORMAT;
    bool typed = is_typed(row, a);

    out->waits = typed || json_get_is(row, "role", "tool");
    out->speaks = out->waits || json_get_is(row, "role", "assistant");
    if (typed)
        out->prompt = text_of(row, false, a);
    return a->failed ? ERR_NOMEM : ERR_OK;
}

enum { HASH_DIGITS = 32, DIRECTORIES_MOST = 16 << 20 };

static struct slice find_directory(struct slice list, struct slice digits, struct arena *a)
{
    struct slice entry, path;
    struct json_iter it;

    json_list_open(&it, list, "work_dirs");
    while (json_list_next(&it, &entry))
        if (json_get_text(entry, "path", a, &path) && config_dir_has_hash(digits, "md5", path))
            return arena_copy(a, path);
    return SLICE("");
}

/* The directory of a session, from the scope or kimi.json, in the arena; empty: not known. */
static struct slice kimi_cli_directory(const struct session_ref *ref, const struct scope *scope,
                                       struct arena *a)
{
    struct slice digits = ref->folder.n == HASH_DIGITS ? ref->folder : SLICE(""), found;
    const char *path = arena_format(a, "%s/kimi.json", ref->store->path);
    struct buf text = { 0 };

    if (!digits.n)
        return SLICE("");
    found = config_dir_of_hash(scope, "md5", digits);
    if (!found.n && path && !file_read_all(AT_FDCWD, path, 0, DIRECTORIES_MOST, &text, NULL) &&
        json_valid(buf_slice(&text)))
        found = find_directory(buf_slice(&text), digits, a);
    buf_fini(&text);
    return found;
}

/* The program's own list leaves out sessions without messages and titles. */
static enum err_code complete_row(const struct store *st, const struct scope *scope,
                                  struct session_row *row, struct arena *a, struct err *e)
{
    struct buf state = { 0 };
    enum err_code rc = session_dirs_json(&row->ref, "state.json", STATE_MOST, &state);

    (void)st;
    if (!rc && state.n) {
        row->custom_title = json_copy_at(buf_slice(&state), "custom_title", a);
        row->flags |= SESSION_ARCHIVED_KNOWN |
                      (json_get_true(buf_slice(&state), "archived") ? SESSION_ARCHIVED : 0U);
    }
    buf_fini(&state);
    row->cwd = kimi_cli_directory(&row->ref, scope, a);
    if (!row->hidden) {
        row->can = CAN_RESUME;
        if (!row->first_prompt.n && !row->custom_title.n && !row->last_prompt.n)
            row->hidden = HIDDEN_EMPTY;
        else if (!config_dir_in_scope(scope, row->cwd, a))
            row->hidden = HIDDEN_COLLISION;
    }
    return rc || a->failed ? err_nomem(e) : ERR_OK;
}

/* ---- the conversation ---- */

static enum err_code judge_row(struct logfile *log, size_t line, struct message *m, bool *keep,
                               struct err *e)
{
    static const uint8_t kind_of[] = { [KIND_OTHER] = MESSAGE_OTHER,
                                       [KIND_USER] = MESSAGE_USER,
                                       [KIND_ASSISTANT] = MESSAGE_ASSISTANT,
                                       [KIND_TOOL] = MESSAGE_TOOL };
    const struct index_line *ix = &log->index.line[line];
    struct arena a = { 0 };
    struct slice row;

    m->kind = MESSAGE_OTHER;
    m->flags = MESSAGE_BROKEN;
    if (ix->state == LINE_BROKEN)
        return ERR_OK;
    m->kind = kind_of[ix->kind <= KIND_TOOL ? ix->kind : KIND_OTHER];
    m->flags = 0;
    *keep = m->kind != MESSAGE_OTHER;
    if (m->kind != MESSAGE_USER)
        return ERR_OK;
    enum err_code rc = logfile_row(log, line, &row, e);

    if (!rc && !is_typed(row, &a))
        m->kind = MESSAGE_SYSTEM;
    rc = rc ? rc : a.failed ? err_nomem(e) : ERR_OK;
    arena_fini(&a);
    return rc;
}

static bool is_id(struct slice id)
{
    return slice_is_of(id, JSONL_ID_CHARACTERS) && id.n > 0 && id.n <= ID_MOST && id.p[0] != '-';
}

static bool is_in_scope(const struct jsonl_store *s, const struct scope *scope, const char *folder)
{
    struct slice name = slice_of(folder);

    (void)s;
    return scope->all || (name.n == HASH_DIGITS && config_dir_of_hash(scope, "md5", name).n);
}

static const struct session_dirs kimi_cli_dirs = { .log = "/context.jsonl",
                                                   .in_scope = is_in_scope };

static const struct jsonl_format kimi_cli_format = { .keys = &keys,
                                                     .judge = judge_row,
                                                     .read = read_row_facts,
                                                     .prompt_needle = "\"user\"",
                                                     .complete = complete_row,
                                                     .is_id = is_id,
                                                     .id_name = "a Kimi CLI session id",
                                                     .dirs = &kimi_cli_dirs,
                                                     .variable = "KIMI_SHARE_DIR",
                                                     .home = ".kimi" };

/* ---- blocks ---- */

static void put_result(struct block_list *b, struct slice row)
{
    struct block x = { .kind = BLOCK_TOOL_RESULT, .text = text_of(row, false, &b->arena) };

    json_get_text(row, "tool_call_id", &b->arena, &x.call_id);
    x.failed = slice_starts(x.text, "<system>ERROR");
    transcript_block_put(b, x);
}

static void put_images(struct block_list *b, struct slice row)
{
    struct slice part;
    struct json_iter it;

    json_list_open(&it, row, "content");
    while (json_list_next(&it, &part))
        if (json_get_is(part, "type", "image_url"))
            transcript_block_put(b, (struct block){ .kind = BLOCK_IMAGE });
}

static enum err_code kimi_cli_blocks(const struct store *st, struct slice row,
                                     struct block_list *out, struct err *e)
{
    struct arena *a = &out->arena;

    (void)st;
    if (!json_valid(row) || json_type(row) != JSON_OBJECT) {
        transcript_block_put(out, (struct block){ .kind = BLOCK_RAW, .text = row });
    } else if (json_get_is(row, "role", "tool")) {
        put_result(out, row);
    } else if (json_get_is(row, "role", "assistant")) {
        transcript_block_put_text(out, BLOCK_THINKING, text_of(row, true, a));
        transcript_block_put_text(out, BLOCK_TEXT, text_of(row, false, a));
        jsonl_put_tool_calls(out, row);
    } else {
        transcript_block_put_text(out, is_typed(row, a) ? BLOCK_PROMPT : BLOCK_NOTE,
                                  text_of(row, false, a));
        put_images(out, row);
    }
    return a->failed ? err_nomem(e) : ERR_OK;
}

static enum err_code kimi_cli_open(const struct store_env *env, const char *path,
                                   struct store **out, struct err *e)
{
    return session_dirs_open(&kimi_cli_ops, &kimi_cli_format, env, path, "sessions", out, e);
}

/* ---- sub-agents ---- */

static enum err_code kimi_cli_subagents(const struct store *st, const struct session_ref *ref,
                                        struct arena *a, struct slice **ids, size_t *n,
                                        struct err *e)
{
    (void)st;
    return session_dirs_names(ref, "subagents", NULL, a, ids, n, e);
}

static enum err_code kimi_cli_subagent(const struct store *st, const struct session_ref *ref,
                                       struct slice agent, struct arena *a, struct session_ref *out,
                                       struct err *e)
{
    struct slice dir = session_dirs_of(ref);

    if (!kimi_cli_format.is_id(agent))
        return err_set(e, ERR_NOT_FOUND, ref->path.p, "no such sub-agent");
    return jsonl_ref_at(st,
                        arena_format(a, "%.*s/subagents/%.*s%s", SLICE_ARG(dir), SLICE_ARG(agent),
                                     kimi_cli_dirs.log),
                        arena_copy(a, agent), a, out, e);
}

const struct store_ops kimi_cli_ops = {
    .name = "kimi-cli",
    .label = "Kimi CLI",
    .folders = "sessions",
    .resume_command = "kimi --session {id}",
    .open = kimi_cli_open,
    .close = session_dirs_close,
    .enumerate = session_dirs_enumerate,
    .describe = jsonl_describe,
    .find = session_dirs_find,
    .find_each = store_find_each_listed,
    .at_path = session_dirs_at_path,
    .tail = jsonl_tail,
    .load = jsonl_load,
    .blocks = kimi_cli_blocks,
    .messages = block_messages,
    .subagents = kimi_cli_subagents,
    .subagent = kimi_cli_subagent,
    .agent_variable = jsonl_agent_variable,
    .edits = tool_edits_logged,
    .why = {
        [ABILITY_RENAME] = "the Kimi CLI writes its titles itself: use /title in it",
        [ABILITY_NAME_FORK] = "the Kimi CLI writes its titles itself: use /title in it",
        [ABILITY_ARCHIVE] = "archive it in the Kimi CLI",
        [ABILITY_DELETE] = "delete it in the Kimi CLI, which may have it open",
        [ABILITY_TAG] = "Kimi CLI sessions have no tags",
        [ABILITY_FORK] = "the Kimi CLI forks sessions only on its own screen",
        [ABILITY_RESUME_AT] = "the Kimi CLI continues after the last message",
        [ABILITY_REWIND] = "the Kimi CLI keeps no copies of files",
        [ABILITY_TOMBSTONE] = "a log of the Kimi CLI is the only copy of its messages",
        [ABILITY_REAPPEND] = "the Kimi CLI keeps its titles beside the logs",
        [ABILITY_RETRIEVE] = "Kimi CLI sessions are already where it looks for them",
        [ABILITY_HAVE_BRANCHES] = "Kimi CLI logs have no branches",
        [ABILITY_SET] = "Kimi CLI sessions have no settings that other programs may write",
    },
};
