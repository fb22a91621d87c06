#include "store/systems/goose/goose.h"

#include <stdlib.h>

#include "lite/base/time.h"
#include "store/systems/common/config_dir.h"
#include "store/systems/common/edits/tool_edits.h"
#include "store/systems/common/sqlite/sqlite_store.h"

/* Results of tools are messages with the role of the user, so a prompt is a message with a text. */
#define PROMPT(order)                                                                              \
    "(SELECT m.content_json FROM messages m WHERE m.session_id = s.id AND m.role = 'user' AND "    \
    "instr(m.content_json, '\"type\":\"text\"') AND NOT instr(m.content_json, "                    \
    "'\"type\":\"toolResponse\"') ORDER BY m.created_timestamp " order ", m.id " order " LIMIT 1)"

/* Columns that old versions lack are replaced. Times are texts in UTC. */
static const char sql[] =
    "SELECT s.id, %s, s.working_dir, CAST(strftime('%%s', s.created_at) AS INTEGER), "
    "CAST(strftime('%%s', s.updated_at) AS INTEGER), %s, %s, " PROMPT("ASC") ", " PROMPT(
        "DESC") ", (SELECT m.role FROM messages m WHERE m.session_id = s.id ORDER BY "
                "m.created_timestamp DESC, "
                "m.id DESC LIMIT 1) FROM sessions s WHERE (?1 = '' OR s.id = ?1) ORDER BY "
                "s.updated_at DESC, "
                "s.id DESC";

enum column {
    COLUMN_ID,
    COLUMN_NAME,
    COLUMN_DIRECTORY,
    COLUMN_CREATED,
    COLUMN_UPDATED,
    COLUMN_TYPE,
    COLUMN_PARENT,
    COLUMN_FIRST,
    COLUMN_LAST,
    COLUMN_ROLE,
};

const char *goose_sessions(struct sqlite_db *db, struct arena *a)
{
    bool named = sqlite_db_has_column(db, "sessions", "name"),
         typed = sqlite_db_has_column(db, "sessions", "session_type"),
         parents = sqlite_db_has_column(db, "sessions", "parent_session_id");

    return arena_format(
        a, sql,
        named ? "CASE WHEN s.name <> '' THEN s.name ELSE s.description END" : "s.description",
        typed ? "s.session_type" : "'user'", parents ? "s.parent_session_id" : "NULL");
}

static int64_t goose_time_of(const struct sqlite_row *row, int column)
{
    return sqlite_row_is_null(row, column) ? TIME_NONE : sqlite_row_int(row, column) * 1000;
}

/* Goose's own list shows the sessions of a person that have messages. */
static enum session_hidden hidden_of(const struct sqlite_row *row)
{
    struct slice type = sqlite_row_text(row, COLUMN_TYPE);

    if (sqlite_row_text(row, COLUMN_PARENT).n || slice_eq(type, SLICE("sub_agent")) ||
        slice_eq(type, SLICE("hidden")))
        return HIDDEN_SIDECHAIN;
    return sqlite_row_text(row, COLUMN_ROLE).n ? HIDDEN_NOT : HIDDEN_EMPTY;
}

bool goose_listed(const struct sqlite_row *row, const struct sqlite_place *place,
                  const struct scope *scope, struct arena *a, struct sqlite_listed *out)
{
    (void)place;
    out->id = sqlite_row_text(row, COLUMN_ID);
    out->title = sqlite_row_text(row, COLUMN_NAME);
    out->cwd = sqlite_row_text(row, COLUMN_DIRECTORY);
    out->first = goose_prompt(sqlite_row_text(row, COLUMN_FIRST), a);
    out->last = goose_prompt(sqlite_row_text(row, COLUMN_LAST), a);
    out->created_ms = goose_time_of(row, COLUMN_CREATED);
    out->modified_ms = goose_time_of(row, COLUMN_UPDATED);
    out->hidden = hidden_of(row);
    out->flags =
        slice_eq(sqlite_row_text(row, COLUMN_ROLE), SLICE("user")) ? SESSION_INTERRUPTED : 0;
    return config_dir_in_scope(scope, out->cwd, a);
}

static bool goose_has_files(const char *folder)
{
    struct arena a = { 0 };
    struct folder_ids found;
    bool has = !sqlite_folder_ids(folder, GOOSE_SUFFIX, &a, &found, NULL) && found.n > 0;

    arena_fini(&a);
    return has;
}

/* Adds the database: the given file, or the database in a directory. Goose copies the files of old versions to it when
 * it creates the database. */
static enum err_code goose_add_database(struct sqlite_store *s, const char *named, struct err *e)
{
    bool file = named && sqlite_store_is_file(s->base.path);
    char *path = config_dir_join(s->base.path, file ? "" : "sessions.db");
    enum err_code rc = path ? ERR_OK : err_nomem(e);

    if (!rc && !file)
        rc = config_dir_require(s->base.path, e);
    if (!rc && sqlite_store_is_file(path))
        rc = sqlite_store_add(s, path, NULL, e);
    else if (!rc && goose_has_files(s->base.path))
        rc = sqlite_store_add_folder(s, s->base.path, e);
    else if (!rc)
        rc = err_set(e, ERR_NOT_FOUND, path, "open store: no database of Goose");
    free(path);
    return rc;
}

static enum err_code goose_open(const struct store_env *env, const char *path, struct store **out,
                                struct err *e)
{
    const char *own = env->goose_path_root;
    char *folder = path                   ? config_dir_absolute(env, path)
                   : own && own[0] == '/' ? config_dir_join(own, "data/sessions")
                                          : config_dir_data(env, "goose/sessions");

    return sqlite_store_open(&goose_ops, &goose_format, env, path, folder, goose_add_database, out,
                             e);
}

const struct store_ops goose_ops = {
    .name = "goose",
    .label = "Goose",
    SQLITE_STORE_OPS,
    .resume_command = "goose session --resume --session-id {id}",
    .open = goose_open,
    .blocks = goose_blocks,
    .no_hooks = "Goose does not tell a hook before a prompt in which directory it works",
    .edits = tool_edits_loaded,
    .why = {
        [ABILITY_RENAME] = "Goose keeps its sessions in its own database",
        [ABILITY_DELETE] = "goose session remove --session-id ID asks on its own terminal",
        [ABILITY_ARCHIVE] = "Goose sessions cannot be archived",
        [ABILITY_TAG] = "Goose sessions have no tags",
        [ABILITY_FORK] = "Goose copies sessions only on its own screen",
        [ABILITY_NAME_FORK] = "Goose copies sessions only on its own screen",
        [ABILITY_RESUME_AT] = "Goose continues after the last message",
        [ABILITY_REWIND] = "Goose keeps no copies of files",
        [ABILITY_TOMBSTONE] = "Goose keeps its messages in its own database",
        [ABILITY_REAPPEND] = "Goose sessions have no metadata to append again",
        [ABILITY_RETRIEVE] = "Goose sessions are already where it looks for them",
        [ABILITY_MOVE] = "the directory is in Goose's own database: resume it by its id",
        [ABILITY_HAVE_BRANCHES] = "Goose sessions have no branches",
        [ABILITY_SET] = "Goose keeps its settings in its own database",
    },
};
