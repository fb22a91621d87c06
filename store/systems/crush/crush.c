#include "store/systems/crush/crush.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "lite/io/file.h"
#include "lite/json/json.h"
#include "store/fs/path.h"
#include "store/systems/common/config_dir.h"
#include "store/systems/common/edits/tool_edits.h"

#define PROMPT(order)                                                                              \
    "(SELECT m.parts FROM messages m WHERE m.session_id = s.id AND m.role = 'user' ORDER BY "      \
    "m.created_at " order ", m.rowid " order " LIMIT 1)"
#define NEWEST(column)                                                                             \
    "(SELECT m." column " FROM messages m WHERE m.session_id = s.id ORDER BY m.created_at DESC, "  \
    "m.rowid DESC LIMIT 1)"

static const char sql[] =
    "SELECT s.id, s.parent_session_id, s.title, s.created_at, s.updated_at, " PROMPT(
        "ASC") ", " PROMPT("DESC") ", (SELECT m.model FROM messages m WHERE m.session_id = s.id "
                                   "AND m.model <> '' "
                                   "ORDER BY m.created_at DESC, m.rowid DESC LIMIT 1), " NEWEST(
                                       "role") ", " NEWEST("parts") " FROM sessions s WHERE (?1 = "
                                                                    "'' OR s.id = ?1) ORDER BY "
                                                                    "s.updated_at DESC, s.id DESC";

enum column {
    COLUMN_ID,
    COLUMN_PARENT,
    COLUMN_TITLE,
    COLUMN_CREATED,
    COLUMN_UPDATED,
    COLUMN_FIRST,
    COLUMN_LAST,
    COLUMN_MODEL,
    COLUMN_ROLE,
    COLUMN_PARTS,
};

const char *crush_sessions(struct sqlite_db *db, struct arena *a)
{
    (void)db, (void)a;
    return sql;
}

/* A database is in the scope or not. */
bool crush_listed(const struct sqlite_row *row, const struct sqlite_place *place,
                  const struct scope *scope, struct arena *a, struct sqlite_listed *out)
{
    (void)scope;
    out->id = sqlite_row_text(row, COLUMN_ID);
    out->title = sqlite_row_text(row, COLUMN_TITLE);
    out->model = sqlite_row_text(row, COLUMN_MODEL);
    out->cwd = place->project ? slice_of(place->project) : SLICE("");
    out->first = crush_prompt(sqlite_row_text(row, COLUMN_FIRST), a);
    out->last = crush_prompt(sqlite_row_text(row, COLUMN_LAST), a);
    out->created_ms = crush_time(sqlite_row_int(row, COLUMN_CREATED));
    out->modified_ms = crush_time(sqlite_row_int(row, COLUMN_UPDATED));
    /* A complete answer has a "finish" part at its end. */
    struct slice role = sqlite_row_text(row, COLUMN_ROLE);

    out->flags = (role.n && (slice_eq(role, SLICE("user")) || slice_eq(role, SLICE("tool")) ||
                             !slice_has(sqlite_row_text(row, COLUMN_PARTS), "\"finish\"")))
                     ? SESSION_INTERRUPTED
                     : 0;
    /* Crush generates titles in separate sessions. */
    out->hidden = sqlite_row_text(row, COLUMN_PARENT).n == 0 && !slice_starts(out->id, "title-")
                      ? HIDDEN_NOT
                      : HIDDEN_SIDECHAIN;
    return true;
}

enum { PROJECTS_BYTES = 4 << 20 };

static const char db_name[] = "crush.db";

int64_t crush_time(int64_t stored)
{
    static const int64_t seconds_most =
        INT64_C(100000000000); /* the year 5138, or March 1973 in ms */

    if (stored <= 0)
        return TIME_NONE;
    return stored < seconds_most ? stored * 1000 : stored;
}

/* ---- which databases ---- */

/* Adds the database in a data directory, if it exists. */
static enum err_code crush_add_database(struct sqlite_store *s, const char *data,
                                        const char *project, struct err *e)
{
    AUTO_FREE char *path = config_dir_join(data, db_name);

    NEED(path);
    if (sqlite_store_is_file(path))
        TRY(sqlite_store_add(s, path, project, e));
    return ERR_OK;
}

/* Adds one entry of projects.json. A relative data directory is relative to the project. */
static enum err_code crush_add_project(struct sqlite_store *s, struct slice path, struct slice data,
                                       struct err *e)
{
    struct arena a = { 0 };
    const char *project = NULL, *dir = NULL;
    enum err_code rc = ERR_OK;

