#include "store/systems/cursor/cursor.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/fs/path.h"
#include "store/systems/common/config_dir.h"
#include "store/systems/common/edits/tool_edits.h"

/* The row of a list is made from meta.json and, for what that lacks (prompts, model, the title of
 * an older version), from the database. */

enum { META_MOST = 1 << 20, LOOKS_MOST = 100 /* messages from each end */ };

struct describing {
    struct session_row *row;
    struct arena *arena;
    struct slice name; /* the name of the session, as the database has it */
};

static int64_t time_at(struct slice object, const char *name)
{
    struct slice value;
    int64_t ms;

    return json_get(object, name, &value) && json_int(value, &ms) && ms > 0 ? ms : TIME_NONE;
}

/* ---- the database ---- */

static enum err_code cursor_look_at(struct sqlite_db *db, const struct cursor_state *s, size_t i,
                                    struct buf *message, struct describing *d, struct slice *prompt,
                                    struct err *e)
{
    enum err_code rc = cursor_blob_read(db, s->message[i], message, e);
    struct slice json = buf_slice(message);

    *prompt = SLICE("");
    if (!rc && json_valid(json)) {
        *prompt = arena_copy(d->arena, cursor_prompt(json, d->arena));
        if (i + 1 == s->n && !cursor_role_is(json, "assistant"))
            d->row->flags |= SESSION_INTERRUPTED;
    }
    return rc;
}

/* Begins anew if it is called again. */
static enum err_code cursor_read_database(struct sqlite_db *db, void *arg, struct err *e)
{
    struct describing *d = arg;
    struct cursor_state s;
    enum err_code rc = cursor_state_read(db, &s, e);

    if (rc)
        return rc;
    d->row->flags = 0;
    d->name = json_copy_at(s.meta, "name", d->arena);
    d->row->model = json_copy_at(s.meta, "lastUsedModel", d->arena);
    d->row->created_ms = time_at(s.meta, "createdAt");
    d->row->cwd = arena_copy(d->arena, s.workspace);

    /* The first prompt is sought from the front and the last one from the end, among LOOKS_MOST messages each. */
    struct buf message = { 0 };
    struct slice prompt = SLICE("");

    rc = ERR_OK;
    for (size_t i = 0; !rc && !prompt.n && i < s.n && i < LOOKS_MOST; i++)
        rc = cursor_look_at(db, &s, i, &message, d, &prompt, e);
    d->row->first_prompt = prompt;
    prompt = SLICE("");
    for (size_t i = 0; !rc && !prompt.n && i < s.n && i < LOOKS_MOST; i++)
        rc = cursor_look_at(db, &s, s.n - 1 - i, &message, d, &prompt, e);
    d->row->last_prompt = prompt;
    buf_fini(&message);

    cursor_state_fini(&s);
    return rc;
}

/* ---- the row ---- */

static void cursor_complete(const struct scope *scope, const struct describing *d)
{
    struct session_row *row = d->row;

    if (!row->custom_title.n && !slice_eq(d->name, SLICE("New Agent")))
        row->custom_title = d->name;
    row->flags |= SESSION_AI_TITLE;
    if (!row->cwd.n)
        row->cwd = cursor_directory(scope, row->ref.folder.p);
    row->modified_ms = session_modified_ms(&row->ref.file);
    if (row->activity_ms == TIME_NONE)
        row->activity_ms = row->modified_ms;
    row->summary = row->custom_title.n   ? row->custom_title
                   : row->first_prompt.n ? row->first_prompt
                                         : row->ref.id;
    row->can = CAN_RESUME;
    if (row->hidden)
        return;
    if (!row->first_prompt.n && !row->last_prompt.n)
        row->hidden = HIDDEN_EMPTY;
    else if (!config_dir_in_scope(scope, row->cwd, d->arena))
        row->hidden = HIDDEN_COLLISION;
}

static void set_problem(struct session_row *row, enum err_code rc)
{
    switch (rc) {
    case ERR_OK: return;
    case ERR_FORMAT: row->problem = "its database is damaged"; break;
    case ERR_LOCKED: row->problem = "Cursor is writing to its database"; break;
    case ERR_UNSUPPORTED:
        row->problem = "SQLite is not installed, or its database is too large";
        break;
    default: row->hidden = HIDDEN_UNREADABLE; return;
    }
    row->hidden = HIDDEN_DAMAGED;
}

