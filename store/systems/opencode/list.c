#include <string.h>

#include "lite/base/time.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/systems/opencode/opencode.h"

/* The list as `opencode session list` has it: the last changed first, archived and empty sessions included, sub-agents
 * left out. */

enum { PROMPT_MOST = 64 << 10 };

/* Prompts are texts of a person; the other parts of a user's message are OpenCode's. Forks and archive marks are seen in
 * the row itself. JSON is only looked through for words here, because a damaged value would end the query. */
#define PROMPT(order)                                                                              \
    "(SELECT t.data FROM message m JOIN part t ON t.message_id = m.id WHERE m.session_id = s.id "  \
    "AND instr(m.data, '\"role\":\"user\"') AND instr(t.data, '\"type\":\"text\"') AND NOT "       \
    "instr(t.data, '\"synthetic\":true') AND (" OPENCODE_REVERTED                                  \
    " IS NULL OR m.id < " OPENCODE_REVERTED ") ORDER BY m.time_created " order ", m.id " order     \
    ", t.id LIMIT 1)"
#define NEWEST                                                                                     \
    "(SELECT m.data FROM message m WHERE m.session_id = s.id ORDER BY m.time_created DESC, m.id "  \
    "DESC LIMIT 1)"
#define FROM                                                                                       \
    " FROM session s LEFT JOIN project p ON p.id = s.project_id WHERE (?1 = '' OR s.id = ?1) "     \
    "ORDER BY s.time_updated DESC, s.id DESC"
#define COLUMNS                                                                                    \
    "SELECT s.id, s.parent_id, s.title, s.directory, s.project_id, p.worktree, s.time_created, "   \
    "s.time_updated, s.time_archived, " PROMPT("ASC") ", " PROMPT("DESC") ", " NEWEST ", "

static const char sql_with_model[] = COLUMNS "s.model" FROM;
static const char sql_without_model[] = COLUMNS "NULL" FROM;

enum column {
    COLUMN_ID,
    COLUMN_PARENT,
    COLUMN_TITLE,
    COLUMN_DIRECTORY,
    COLUMN_PROJECT,
    COLUMN_WORKTREE,
    COLUMN_CREATED,
    COLUMN_UPDATED,
    COLUMN_ARCHIVED,
    COLUMN_FIRST,
    COLUMN_LAST,
    COLUMN_NEWEST,
    COLUMN_MODEL,
};

/* ---- the scope ---- */

static bool is_below(struct slice path, struct slice dir)
{
    return path.n > dir.n && dir.n && memcmp(path.p, dir.p, dir.n) == 0 &&
           (path.p[dir.n] == '/' || dir.p[dir.n - 1] == '/');
}

/* OpenCode lists by project, so a session that was started in a subdirectory belongs to its work tree. */
static bool is_of(struct slice dir, struct slice session, bool has_project)
{
    return slice_eq(session, dir) || (has_project && is_below(session, dir));
}

static bool is_in_scope(const struct scope *scope, const struct sqlite_row *row)
{
    struct slice session = sqlite_row_text(row, COLUMN_DIRECTORY);
    bool project =
        !slice_eq(sqlite_row_text(row, COLUMN_PROJECT), SLICE("global")) && scope->trees > 0;

    if (scope->all || is_of(scope->project, session, project))
        return true;
    for (size_t i = 0; i < scope->trees; i++)
        if (is_of(scope->tree[i], session, project))
            return true;
    return false;
}

/* ---- gathering ---- */

struct gathering {
    const struct scope *scope;
    struct sqlite_items *out;
    struct buf told;
    struct arena arena; /* of one row */
};

static void tell_prompt(struct jsonout *j, const char *key, struct slice part, struct arena *a)
{
    struct slice text = opencode_prompt(part, a);

    if (text.n > PROMPT_MOST)
        text.n = PROMPT_MOST;
    jsonout_member(j, key, text);
}

/* The turn was cut off: a prompt without an answer, or an answer that was never completed. */
static bool is_interrupted(struct slice newest)
{
    struct slice role, done, failed;

    if (!newest.n || !json_get(newest, "role", &role))
        return false;
    return json_string_is(role, "user") ||
           (!json_at(newest, "time.completed", &done) && !json_get(newest, "error", &failed));
}

