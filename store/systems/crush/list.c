#include "store/systems/crush/crush.h"

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

/* Crush generates titles in separate sessions. */
static bool is_own(struct slice id, struct slice parent)
{
    return parent.n == 0 && !slice_starts(id, "title-");
}

/* A complete answer ends with such a part. */
static bool is_interrupted(struct slice role, struct slice parts)
{
    return role.n && (slice_eq(role, SLICE("user")) || slice_eq(role, SLICE("tool")) ||
                      !slice_has(parts, "\"finish\""));
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
    out->flags =
        is_interrupted(sqlite_row_text(row, COLUMN_ROLE), sqlite_row_text(row, COLUMN_PARTS))
            ? SESSION_INTERRUPTED
            : 0;
    out->hidden =
        is_own(out->id, sqlite_row_text(row, COLUMN_PARENT)) ? HIDDEN_NOT : HIDDEN_SIDECHAIN;
    return true;
}