enum err_code cursor_describe(const struct store *st, const struct scope *scope,
                              const struct session_ref *ref, struct session_row *row, struct err *e)
{
    struct arena a = { 0 };
    struct buf meta = { 0 };
    struct describing d = { .row = row, .arena = &a, .name = SLICE("") };

    (void)st;
    session_row_reset(row);
    row->ref = *ref;
    row->ref.preread = (struct slice){ NULL, 0 };
    enum err_code rc = sqlite_db_read(ref->path.p, NULL, cursor_read_database, &d, e);

    if (rc != ERR_NOMEM && rc != ERR_NOT_FOUND) {
        set_problem(row, rc);
        rc = session_dirs_json(ref, "meta.json", META_MOST, &meta);
        if (!rc && meta.n) {
            struct slice json = buf_slice(&meta), cwd = json_copy_at(json, "cwd", &a);
            int64_t created = time_at(json, "createdAtMs"), updated = time_at(json, "updatedAtMs");

            row->custom_title = json_copy_at(json, "title", &a);
            row->cwd = cwd.n ? cwd : row->cwd;
            row->created_ms = created == TIME_NONE ? row->created_ms : created;
            row->activity_ms = updated == TIME_NONE ? row->activity_ms : updated;
            if (json_get_true(json, "isSubagent") && !row->hidden)
                row->hidden = HIDDEN_SIDECHAIN;
        }
        cursor_complete(scope, &d);
        rc = !rc && !a.failed && session_row_keep(row) ? ERR_OK : err_nomem(e);
    }
    buf_fini(&meta);
    arena_fini(&a);
    return rc;
}

enum { HASH_DIGITS = 32 };

static const char variable[] = "CURSOR_CONFIG_DIR";

/* Takes over the path. Returns NULL if it contains no chats. */
static char *with_chats(char *path)
{
    char *chats = path ? config_dir_join(path, "chats") : NULL;
    bool is = chats && path_is_dir(chats);

    free(chats);
    if (is)
        return path;
    free(path);
    return NULL;
}

/* NULL: not known, or out of memory. */
static char *cursor_default_path(const struct store_env *env)
{
    const char *named = env_value(env->environment, variable);
    const char *config = env_value(env->environment, "XDG_CONFIG_HOME");
    char *path;

    if (named && named[0])
        return config_dir_absolute(env, named);
    if (config && config[0] == '/')
        path = with_chats(config_dir_join(config, "cursor"));
    else
        path = env->home ? with_chats(config_dir_join(env->home, ".config/cursor")) : NULL;
    return path || !env->home ? path : config_dir_join(env->home, ".cursor");
}

static char *cursor_hooks_path(const struct store_env *env)
{
    return env->home ? config_dir_join(env->home, ".cursor/hooks.json") : NULL;
}

/* From https://cursor.com/docs/agent/hooks. The conversation is the session of a chat. */
static const struct agent_hooks cursor_hooks = {
    .form = HOOK_FLAT,
    .path = cursor_hooks_path,
    .documented = true,
    .event = { [HOOK_PROMPT] = "beforeSubmitPrompt", [HOOK_END] = "stop" },
    .timeout = 5,
    .session = "conversation_id",
    .turn = "generation_id",
    .prompt = "prompt",
    .cwd = "workspace_roots",
    .answer = "{\"continue\":true}",
};

static bool cursor_is_id(struct slice id)
{
    return slice_is_of(id, JSONL_ID_CHARACTERS) && id.n >= 8 && id.n <= 128 && id.p[0] != '-';
}

/* ---- folders ---- */

struct slice cursor_directory(const struct scope *scope, const char *folder)
{
    struct slice name = slice_of(folder);

    return name.n == HASH_DIGITS ? config_dir_of_hash(scope, DIGEST_MD5, name) : SLICE("");
}

static bool cursor_is_in_scope(const struct jsonl_store *s, const struct scope *scope,
                               const char *folder)
{
    (void)s;
    return scope->all || cursor_directory(scope, folder).n;
}

