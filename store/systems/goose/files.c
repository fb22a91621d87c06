#include <stdio.h>

#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/systems/common/sqlite/sqlite_store.h"
#include "store/systems/goose/goose.h"

/* Older versions of Goose kept each session as a file <id>.jsonl: a line about the session, then one message per line.
 * The rows of the later database are made from them here. */

enum { WHOLE_MOST = 256 << 20, ENDS_MOST = 128 << 10 };

const char goose_tables[] =
    "CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, description TEXT, working_dir TEXT, "
    "created_at TEXT, updated_at TEXT, accumulated_input_tokens INTEGER, "
    "accumulated_output_tokens INTEGER);"
    "CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content_json TEXT, "
    "created_timestamp INTEGER);"
    "CREATE INDEX of_session ON messages (session_id, created_timestamp, id);";

static const char add_session[] =
    "INSERT INTO sessions SELECT ?1, '', coalesce(json_extract(?2, '$.description'), ''), "
    "coalesce(json_extract(?2, '$.working_dir'), ''), NULL, datetime(?3, 'unixepoch'), "
    "json_extract(?2, '$.accumulated_input_tokens'), "
    "json_extract(?2, '$.accumulated_output_tokens')";
static const char add_message[] =
    "INSERT INTO messages (session_id, role, content_json, created_timestamp) SELECT ?1, "
    "coalesce(json_extract(?2, '$.role'), ''), json_extract(?2, '$.content'), json_extract(?2, "
    "'$.created')";
/* A damaged line becomes a message that is shown as it is. */
static const char add_damaged[] =
    "INSERT INTO messages (session_id, role, content_json) VALUES (?1, '', ?2)";
static const char add_times[] =
    "UPDATE sessions SET created_at = (SELECT datetime(min(created_timestamp), 'unixepoch') FROM "
    "messages WHERE session_id = sessions.id)";

static enum err_code goose_fill_session(struct sqlite_db *db, const char *path, struct slice id,
                                        size_t most, struct err *e)
{
    struct buf text = { 0 };
    struct slice rest, line = SLICE("");
    int64_t modified_ms = 0;
    bool torn;
    enum err_code rc = sqlite_folder_text(path, most, &text, &modified_ms, e);

    rest = buf_slice(&text);
    if (!rc && slice_line(&rest, &line, &torn)) {
        /* The first line is about the session, unless it is damaged or a message. */
        struct slice role;
        bool about =
            json_valid(line) && json_type(line) == JSON_OBJECT && !json_get(line, "role", &role);

        char seconds[32];
        int n = snprintf(seconds, sizeof seconds, "%lld", (long long)(modified_ms / 1000));
        const struct slice value[] = { id, about ? line : SLICE("{}"), { seconds, (size_t)n } };

        rc = sqlite_db_each(db, add_session, value, 3, NULL, NULL, e);
        if (!about)
            rest = buf_slice(&text);
    }
    while (!rc && slice_line(&rest, &line, &torn)) {
        const struct slice value[] = { id, line };
        bool valid = json_valid(line) && json_type(line) == JSON_OBJECT;

        rc = line.n ? sqlite_db_each(db, valid ? add_message : add_damaged, value, 2, NULL, NULL, e)
                    : ERR_OK;
    }
    buf_fini(&text);
    return rc;
}

enum err_code goose_fill(struct sqlite_db *db, const struct sqlite_place *place, struct slice id,
                         struct err *e)
{
    struct arena a = { 0 };
    struct folder_ids session = { .of = &id, .n = 1 };
    enum err_code rc =
        id.n ? ERR_OK : sqlite_folder_ids(place->path, GOOSE_SUFFIX, &a, &session, e);

    for (size_t i = 0; i < session.n && !rc; i++)
        rc = goose_fill_session(
            db, arena_format(&a, "%s/%.*s" GOOSE_SUFFIX, place->path, SLICE_ARG(session.of[i])),
            session.of[i], id.n ? WHOLE_MOST : ENDS_MOST, e);
    arena_fini(&a);
    return rc ? rc : sqlite_db_each(db, add_times, NULL, 0, NULL, NULL, e);
}
