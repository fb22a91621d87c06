#include "store/systems/goose/goose.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "store/systems/common/config_dir.h"
#include "store/systems/common/edits/tool_edits.h"

static bool is_file(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static char *default_path(const struct store_env *env)
{
    if (env->goose_path_root && env->goose_path_root[0] == '/')
        return config_dir_join(env->goose_path_root, "data/sessions");
    if (env->xdg_data_home && env->xdg_data_home[0] == '/')
        return config_dir_join(env->xdg_data_home, "goose/sessions");
    return env->home ? config_dir_join(env->home, ".local/share/goose/sessions") : NULL;
}

/* The database: a file that was named, or the one in a directory. */
static enum err_code add_database(struct sqlite_store *s, struct err *e)
{
    bool named = is_file(s->base.path);
    char *path = config_dir_join(s->base.path, named ? "" : "sessions.db");
    enum err_code rc = path ? ERR_OK : err_nomem(e);

    if (!rc && !named)
        rc = config_dir_require(s->base.path, e);
    if (!rc && !is_file(path))
        rc = err_set(e, ERR_NOT_FOUND, path, "open store: no database of Goose");
    if (!rc)
        rc = sqlite_store_add(s, path, NULL, e);
    free(path);
    return rc;
}

static void goose_close(struct store *st)
{
    sqlite_store_fini((struct sqlite_store *)st);
    free(st);
}

static enum err_code goose_open(const struct store_env *env, const char *path, struct store **out,
                                struct err *e)
{
    char *folder = path ? config_dir_absolute(env, path) : default_path(env);
    struct sqlite_store *s = folder ? calloc(1, sizeof *s) : NULL;

    if (!s) {
        free(folder);
        return path || folder || env->home
                   ? err_nomem(e)
                   : err_set(e, ERR_NOT_FOUND, "", "open store: HOME is not set");
    }
    enum err_code rc = sqlite_store_init(s, &goose_ops, env, folder, e);

    s->gather = goose_gather;
    s->id_name = "a Goose session id";
    if (!rc)
        rc = add_database(s, e);
    if (rc)
        goose_close(&s->base);
    else
        *out = &s->base;
    return rc;
}

static const char *goose_cannot(unsigned ability)
{
    switch (ability) {
    case CAN_RENAME:
    case CAN_DELETE: return "Goose keeps its sessions in a database that only it writes";
    case CAN_ARCHIVE: return "Goose sessions cannot be archived";
    case CAN_TAG: return "Goose sessions have no tags";
    case CAN_FORK:
    case CAN_NAME_FORK: return "Goose copies sessions in its own screen only";
    case CAN_RESUME_AT: return "Goose continues after the last message";
    case CAN_REWIND: return "Goose keeps no copies of files";
    case CAN_TOMBSTONE: return "Goose keeps its messages in a database that only it writes";
    case CAN_REAPPEND: return "Goose sessions have no metadata to append again";
    case CAN_RETRIEVE: return "Goose sessions already are where it looks for them";
    case CAN_HAVE_BRANCHES: return "Goose sessions have no branches";
    case CAN_SET: return "Goose keeps its settings in a database that only it writes";
    default: return NULL;
    }
}

const struct store_ops goose_ops = {
    .name = "goose",
    .unsized = true,
    .resume_command = "goose session --resume --session-id {id}",
    .open = goose_open,
    .close = goose_close,
    .enumerate = sqlite_store_enumerate,
    .unreadable = sqlite_store_unreadable,
    .describe = goose_describe,
    .find = sqlite_store_find,
    .at_path = sqlite_store_at_path,
    .tail = goose_tail,
    .load = goose_load,
    .blocks = goose_blocks,
    .edits = tool_edits_loaded,
    .messages = goose_messages,
    .subagents = sqlite_store_agent_ids,
    .describe_subagents = goose_describe_subagents,
    .subagent = sqlite_store_agent,
    .unsupported = goose_cannot,
};
