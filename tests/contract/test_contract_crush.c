#include "tests/contract/contract.h"

#include <sqlite3.h>

#include "store/systems/crush/crush.h"
#include "tests/test.h"

/* Crush keeps the sessions of a project in a database there. */

static const char schema[] =
    "CREATE TABLE sessions(id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT, message_count "
    "INTEGER, updated_at INTEGER, created_at INTEGER);"
    "CREATE TABLE files(id INTEGER PRIMARY KEY, session_id TEXT, path TEXT, content TEXT, version "
    "INTEGER, created_at INTEGER);"
    "CREATE TABLE messages(id TEXT PRIMARY KEY, session_id TEXT, role TEXT, parts BLOB, model "
    "TEXT, created_at INTEGER);";

#define SESSION(id, title, time)                                                                   \
    "INSERT INTO sessions VALUES('" id "', NULL, '" title "', 0, " time ", " time ");"
#define MESSAGE(n, session, role, text)                                                            \
    "INSERT INTO messages VALUES('message-" n "', '" session "', '" role                           \
    "', '[{\"type\":\"text\",\"data\":{\"text\":\"" text "\"}},{\"type\":\"finish\",\"data\":{}}]" \
    "', '', 170000000" n ");"

static const char rows[] = SESSION("one", "Gate", "1700000000")
    SESSION("two", "Fence", "1700000100") SESSION("three", "Roof", "1700000200")
        MESSAGE("1", "one", "user", "Mend the gate") MESSAGE("2", "one", "assistant", "Done.")
            MESSAGE("3", "one", "user", "Oil it") MESSAGE("4", "one", "assistant", "Done.")
                MESSAGE("5", "two", "user", "Paint the fence")
                    MESSAGE("6", "three", "user", "Look at the roof")
                        MESSAGE("7", "three", "assistant", "It is fine.");

static void make(const struct folder *f)
{
    char path[4096];
    sqlite3 *db;

    folder_dir(f, "app/.crush");
    folder_path(f, "app/.crush/crush.db", path);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, schema, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, rows, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

TEST_MAIN
{
    static const struct contract_session sessions[] = {
        { .id = "one", .title = "Gate", .rows = 4, .messages = 4 },
        { .id = "two", .title = "Fence", .rows = 1, .messages = 1 },
        { .id = "three", .title = "Roof", .rows = 2, .messages = 2 },
    };
    const struct contract_system crush = { .ops = &crush_ops,
                                           .store = "app",
                                           .make = make,
                                           .session = sessions,
                                           .n = sizeof sessions / sizeof *sessions,
                                           .unknown = "none",
                                           .shared = true,
                                           .bare = true };

    return contract_run_reading(&crush);
}
