#include <stdio.h>
#include <string.h>

#include "lite/base/time.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/systems/goose/goose.h"

enum { PROMPT_MOST = 64 << 10, SQL_MOST = 2048 };

/* Results of tools are messages of the user's role, so a prompt is one with a text. */
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

/* ---- gathering ---- */

struct gathering {
    const struct scope *scope;
    struct sqlite_items *out;
    struct buf told;
    struct arena arena; /* of one row */
};

static bool is_in_scope(const struct scope *scope, struct slice directory)
{
    bool in = scope->all || slice_eq(scope->project, directory);

    for (size_t i = 0; i < scope->trees && !in; i++)
        in = slice_eq(scope->tree[i], directory);
    return in;
}

static int64_t time_of(const struct sqlite_row *row, int column)
{
    return sqlite_row_is_null(row, column) ? TIME_NONE : sqlite_row_int(row, column) * 1000;
}

static void tell_time(struct jsonout *j, const char *key, int64_t ms)
{
    if (ms == TIME_NONE)
        return;
    jsonout_key(j, key);
    jsonout_int(j, ms);
}

static void tell_prompt(struct jsonout *j, const char *key, struct slice content, struct arena *a)
{
    struct slice text = goose_prompt(content, a);

    if (text.n > PROMPT_MOST)
        text.n = PROMPT_MOST;
    jsonout_member(j, key, text);
}

/* Goose's own list has the sessions of a person that have messages. */
static const char *hidden_of(const struct sqlite_row *row)
{
    struct slice type = sqlite_row_text(row, COLUMN_TYPE);

    if (sqlite_row_text(row, COLUMN_PARENT).n || slice_eq(type, SLICE("sub_agent")) ||
        slice_eq(type, SLICE("hidden")))
        return "side";
    return sqlite_row_text(row, COLUMN_ROLE).n ? "" : "empty";
}

static void tell(struct gathering *g, struct jsonout *j, const struct sqlite_row *row)
{
    jsonout_open(j, '{');
    jsonout_member(j, "title", sqlite_row_text(row, COLUMN_NAME));
    jsonout_member(j, "cwd", sqlite_row_text(row, COLUMN_DIRECTORY));
    jsonout_member(j, "hidden", slice_of(hidden_of(row)));
    tell_time(j, "created", time_of(row, COLUMN_CREATED));
    tell_time(j, "updated", time_of(row, COLUMN_UPDATED));
    tell_prompt(j, "first", sqlite_row_text(row, COLUMN_FIRST), &g->arena);
    tell_prompt(j, "last", sqlite_row_text(row, COLUMN_LAST), &g->arena);
    jsonout_key(j, "interrupted");
    jsonout_bool(j, slice_eq(sqlite_row_text(row, COLUMN_ROLE), SLICE("user")));
    jsonout_close(j, '}');
}

static enum err_code gather_row(const struct sqlite_row *row, void *arg, struct err *e)
{
    struct gathering *g = arg;
    int64_t updated = time_of(row, COLUMN_UPDATED);
    struct sqlite_item item = { .id = sqlite_row_text(row, COLUMN_ID),
                                .recent_ms = updated == TIME_NONE ? 1 : updated };
    struct jsonout j;

    if (!sqlite_store_is_id(item.id) ||
        !is_in_scope(g->scope, sqlite_row_text(row, COLUMN_DIRECTORY)))
        return ERR_OK;
    g->told.n = 0;
    jsonout_init(&j, &g->told);
    tell(g, &j, row);
    item.told = buf_slice(&g->told);
    enum err_code rc = j.rc || g->arena.failed ? ERR_NOMEM : sqlite_items_add(g->out, &item);

    arena_reset(&g->arena);
    return rc ? err_nomem(e) : ERR_OK;
}

enum err_code goose_gather(const struct sqlite_store *s, const struct sqlite_place *place,
                           struct sqlite_db *db, const struct scope *scope, struct slice id,
                           struct sqlite_items *out, struct err *e)
{
    struct gathering g = { .scope = scope, .out = out };
    bool named = sqlite_db_has_column(db, "sessions", "name"),
         typed = sqlite_db_has_column(db, "sessions", "session_type"),
         parents = sqlite_db_has_column(db, "sessions", "parent_session_id");
    char query[SQL_MOST];

    (void)s, (void)place;
    snprintf(query, sizeof query, sql,
             named ? "CASE WHEN s.name <> '' THEN s.name ELSE s.description END" : "s.description",
             typed ? "s.session_type" : "'user'", parents ? "s.parent_session_id" : "NULL");
    enum err_code rc = sqlite_db_each(db, query, &id, 1, gather_row, &g, e);

    buf_fini(&g.told);
    arena_fini(&g.arena);
    return rc;
}

/* ---- describing ---- */

static void take_texts(struct slice told, struct session_row *row, struct arena *a)
{
    struct slice hidden = SLICE("");

    json_get_text(told, "title", a, &row->custom_title);
    json_get_text(told, "cwd", a, &row->cwd);
    json_get_text(told, "first", a, &row->first_prompt);
    json_get_text(told, "last", a, &row->last_prompt);
    json_get_text(told, "hidden", a, &hidden);
    row->summary = row->custom_title.n   ? row->custom_title
                   : row->first_prompt.n ? row->first_prompt
                                         : row->ref.id;
    row->flags |= json_get_true(told, "interrupted") ? SESSION_INTERRUPTED : 0u;
    row->hidden = slice_eq(hidden, SLICE("side"))    ? HIDDEN_SIDECHAIN
                  : slice_eq(hidden, SLICE("empty")) ? HIDDEN_EMPTY
                                                     : HIDDEN_NOT;
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

enum err_code goose_describe(const struct store *st, const struct scope *scope,
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
        row->can = CAN_RESUME;
        if (a.failed || !session_row_keep(row))
            rc = err_nomem(e);
    }
    arena_fini(&a);
    return rc;
}
