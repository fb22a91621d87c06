#include "tests/contract/contract.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "store/systems/cursor/cursor.h"
#include "tests/test.h"

/* Cursor keeps each session in a database of its own, and a document about it beside it. */

#define FOLDER ".cursor/chats/0123456789abcdef0123456789abcdef/"
#define FIRST "01a203e0-7efc-41a2-810d-000000000001"
#define SECOND "01a203e0-7efc-41a2-810d-000000000002"
#define THIRD "01a203e0-7efc-41a2-810d-000000000003"

enum { NAME = 32, MESSAGES = 4 };

static void run(sqlite3 *db, const char *sql)
{
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
}

/* The bytes as hexadecimal digits. */
static const char *hex(const void *bytes, size_t n, char *out)
{
    for (size_t i = 0; i < n; i++)
        sprintf(out + 2 * i, "%02x", ((const unsigned char *)bytes)[i]);
    return out;
}

static void put_blob(sqlite3 *db, const unsigned char *name, const void *data, size_t n)
{
    char digits[2 * NAME + 1];
    sqlite3_stmt *put;

    assert_int_equal(sqlite3_prepare_v2(db, "INSERT INTO blobs VALUES (?, ?)", -1, &put, NULL),
                     SQLITE_OK);
    sqlite3_bind_text(put, 1, hex(name, NAME, digits), -1, SQLITE_TRANSIENT);
    sqlite3_bind_blob(put, 2, data, (int)n, SQLITE_TRANSIENT);
    assert_int_equal(sqlite3_step(put), SQLITE_DONE);
    sqlite3_finalize(put);
}

/* A state names its messages: field 1 of a protobuf message, 32 bytes each. */
static void put_state(sqlite3 *db, const char *const *message)
{
    unsigned char root[NAME] = { 0xff }, state[MESSAGES * (NAME + 2)];
    char head[256], digits[2 * sizeof head + 1], sql[1024], name[2 * NAME + 1];
    size_t n = 0;

    for (size_t i = 0; i < MESSAGES && message[i]; i++) {
        unsigned char *field = state + n;

        memset(field, (int)i + 1, NAME + 2);
        put_blob(db, field + 2, message[i], strlen(message[i]));
        field[0] = 1 << 3 | 2;
        field[1] = NAME;
        n += NAME + 2;
    }
    put_blob(db, root, state, n);
    snprintf(head, sizeof head, "{\"latestRootBlobId\":\"%s\",\"name\":\"New Agent\"}",
             hex(root, NAME, name));
    snprintf(sql, sizeof sql, "INSERT INTO meta VALUES ('0', '%s')",
             hex(head, strlen(head), digits));
    run(db, sql);
}

static void put_session(const struct folder *f, const char *id, const char *title,
                        const char *const *message, int64_t at_ns)
{
    char name[256], path[4096], about[256];
    sqlite3 *db;

    snprintf(name, sizeof name, FOLDER "%s/meta.json", id);
    snprintf(about, sizeof about, "{\"schemaVersion\":1,\"title\":\"%s\",\"cwd\":\"/app\"}", title);
    folder_put(f, name, slice_of(about));
    folder_mtime(f, name, at_ns);
    snprintf(name, sizeof name, FOLDER "%s/store.db", id);
    folder_path(f, name, path);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    run(db, "CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB);"
            "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT);");
    put_state(db, message);
    sqlite3_close(db);
    folder_mtime(f, name, at_ns);
}

#define SAID(role, text) "{\"role\":\"" role "\",\"content\":\"" text "\"}"

static void make(const struct folder *f)
{
    static const char *const gate[] = { SAID("user", "Mend the gate"),
                                        SAID("assistant", "It creaks."), SAID("user", "Oil it"),
                                        SAID("assistant", "Done.") };
    static const char *const fence[] = { SAID("user", "Paint the fence"), NULL };
    static const char *const house[] = { SAID("user", "Sell the house"),
                                         SAID("assistant", "To whom?"), NULL };

    put_session(f, FIRST, "The gate", gate, 1700000000123456789);
    put_session(f, SECOND, "The fence", fence, 1700000100000000000);
    put_session(f, THIRD, "The house", house, 1700000200000000001);
    folder_put(f, FOLDER "x", SLICE("no session"));
}

TEST_MAIN
{
    static const struct contract_session sessions[] = {
        { .id = FIRST, .title = "The gate", .rows = 4, .messages = 4 },
        { .id = SECOND, .title = "The fence", .rows = 1, .messages = 1 },
        { .id = THIRD, .title = "The house", .rows = 2, .messages = 2 },
    };
    const struct contract_system cursor = { .ops = &cursor_ops,
                                            .store = ".cursor",
                                            .make = make,
                                            .session = sessions,
                                            .n = sizeof sessions / sizeof *sessions,
                                            .unknown = "01a203e0-7efc-41a2-810d-000000000009" };

    return contract_run_reading(&cursor);
}