    if (path.n && path.p[0] == '/' && data.n && !memchr(path.p, '\0', path.n) &&
        !memchr(data.p, '\0', data.n)) {
        project = path_normalize("", arena_copy(&a, path).p, &a);
        dir = project ? path_normalize(project, arena_copy(&a, data).p, &a) : NULL;
        rc = a.failed ? err_nomem(e) : ERR_OK;
    }
    if (!rc && dir)
        rc = crush_add_database(s, dir, project, e);
    arena_fini(&a);
    return rc;
}

/* A list of objects, or, in old versions, an object with the paths as names. */
static enum err_code add_projects(struct sqlite_store *s, struct slice json, struct err *e)
{
    struct arena a = { 0 };
    struct slice projects, key, value, path, data;
    struct json_iter it;
    enum err_code rc = ERR_OK;

    if (!json_valid(json) || !json_get(json, "projects", &projects) ||
        !json_iter_open(&it, projects))
        return err_set(e, ERR_FORMAT, s->base.path, "open store: projects.json is damaged");
    while (!rc && json_iter_next(&it, &key, &value)) {
        if (key.n ? !json_text(key, &a, &path) : !json_get_text(value, "path", &a, &path))
            continue;
        if (json_get_text(value, "data_dir", &a, &data))
            rc = crush_add_project(s, path, data, e);
        arena_reset(&a);
    }
    arena_fini(&a);
    return rc;
}

static enum err_code crush_read_projects(struct sqlite_store *s, struct err *e)
{
    struct buf json = { 0 };
    char *path = config_dir_join(s->base.path, "projects.json");
    enum err_code rc =
        path ? file_read_all(AT_FDCWD, path, FILE_FOLLOW, PROJECTS_BYTES, &json, e) : err_nomem(e);

    if (!rc)
        rc = add_projects(s, buf_slice(&json), e);
    buf_fini(&json);
    free(path);
    return rc;
}

/* Opens a given path: the directory with projects.json, a project, or the data directory of a
 * project. */
static enum err_code crush_add_named(struct sqlite_store *s, struct err *e)
{
    AUTO_FREE char *inside = config_dir_join(s->base.path, ".crush");
    AUTO_ARENA a = { 0 };
    const char *parent = path_normalize(s->base.path, "..", &a);

    NEED(inside && parent);
    TRY(crush_add_database(s, s->base.path, parent, e));
    TRY(crush_add_database(s, inside, s->base.path, e));
    if (s->places == 0)
        TRY(crush_read_projects(s, e));
    return ERR_OK;
}

/* ---- open ---- */

static enum err_code crush_add_databases(struct sqlite_store *s, const char *named, struct err *e)
{
    enum err_code rc = config_dir_require(s->base.path, e);

    if (!rc)
        rc = named ? crush_add_named(s, e) : crush_read_projects(s, e);
    return rc || s->places
               ? rc
               : err_set(e, ERR_NOT_FOUND, s->base.path, "open store: no project with a database");
}

static enum err_code crush_open(const struct store_env *env, const char *path, struct store **out,
                                struct err *e)
{
    const char *own = env->crush_global_data;
    char *folder = path                   ? config_dir_absolute(env, path)
                   : own && own[0] == '/' ? config_dir_join(own, "")
                                          : config_dir_data(env, "crush");

    return sqlite_store_open(&crush_ops, &crush_format, env, path, folder, crush_add_databases, out,
                             e);
}

/* All operations that write are missing, because the database belongs to Crush and may be open. */
const struct store_ops crush_ops = {
    .name = "crush",
    .label = "Crush",
    SQLITE_STORE_OPS,
    .resume_command = "crush --session {id}",
    .change_command = { [STORE_COMMAND_RENAME] = "crush session rename {id} {title}",
                        [STORE_COMMAND_DELETE] = "crush session delete {id}" },
    .open = crush_open,
    .blocks = crush_blocks,
    .edits = tool_edits_loaded,
    .checkpoints = crush_checkpoints,
    .plan = crush_plan,
    .why = {
        [ABILITY_RENAME] = "Crush keeps its sessions in its own database",
        [ABILITY_DELETE] = "Crush keeps its sessions in its own database",
        [ABILITY_ARCHIVE] = "Crush sessions cannot be archived",
        [ABILITY_TAG] = "Crush sessions have no tags",
        [ABILITY_FORK] = "Crush cannot fork a session",
        [ABILITY_NAME_FORK] = "Crush cannot fork a session",
        [ABILITY_RESUME_AT] = "Crush continues after the last message",
        [ABILITY_TOMBSTONE] = "Crush keeps its messages in its own database",
        [ABILITY_REAPPEND] = "Crush sessions have no metadata to append again",
        [ABILITY_RETRIEVE] = "Crush sessions are already where it looks for them",
        [ABILITY_MOVE] = "Crush keeps its database in the project, so it moved along",
        [ABILITY_HAVE_BRANCHES] = "Crush sessions have no branches",
        [ABILITY_SET] = "Crush keeps its settings in its own database",
    },
};
