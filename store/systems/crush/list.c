#include "lite/base/time.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/systems/crush/crush.h"

enum { PROMPT_MOST = 64 << 10 };

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

/* ---- gathering ---- */

struct gathering {
    const struct sqlite_place *place;
    struct sqlite_items *out;
    struct buf told;
    struct arena arena; /* of one row */
};

static void tell_prompt(struct jsonout *j, const char *key, struct slice parts, struct arena *a)
{
    struct slice text = crush_prompt(parts, a);

    if (text.n > PROMPT_MOST)
        text.n = PROMPT_MOST;
    jsonout_member(j, key, text);
}

static void tell_time(struct jsonout *j, const char *key, int64_t stored)
{
    int64_t ms = crush_time(stored);

    if (ms == TIME_NONE)
        return;
    jsonout_key(j, key);
    jsonout_int(j, ms);
}

static void tell(struct gathering *g, struct jsonout *j, const struct sqlite_row *row)
{
    struct slice role = sqlite_row_text(row, COLUMN_ROLE),
                 parts = sqlite_row_text(row, COLUMN_PARTS);

    jsonout_open(j, '{');
    jsonout_member(j, "title", sqlite_row_text(row, COLUMN_TITLE));
    jsonout_member(j, "parent", sqlite_row_text(row, COLUMN_PARENT));
    jsonout_member(j, "model", sqlite_row_text(row, COLUMN_MODEL));
    tell_time(j, "created", sqlite_row_int(row, COLUMN_CREATED));
    tell_time(j, "updated", sqlite_row_int(row, COLUMN_UPDATED));
    tell_prompt(j, "first", sqlite_row_text(row, COLUMN_FIRST), &g->arena);
    tell_prompt(j, "last", sqlite_row_text(row, COLUMN_LAST), &g->arena);
    jsonout_key(j, "interrupted");
    /* a complete answer ends with such a part */
    jsonout_bool(j, role.n && (slice_eq(role, SLICE("user")) || slice_eq(role, SLICE("tool")) ||
                               !slice_has(parts, "\"finish\"")));
    if (g->place->project)
        jsonout_member(j, "cwd", slice_of(g->place->project));
    jsonout_close(j, '}');
}

static enum err_code gather_row(const struct sqlite_row *row, void *arg, struct err *e)
{
    struct gathering *g = arg;
    int64_t updated = crush_time(sqlite_row_int(row, COLUMN_UPDATED));
    struct sqlite_item item = { .id = sqlite_row_text(row, COLUMN_ID),
                                .recent_ms = updated == TIME_NONE ? 1 : updated };
    struct jsonout j;

    if (!sqlite_store_is_id(item.id))
        return ERR_OK;
    g->told.n = 0;
    jsonout_init(&j, &g->told);
    tell(g, &j, row);
    item.told = buf_slice(&g->told);
    enum err_code rc = j.rc || g->arena.failed ? ERR_NOMEM : sqlite_items_add(g->out, &item);

    arena_reset(&g->arena);
    return rc ? err_nomem(e) : ERR_OK;
}

enum err_code crush_gather(const struct sqlite_store *s, const struct sqlite_place *place,
                           struct sqlite_db *db, const struct scope *scope, struct slice id,
                           struct sqlite_items *out, struct err *e)
{
    struct gathering g = { .place = place, .out = out };

    (void)s, (void)scope; /* a database is in the scope or not */
    enum err_code rc = sqlite_db_each(db, sql, &id, 1, gather_row, &g, e);

    buf_fini(&g.told);
    arena_fini(&g.arena);
    return rc;
}

/* ---- describing ---- */

/* The generation of a title is a session of its own. */
static bool is_own(const struct session_row *row, struct slice parent)
{
    return parent.n == 0 && !slice_starts(row->ref.id, "title-");
}

static void take_texts(struct slice told, struct session_row *row, struct arena *a)
{
    struct slice parent = SLICE("");

    json_get_text(told, "title", a, &row->custom_title);
    json_get_text(told, "cwd", a, &row->cwd);
    json_get_text(told, "first", a, &row->first_prompt);
    json_get_text(told, "last", a, &row->last_prompt);
    json_get_text(told, "model", a, &row->model);
    json_get_text(told, "parent", a, &parent);
    row->summary = row->custom_title.n   ? row->custom_title
                   : row->first_prompt.n ? row->first_prompt
                                         : row->ref.id;
    row->flags |= json_get_true(told, "interrupted") ? SESSION_INTERRUPTED : 0u;
    row->hidden = is_own(row, parent) ? HIDDEN_NOT : HIDDEN_SIDECHAIN;
}

static void take_times(struct slice told, struct session_row *row)
{
    struct slice value;
    int64_t ms;

    if (json_get(told, "created", &value) && json_int(value, &ms))
        row->created_ms = ms;
    if (json_get(told, "updated", &value) && json_int(value, &ms))
        row->modified_ms = row->activity_ms = row->ref.recent_ms = ms;
}

enum err_code crush_describe(const struct store *st, const struct scope *scope,
                             const struct session_ref *ref, struct session_row *row, struct err *e)
{
    struct arena a = { 0 };
    struct slice told;
    enum err_code rc = sqlite_store_told(ref, &a, &told, e);

    (void)st, (void)scope;
    if (!rc) {
        sqlite_store_begin_row(ref, row);
        take_times(told, row);
        take_texts(told, row, &a);
        row->can = CAN_RESUME | CAN_REWIND;
        if (a.failed || !session_row_keep(row))
            rc = err_nomem(e);
    }
    arena_fini(&a);
    return rc;
}
