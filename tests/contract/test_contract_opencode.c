#include "tests/contract/contract.h"

#include <sqlite3.h>

#include "tests/test.h"

/* OpenCode and its fork Kilo keep their sessions in one database each. */
extern const struct store_ops opencode_ops, kilo_ops;

static const char schema[] =
    "CREATE TABLE project(id TEXT PRIMARY KEY, worktree TEXT);"
    "CREATE TABLE session(id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, directory TEXT, "
    "title TEXT, "
    "revert TEXT, model TEXT, time_created INTEGER, time_updated INTEGER, time_archived INTEGER);"
    "CREATE TABLE message(id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT);"
    "CREATE TABLE part(id TEXT PRIMARY KEY, message_id TEXT, data TEXT);";

#define SESSION(id, title, time)                                                                   \
    "INSERT INTO session VALUES('" id "', 'p', NULL, '/app', '" title "', NULL, NULL, " time       \
    ", " time ", NULL);"
#define MESSAGE(n, session, role, text)                                                            \
    "INSERT INTO message VALUES('msg_" n "', '" session "', " n ", '{\"role\":\"" role "\","       \
    "\"time\":{\"created\":1,\"completed\":2}}');"                                                 \
    "INSERT INTO part VALUES('prt_" n "', 'msg_" n "', '{\"type\":\"text\",\"text\":\"" text       \
    "\"}');"

static const char rows[] = SESSION("ses_one", "Gate", "1700000000000")
    SESSION("ses_two", "Fence", "1700000100000") SESSION("ses_three", "Roof", "1700000200000")
        MESSAGE("1", "ses_one", "user", "Mend the gate")
            MESSAGE("2", "ses_one", "assistant", "Done.") MESSAGE("3", "ses_one", "user", "Oil it")
                MESSAGE("4", "ses_one", "assistant", "Done.")
                    MESSAGE("5", "ses_two", "user", "Paint the fence")
                        MESSAGE("6", "ses_three", "user", "Look at the roof")
                            MESSAGE("7", "ses_three", "assistant", "It is fine.");

static void make_database(const struct folder *f, const char *name)
{
    char path[4096];
    sqlite3 *db;

    folder_path(f, name, path);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, schema, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, rows, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void make_opencode(const struct folder *f)
{
    folder_dir(f, "opencode");
    make_database(f, "opencode/opencode.db");
}

static void make_kilo(const struct folder *f)
{
    folder_dir(f, "kilo");
    make_database(f, "kilo/kilo.db");
}

TEST_MAIN
{
    static const struct contract_session sessions[] = {
        { .id = "ses_one", .title = "Gate", .rows = 4, .messages = 4 },
        { .id = "ses_two", .title = "Fence", .rows = 1, .messages = 1 },
        { .id = "ses_three", .title = "Roof", .rows = 2, .messages = 2 },
    };
    struct contract_system system = { .ops = &opencode_ops,
                                      .store = "opencode",
                                      .make = make_opencode,
                                      .session = sessions,
                                      .n = sizeof sessions / sizeof *sessions,
                                      .unknown = "ses_none",
                                      .shared = true,
                                      .bare = true };
    int failed = contract_run_reading(&system);

    system.ops = &kilo_ops;
    system.store = "kilo";
    system.make = make_kilo;
    return contract_run_reading(&system) + failed;
}