static const struct session_dirs dirs = { .log = "/store.db", .in_scope = cursor_is_in_scope };
static const struct jsonl_format format = { .dirs = &dirs,
                                            .is_id = cursor_is_id,
                                            .id_name = "a Cursor session id",
                                            .variable = variable,
                                            .usual = cursor_default_path,
                                            .needs_folder = true };

/* Cursor's editor keeps its own files below ~/.cursor. */
static enum err_code cursor_open(const struct store_env *env, const char *path, struct store **out,
                                 struct err *e)
{
    return jsonl_store_open(&cursor_ops, &format, env, path, "chats", out, e);
}

/* ---- the sessions ---- */

struct walk {
    session_ref_fn *fn;
    void *arg;
    struct arena arena;
};

static void use_newer_time(struct session_ref *ref, const char *path)
{
    struct stat sb;

    if (!path || lstat(path, &sb) != 0)
        return;
    const struct file_id file = file_id_of(&sb);
    int64_t ms = session_modified_ms(&file);

    if (ms > ref->recent_ms)
        ref->recent_ms = ms;
}

/* While Cursor runs, it writes beside the database. */
static bool cursor_visit(const struct session_ref *found, void *arg)
{
    struct session_ref ref = *found;
    struct walk *w = arg;
    struct slice dir = session_dirs_of(found);

    ref.recent_ms = session_modified_ms(&ref.file);
    use_newer_time(&ref, arena_format(&w->arena, "%.*s/meta.json", SLICE_ARG(dir)));
    use_newer_time(&ref, arena_format(&w->arena, "%.*s-wal", SLICE_ARG(ref.path)));
    arena_reset(&w->arena);
    return w->fn(&ref, w->arg);
}

static enum err_code cursor_enumerate(const struct store *st, const struct scope *scope,
                                      session_ref_fn *fn, void *arg, struct err *e)
{
    struct walk w = { .fn = fn, .arg = arg };
    enum err_code rc = session_dirs_enumerate(st, scope, cursor_visit, &w, e);

    arena_fini(&w.arena);
    return rc;
}

const struct store_ops cursor_ops = {
    .name = "cursor",
    .label = "Cursor CLI",
    .folders = "chats",
    .resume_command = "cursor-agent --resume {id}",
    .hooks = &cursor_hooks,
    .open = cursor_open,
    .close = jsonl_store_close,
    .enumerate = cursor_enumerate,
    .unreadable = jsonl_unreadable,
    .describe = cursor_describe,
    .find = session_dirs_find,
    .find_each = store_find_each_listed,
    .at_path = session_dirs_at_path,
    .tail = cursor_tail,
    .load = cursor_load,
    .blocks = cursor_blocks,
    .messages = cursor_messages,
    .agent_variable = jsonl_agent_variable,
    .edits = tool_edits_loaded,
    .why = {
        [ABILITY_RENAME] = "Cursor keeps the titles in databases that only it writes",
        [ABILITY_DELETE] = "Cursor keeps its sessions in databases that only it writes",
        [ABILITY_TAG] = "Cursor sessions have no tags",
        [ABILITY_ARCHIVE] = "archive it in Cursor",
        [ABILITY_FORK] = "no Cursor command that forks a session is known",
        [ABILITY_NAME_FORK] = "no Cursor command that forks a session is known",
        [ABILITY_RESUME_AT] = "Cursor continues after the last message",
        [ABILITY_REWIND] = "Cursor's CLI is not known to keep copies of files",
        [ABILITY_TOMBSTONE] = "Cursor keeps its messages in databases that only it writes",
        [ABILITY_REAPPEND] = "Cursor sessions have no metadata to append again",
        [ABILITY_RETRIEVE] = "Cursor's databases are already where it looks for them",
        [ABILITY_HAVE_AGENTS] = "no link from a sub-agent to its session is known in Cursor's files",
        [ABILITY_MOVE] = "the directory is in Cursor's own databases: resume it by its id",
        [ABILITY_HAVE_BRANCHES] = "Cursor sessions have no branches",
        [ABILITY_SET] = "Cursor keeps its settings in databases that only it writes",
    },
};