static void tell_flag(struct jsonout *j, const char *key, bool yes)
{
    if (!yes)
        return;
    jsonout_key(j, key);
    jsonout_bool(j, true);
}

static void tell(struct jsonout *j, const struct sqlite_row *row, struct arena *a)
{
    struct slice model;

    jsonout_open(j, '{');
    jsonout_member(j, "title", sqlite_row_text(row, COLUMN_TITLE));
    jsonout_member(j, "cwd", sqlite_row_text(row, COLUMN_DIRECTORY));
    jsonout_member(j, "parent", sqlite_row_text(row, COLUMN_PARENT));
    jsonout_key(j, "created");
    jsonout_int(j, sqlite_row_int(row, COLUMN_CREATED));
    jsonout_key(j, "updated");
    jsonout_int(j, sqlite_row_int(row, COLUMN_UPDATED));
    tell_flag(j, "archived", !sqlite_row_is_null(row, COLUMN_ARCHIVED));
    tell_flag(j, "interrupted", is_interrupted(sqlite_row_text(row, COLUMN_NEWEST)));
    tell_prompt(j, "first", sqlite_row_text(row, COLUMN_FIRST), a);
    tell_prompt(j, "last", sqlite_row_text(row, COLUMN_LAST), a);
    if (json_get_text(sqlite_row_text(row, COLUMN_MODEL), "id", a, &model))
        jsonout_member(j, "model", model);
    jsonout_close(j, '}');
}

static enum err_code gather_row(const struct sqlite_row *row, void *arg, struct err *e)
{
    struct gathering *g = arg;
    struct sqlite_item item = { .id = sqlite_row_text(row, COLUMN_ID),
                                .recent_ms = sqlite_row_int(row, COLUMN_UPDATED) };
    struct jsonout j;

    if (!sqlite_store_is_id(item.id) || !is_in_scope(g->scope, row))
        return ERR_OK;
    g->told.n = 0;
    jsonout_init(&j, &g->told);
    tell(&j, row, &g->arena);
    item.told = buf_slice(&g->told);
    enum err_code rc = j.rc || g->arena.failed ? ERR_NOMEM : sqlite_items_add(g->out, &item);

    arena_reset(&g->arena);
    return rc ? err_nomem(e) : ERR_OK;
}

enum err_code opencode_gather(const struct sqlite_store *s, const struct sqlite_place *place,
                              struct sqlite_db *db, const struct scope *scope, struct slice id,
                              struct sqlite_items *out, struct err *e)
{
    struct gathering g = { .scope = scope, .out = out };
    bool model = sqlite_db_has_column(db, "session", "model");

    (void)s, (void)place;
    enum err_code rc =
        sqlite_db_each(db, model ? sql_with_model : sql_without_model, &id, 1, gather_row, &g, e);

    buf_fini(&g.told);
    arena_fini(&g.arena);
    return rc;
}

/* ---- describing ---- */

/* "Invoice total (fork #1)": forks are marked by nothing else. */
static bool is_fork(struct slice title)
{
    static const char mark[] = " (fork #";
    size_t digits = 0, n = title.n;

    if (n == 0 || title.p[n - 1] != ')')
        return false;
    for (n--; n && title.p[n - 1] >= '0' && title.p[n - 1] <= '9'; n--)
        digits++;
    return digits && n >= sizeof mark - 1 &&
           memcmp(title.p + n - (sizeof mark - 1), mark, sizeof mark - 1) == 0;
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
    row->flags |=
        (json_get_true(told, "archived") ? SESSION_ARCHIVED | SESSION_ARCHIVED_KNOWN : 0u) |
        (json_get_true(told, "interrupted") ? SESSION_INTERRUPTED : 0u) |
        (is_fork(row->custom_title) ? SESSION_FORK : 0u);
    row->hidden = parent.n ? HIDDEN_SIDECHAIN : HIDDEN_NOT;
}

enum err_code opencode_describe(const struct store *st, const struct scope *scope,
                                const struct session_ref *ref, struct session_row *row,
                                struct err *e)
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
