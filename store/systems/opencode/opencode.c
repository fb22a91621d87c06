#include "store/systems/opencode/opencode.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "store/systems/common/config_dir.h"
#include "store/systems/common/edits/tool_edits.h"

enum { DATABASES_MAX = 16 };

/* ---- where it is ---- */

/* A fork of OpenCode has its own name in place of "opencode". */
static bool is_database(const char *name, const char *program)
{
    static const char suffix[] = ".db";
    size_t n = strlen(name), k = sizeof suffix - 1, p = strlen(program);

    return strncmp(name, program, p) == 0 && n > k && strcmp(name + n - k, suffix) == 0 &&
           (name[p] == '-' || name[p] == '.');
}

static int compare_paths(const void *x, const void *y)
{
    return strcmp(*(const char *const *)x, *(const char *const *)y);
}

/* Each channel of OpenCode has a database of its own. */
static enum err_code opencode_add_databases(struct sqlite_store *s, struct err *e)
{
    char *path[DATABASES_MAX];
    size_t n = 0;
    const struct dirent *entry;
    DIR *dir = opendir(s->base.path);

    if (!dir)
        return err_sys(e, s->base.path, "open store");
    while (n < DATABASES_MAX && (entry = readdir(dir)))
        if (is_database(entry->d_name, s->base.ops->name) &&
            (path[n] = config_dir_join(s->base.path, entry->d_name)))
            n++;
    closedir(dir);

    enum err_code rc = ERR_OK;

    qsort(path, n, sizeof *path, compare_paths);
    for (size_t i = 0; i < n; i++) {
        if (!rc)
            rc = sqlite_store_add(s, path[i], NULL, e);
        free(path[i]);
    }
    return rc;
}

/* The files of an old version. A newer one leaves them when it has copied them to its database. */
static enum err_code opencode_add_files(struct sqlite_store *s, struct err *e)
{
    AUTO_FREE char *folder = config_dir_join(s->base.path, "storage");
    AUTO_FREE char *sessions = folder ? config_dir_join(folder, "session") : NULL;

    NEED(sessions);
    if (!config_dir_require(sessions, NULL))
        TRY(sqlite_store_add_folder(s, folder, e));
    return ERR_OK;
}

/* Adds a database in another directory; the snapshots are in the usual one. A relative path in $OPENCODE_DB is one below
 * that. */
static enum err_code opencode_add_file(struct sqlite_store *s, const char *file, bool named,
                                       struct err *e)
{
    AUTO_FREE char *path = named || file[0] == '/' ? config_dir_absolute(s->base.env, file)
                                                   : config_dir_join(s->base.path, file);

    return path ? sqlite_store_add(s, path, NULL, e) : err_nomem(e);
}

static char *data_folder(const struct store_ops *ops, const struct store_env *env,
                         const char *named)
{
    char *path = named ? config_dir_absolute(env, named) : config_dir_data(env, ops->name);

    if (!named || !path || !sqlite_store_is_file(path))
        return path;
    /* A database was named; its folder is wanted. */
    char *slash = path ? strrchr(path, '/') : NULL;

    if (slash && slash > path)
        *slash = '\0';
    return path;
}

/* ---- open ---- */

static enum err_code opencode_add_all(struct sqlite_store *s, const char *named, struct err *e)
{
    /* The only database, if one was named; NULL: all databases of the folder. */
    const char *own =
        env_value(s->base.env->environment, s->base.ops == &kilo_ops ? "KILO_DB" : "OPENCODE_DB");
    AUTO_FREE char *path = named ? config_dir_absolute(s->base.env, named) : NULL;
    bool is_folder = path && strcmp(path, s->base.path) == 0;

    const char *file = named ? is_folder ? NULL : named : own && own[0] ? own : NULL;

    enum err_code rc =
        file ? opencode_add_file(s, file, named != NULL, e) : config_dir_require(s->base.path, e);

    if (!rc && !file)
        rc = opencode_add_databases(s, e);
    if (!rc && s->places == 0)
        rc = opencode_add_files(s, e);
    if (!rc && s->places == 0)
        rc = err_set(e, ERR_NOT_FOUND, s->base.path, "open store: no database of %s",
                     s->base.ops->label);
    return rc;
}

static enum err_code opencode_open(const struct store_env *env, const char *path,
                                   struct store **out, struct err *e)
{
    return sqlite_store_open(&opencode_ops, &opencode_format, env, path,
                             data_folder(&opencode_ops, env, path), opencode_add_all, out, e);
}

static enum err_code kilo_open(const struct store_env *env, const char *path, struct store **out,
                               struct err *e)
{
    return sqlite_store_open(&kilo_ops, &opencode_format, env, path,
                             data_folder(&kilo_ops, env, path), opencode_add_all, out, e);
}

/* All operations that change sessions are missing, because the database belongs to the agent and may be open. */
#define OPENCODE_MEMBERS(title, program)                                                           \
    .name = program, .label = title, SQLITE_STORE_OPS,                                             \
    .resume_command = program " --session {id}", .fork_command = program " --session {id} --fork", \
    .change_command = { [STORE_COMMAND_DELETE] = program " session delete {id}" },                 \
    .blocks = opencode_blocks, .edits = tool_edits_loaded, .checkpoints = opencode_checkpoints,    \
    .plan = opencode_plan,                                                                         \
    .why = {                                                                                       \
        [ABILITY_RENAME] = title " keeps its sessions in a database that only it writes",          \
        [ABILITY_ARCHIVE] = title " keeps its sessions in a database that only it writes",         \
        [ABILITY_DELETE] = title " keeps its sessions in a database that only it writes",          \
        [ABILITY_TAG] = title " sessions have no tags",                                            \
        [ABILITY_FORK] = title " forks itself: " program " --session ID --fork",                   \
        [ABILITY_NAME_FORK] = title " forks itself: " program " --session ID --fork",              \
        [ABILITY_RESUME_AT] = title " rewinds on its own screen: use /undo there",                 \
        [ABILITY_TOMBSTONE] = title " keeps its messages in its own database",                     \
        [ABILITY_REAPPEND] = title " sessions have no metadata to append again",                   \
        [ABILITY_RETRIEVE] = title " sessions are already where it looks for them",                \
        [ABILITY_MOVE] = title " resumes it once its old directory is there again, as a link",     \
        [ABILITY_HAVE_BRANCHES] = title " sessions have no branches",                              \
        [ABILITY_SET] = title " keeps its settings in its own database",                           \
    }

const struct store_ops opencode_ops = { OPENCODE_MEMBERS("OpenCode", "opencode"),
                                        .hooks = &opencode_hooks, .mcp = &opencode_mcp,
                                        .compose = &opencode_compose, .open = opencode_open };
const struct store_ops kilo_ops = { OPENCODE_MEMBERS("Kilo", "kilo"), .hooks = &kilo_hooks,
                                    .compose = &opencode_compose, .open = kilo_open };
