#include <string.h>

#include "lite/json/json.h"
#include "store/systems/opencode/opencode.h"

/* The same list as `opencode session list`: the last changed session first, including archived and
 * empty sessions but not sub-agents. */

/* A prompt is the text that a person typed, one part per line; the other parts of a user's message are OpenCode's.
 * Forks and archive marks are detected in the row itself. The query only searches JSON for words, because a damaged
 * value would end the query. */
#define IS_TEXT(part)                                                                              \
    "instr(" part ".data, '\"type\":\"text\"') AND NOT instr(" part ".data, '\"synthetic\":true')"
#define IS_USERS "instr(m.data, '\"role\":\"user\"')"
#define PROMPT(order, is_users)                                                                    \
    "(SELECT group_concat(data, char(10)) FROM (SELECT t.data FROM part t WHERE t.message_id = ("  \
    "SELECT m.id FROM message m JOIN part f ON f.message_id = m.id WHERE m.session_id = s.id "     \
    "AND " is_users " AND " IS_TEXT("f") " AND (" OPENCODE_REVERTED                                \
                                         " IS NULL OR m.id < " OPENCODE_REVERTED                   \
                                         ") ORDER BY m.time_created " order ", m.id " order        \
                                         " LIMIT 1) AND " IS_TEXT("t") " ORDER BY t.id))"
#define FIRST PROMPT("ASC", IS_USERS)
/* The last messages are answers, whose role is at their beginning. */
#define LAST PROMPT("DESC", "NOT instr(m.data, '\"role\":\"assistant\"') AND " IS_USERS)
#define NEWEST                                                                                     \
    "(SELECT m.data FROM message m WHERE m.session_id = s.id ORDER BY m.time_created DESC, m.id "  \
    "DESC LIMIT 1)"
#define FROM                                                                                       \
    " FROM session s LEFT JOIN project p ON p.id = s.project_id WHERE (?1 = '' OR s.id = ?1)"
#define COLUMNS                                                                                    \
    "SELECT s.id, s.parent_id, s.title, s.directory, s.project_id, p.worktree, s.time_created, "   \
    "s.time_updated, s.time_archived, " FIRST ", " LAST ", " NEWEST ", "

const char *opencode_sessions(struct sqlite_db *db, struct arena *a)
{
    (void)a;
    return sqlite_db_has_column(db, "session", "model") ? COLUMNS "s.model" FROM
                                                        : COLUMNS "NULL" FROM;
}

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

/* OpenCode lists by project, so a session that was started in a subdirectory belongs to its work tree. */
static bool opencode_is_of(struct slice dir, struct slice session, bool has_project)
{
    return slice_eq(session, dir) ||
           (has_project && session.n > dir.n && dir.n && memcmp(session.p, dir.p, dir.n) == 0 &&
            (session.p[dir.n] == '/' || dir.p[dir.n - 1] == '/'));
}

/* ---- the row ---- */

/* Returns true if the turn was interrupted: a prompt without an answer, or an answer that was never
 * completed. */
static bool opencode_is_interrupted(struct slice newest)
{
    enum { ROLE, TIME, ERROR, N };
    static const char *const names[] = { "role", "time", "error" };
    struct slice value[N], done;

    if (!newest.n || !json_get_each(newest, names, N, value) || !value[ROLE].n)
        return false;
    return json_string_is(value[ROLE], "user") ||
           (!value[ERROR].n && !json_get(value[TIME], "completed", &done));
}

/* "Invoice total (fork #1)": nothing else marks a fork. */
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

static struct slice opencode_prompt_of(struct slice parts, struct arena *a)
{
    struct slice part, text, all = SLICE("");
    bool torn;

    while (slice_line(&parts, &part, &torn)) {
        text = opencode_prompt(part, a);
        if (text.n)
            all = arena_join(a, all, "\n", text);
    }
    return all;
}

bool opencode_listed(const struct sqlite_row *row, const struct sqlite_place *place,
                     const struct scope *scope, struct arena *a, struct sqlite_listed *out)
{
    struct slice first = sqlite_row_text(row, COLUMN_FIRST),
                 last = sqlite_row_text(row, COLUMN_LAST);

    (void)place;
    out->id = sqlite_row_text(row, COLUMN_ID);
    out->title = sqlite_row_text(row, COLUMN_TITLE);
    out->cwd = sqlite_row_text(row, COLUMN_DIRECTORY);
    out->first = opencode_prompt_of(first, a);
    out->last = slice_eq(first, last) ? out->first : opencode_prompt_of(last, a);
    json_get_text(sqlite_row_text(row, COLUMN_MODEL), "id", a, &out->model);
    out->created_ms = sqlite_row_int(row, COLUMN_CREATED);
    out->modified_ms = sqlite_row_int(row, COLUMN_UPDATED);
    out->flags =
        (sqlite_row_is_null(row, COLUMN_ARCHIVED)
             ? 0u
             : (unsigned)(SESSION_ARCHIVED | SESSION_ARCHIVED_KNOWN)) |
        (opencode_is_interrupted(sqlite_row_text(row, COLUMN_NEWEST)) ? SESSION_INTERRUPTED : 0u) |
        (is_fork(sqlite_row_text(row, COLUMN_TITLE)) ? SESSION_FORK : 0u);
    out->hidden = sqlite_row_text(row, COLUMN_PARENT).n ? HIDDEN_SIDECHAIN : HIDDEN_NOT;

    struct slice session = sqlite_row_text(row, COLUMN_DIRECTORY);

    /* The project "global" has all sessions outside of repositories, whose subdirectories are unrelated. */
    bool project =
        !slice_eq(sqlite_row_text(row, COLUMN_PROJECT), SLICE("global")) && scope->trees > 0;

    if (scope->all || opencode_is_of(scope->project, session, project))
        return true;
    for (size_t i = 0; i < scope->trees; i++)
        if (opencode_is_of(scope->tree[i], session, project))
            return true;
    return false;
}
