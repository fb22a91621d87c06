#include "tests/contract/contract.h"

#include <sqlite3.h>

#include "store/systems/goose/goose.h"
#include "tests/test.h"

/* Goose keeps its sessions in one database. */

static const char schema[] =
    "CREATE TABLE sessions(id TEXT PRIMARY KEY, name TEXT, description TEXT, session_type TEXT, "
    "working_dir TEXT, created_at TIMESTAMP, updated_at TIMESTAMP, parent_session_id TEXT);"
    "CREATE TABLE messages(id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, role TEXT, "
    "content_json TEXT, created_timestamp INTEGER);";

#define SESSION(id, title, minute)                                                                 \
    "INSERT INTO sessions VALUES('" id "', '" title "', '', 'user', '/app', "                      \
    "'2026-09-21 10:00:00', '2026-09-21 10:" minute ":00', NULL);"
#define MESSAGE(session, role, text)                                                               \
    "INSERT INTO messages(session_id, role, content_json, created_timestamp) VALUES('" session     \
    "', '" role "', '[{\"type\":\"text\",\"text\":\"" text "\"}]', 1790000000);"

static const char rows[] = SESSION("20260921_1", "Gate", "01") SESSION("20260921_2", "Fence", "02")
    SESSION("20260921_3", "Roof", "03") MESSAGE("20260921_1", "user", "Mend the gate")
        MESSAGE("20260921_1", "assistant", "Done.") MESSAGE("20260921_1", "user", "Oil it")
            MESSAGE("20260921_1", "assistant", "Done.")
                MESSAGE("20260921_2", "user", "Paint the fence")
                    MESSAGE("20260921_3", "user", "Look at the roof")
                        MESSAGE("20260921_3", "assistant", "It is fine.");

static void make(const struct folder *f)
{
    char path[4096];
    sqlite3 *db;

    folder_dir(f, "goose");
    folder_path(f, "goose/sessions.db", path);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, schema, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, rows, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

TEST_MAIN
{
    static const struct contract_session sessions[] = {
        { .id = "20260921_1", .title = "Gate", .rows = 4, .messages = 4 },
        { .id = "20260921_2", .title = "Fence", .rows = 1, .messages = 1 },
        { .id = "20260921_3", .title = "Roof", .rows = 2, .messages = 2 },
    };
    const struct contract_system goose = { .ops = &goose_ops,
                                           .store = "goose",
                                           .make = make,
                                           .session = sessions,
                                           .n = sizeof sessions / sizeof *sessions,
                                           .unknown = "20260921_9",
                                           .shared = true,
                                           .bare = true };

    return contract_run_reading(&goose);
}
