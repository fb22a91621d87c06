#include "store/systems/cursor/cursor.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "store/systems/common/config_dir.h"
#include "store/systems/common/edits/tool_edits.h"

enum { HASH_DIGITS = 32 };

static const char variable[] = "CURSOR_CONFIG_DIR";

/* Takes over the path. Returns NULL if it contains no chats. */
static char *with_chats(char *path)
{
    char *chats = path ? config_dir_join(path, "chats") : NULL;
    struct stat sb;
    bool is = chats && stat(chats, &sb) == 0 && S_ISDIR(sb.st_mode);

    free(chats);
    if (is)
        return path;
    free(path);
    return NULL;
}

/* NULL: not known, or out of memory. */
static char *default_path(const struct store_env *env)
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

static bool is_id(struct slice id)
{
    return slice_is_of(id, JSONL_ID_CHARACTERS) && id.n >= 8 && id.n <= 128 && id.p[0] != '-';
}

/* ---- folders ---- */

struct slice cursor_directory(const struct scope *scope, const char *folder)
{
    struct slice name = slice_of(folder);

    return name.n == HASH_DIGITS ? config_dir_of_hash(scope, "md5", name) : SLICE("");
}

static bool is_in_scope(const struct jsonl_store *s, const struct scope *scope, const char *folder)
{
    (void)s;
    return scope->all || cursor_directory(scope, folder).n;
}

static const struct session_dirs dirs = { .log = "/store.db", .in_scope = is_in_scope };
static const struct jsonl_format format = { .dirs = &dirs,
                                            .is_id = is_id,
                                            .id_name = "a Cursor session id",
                                            .variable = variable,
                                            .usual = default_path };

/* Cursor's editor keeps its own files below ~/.cursor. */
static enum err_code cursor_open(const struct store_env *env, const char *path, struct store **out,
                                 struct err *e)
{
    struct store *st = NULL;
    enum err_code rc = session_dirs_open(&cursor_ops, &format, env, path, "chats", &st, e);

    if (!rc)
        rc = config_dir_require(((const struct jsonl_store *)st)->folder, e);
    if (rc && st)
        session_dirs_close(st);
    else
        *out = st;
    return rc;
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
static bool visit(const struct session_ref *found, void *arg)
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
    enum err_code rc = session_dirs_enumerate(st, scope, visit, &w, e);

    arena_fini(&w.arena);
    return rc;
}

static const char *cursor_cannot(unsigned ability)
{
    switch (ability) {
    case CAN_RENAME: return "Cursor keeps the titles in databases that only it writes";
    case CAN_DELETE: return "Cursor keeps its sessions in databases that only it writes";
    case CAN_TAG: return "Cursor sessions have no tags";
    case CAN_ARCHIVE: return "archive it in Cursor";
    case CAN_FORK:
    case CAN_NAME_FORK: return "no Cursor command that forks a session is known";
    case CAN_RESUME_AT: return "Cursor continues after the last message";
    case CAN_REWIND: return "Cursor's CLI is not known to keep copies of files";
    case CAN_TOMBSTONE: return "Cursor keeps its messages in databases that only it writes";
    case CAN_REAPPEND: return "Cursor sessions have no metadata to append again";
    case CAN_RETRIEVE: return "Cursor's databases are already where it looks for them";
    case CAN_HAVE_AGENTS:
        return "no link from a sub-agent to its session is known in Cursor's files";
    case CAN_HAVE_BRANCHES: return "Cursor sessions have no branches";
    case CAN_SET: return "Cursor keeps its settings in databases that only it writes";
    default: return NULL;
    }
}

const struct store_ops cursor_ops = {
    .name = "cursor",
    .label = "Cursor CLI",
    .folders = "chats",
    .resume_command = "cursor-agent --resume {id}",
    .open = cursor_open,
    .close = session_dirs_close,
    .enumerate = cursor_enumerate,
    .describe = cursor_describe,
    .find = session_dirs_find,
    .at_path = session_dirs_at_path,
    .tail = cursor_tail,
    .load = cursor_load,
    .blocks = cursor_blocks,
    .messages = cursor_messages,
    .agent_variable = jsonl_agent_variable,
    .edits = tool_edits_loaded,
    .unsupported = cursor_cannot,
};
