#include "lite/base/time.h"
#include "store/systems/common/config_dir.h"
#include "store/systems/goose/goose.h"

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

static int64_t time_of(const struct sqlite_row *row, int column)
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
    out->created_ms = time_of(row, COLUMN_CREATED);
    out->modified_ms = time_of(row, COLUMN_UPDATED);
    out->hidden = hidden_of(row);
    out->flags =
        slice_eq(sqlite_row_text(row, COLUMN_ROLE), SLICE("user")) ? SESSION_INTERRUPTED : 0;
    return config_dir_in_scope(scope, out->cwd, a);
}
