#include "store/sqlite/sqlite_db.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "tests/support/folder.h"
#include "tests/test.h"

/* Databases that another connection, the writer, makes and changes with SQLite itself. */
struct place {
    struct folder folder;
    char path[4096];
    sqlite3 *writer;
};

static void run(struct place *p, const char *sql)
{
    assert_int_equal(sqlite3_exec(p->writer, sql, NULL, NULL, NULL), SQLITE_OK);
}

static void make(struct place *p, const char *first)
{
    folder_make(&p->folder);
    folder_dir(&p->folder, "live");
    folder_path(&p->folder, "live/a.db", p->path);
    assert_int_equal(sqlite3_open(p->path, &p->writer), SQLITE_OK);
    run(p, first);
    run(p, "CREATE TABLE t(id TEXT, n INTEGER); INSERT INTO t VALUES('one', 1)");
}

static void make_logged(struct place *p)
{
    make(p, "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0");
}

static void finish(struct place *p)
{
    sqlite3_close(p->writer);
    folder_remove(&p->folder);
}

/* Copies the files of the database, with or without its -wal, into a folder where no process has them open. */
static void copy(struct place *p, bool with_log)
{
    static const char *const names[] = { "a.db", "a.db-wal" };
    char from[64], to[64];

    for (size_t i = 0; i < (with_log ? 2u : 1u); i++) {
        size_t n;
        snprintf(from, sizeof from, "live/%s", names[i]);
        snprintf(to, sizeof to, "copy/%s", names[i]);
        char *bytes = folder_get(&p->folder, from, &n);
        folder_put(&p->folder, to, (struct slice){ bytes, n });
        folder_mtime(&p->folder, to, 1700000000000000000);
        free(bytes);
    }
    folder_path(&p->folder, "copy/a.db", p->path);
}

/* What is read: the sum of the numbers; and what happens while it is. */
struct reading {
    struct place *p;
    const char *meanwhile; /* run by the writer after the rows were read; NULL: nothing */
    int times;             /* how often at most */
    int64_t sum;
    int calls;
};

static enum err_code add_row(const struct sqlite_row *row, void *arg, struct err *e)
{
    (void)e;
    assert_true(sqlite_row_text(row, 0).n > 0);
    ((struct reading *)arg)->sum += sqlite_row_int(row, 1);
    return ERR_OK;
}

static enum err_code read_all(struct sqlite_db *db, void *arg, struct err *e)
{
    struct reading *r = arg;
    const struct slice none = SLICE("none");

    r->calls++;
    r->sum = 0;
    enum err_code rc =
        sqlite_db_each(db, "SELECT id, n FROM t WHERE id <> ?1", &none, 1, add_row, r, e);

    if (r->meanwhile && r->calls <= r->times)
        run(r->p, r->meanwhile);
    return rc;
}

static enum err_code read_place(struct place *p, struct reading *r, struct err *e)
{
    r->p = p;
    return sqlite_db_read(p->path, NULL, read_all, r, e);
}

TEST(transactions_of_the_log_are_read_and_nothing_is_written)
{
    struct place p;
    struct reading r = { 0 };
    char dir[4096];

    make_logged(&p);
    run(&p, "INSERT INTO t VALUES('two', 20)");
    copy(&p, true);
    folder_path(&p.folder, "copy", dir);
    assert_int_equal(chmod(dir, 0555), 0);
    char *before = folder_image(&p.folder, "copy");

    assert_int_equal(read_place(&p, &r, NULL), ERR_OK);

    char *after = folder_image(&p.folder, "copy");
    assert_int_equal(r.sum, 21);
    assert_string_equal(before, after);
    assert_false(folder_has(&p.folder, "copy/a.db-shm"));
    free(before), free(after);
    chmod(dir, 0755);
    finish(&p);
}

TEST(unfinished_transaction_is_not_seen)
{
    struct place p;
    struct reading r = { 0 };

    make_logged(&p);
    run(&p, "PRAGMA cache_size=1; BEGIN");
    run(&p, "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i<3000) "
            "INSERT INTO t SELECT 'row '||i, 1000 FROM c");
    assert_int_equal(read_place(&p, &r, NULL), ERR_OK);
    assert_int_equal(r.sum, 1);
    run(&p, "COMMIT");
    assert_int_equal(read_place(&p, &r, NULL), ERR_OK);
    assert_int_equal(r.sum, 3000001);
    finish(&p);
}

TEST(appended_transaction_does_not_disturb)
{
    struct place p;
    struct reading r = { .meanwhile = "INSERT INTO t VALUES('more', 100)", .times = 1 };

    make_logged(&p);
    assert_int_equal(read_place(&p, &r, NULL), ERR_OK);
    assert_int_equal(r.calls, 1);
    assert_int_equal(r.sum, 1);
    finish(&p);
}

TEST(checkpoint_of_later_transactions_is_noticed)
{
    static const char *const ways[] = {
        "INSERT INTO t VALUES('more', 100); PRAGMA wal_checkpoint(PASSIVE)",
        "INSERT INTO t VALUES('more', 100); PRAGMA wal_checkpoint(TRUNCATE)",
        "PRAGMA wal_checkpoint(RESTART); INSERT INTO t VALUES('more', 100)",
    };

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct place p;
        struct reading r = { .meanwhile = ways[i], .times = 1 };

        make_logged(&p);
        assert_int_equal(read_place(&p, &r, NULL), ERR_OK);
        assert_int_equal(r.calls, 2);
        assert_int_equal(r.sum, 101);
        finish(&p);
    }
}

TEST(database_that_never_rests_is_named)
{
    struct place p;
    struct reading r = { .meanwhile =
                             "INSERT INTO t VALUES('x', 1); PRAGMA wal_checkpoint(TRUNCATE)",
                         .times = 1000 };
    struct err e = { 0 };

    make_logged(&p);
    assert_int_equal(read_place(&p, &r, &e), ERR_LOCKED);
    assert_string_equal(e.path, p.path);
    assert_true(r.calls > 1);
    finish(&p);
}

TEST(database_without_log_is_read_between_its_transactions)
{
    struct place p;
    struct reading r = { .meanwhile = "INSERT INTO t VALUES('more', 100)", .times = 1 };

    make(&p, "PRAGMA journal_mode=DELETE");
    assert_int_equal(read_place(&p, &r, NULL), ERR_OK);
    assert_int_equal(r.calls, 2);
    assert_int_equal(r.sum, 101);

    r = (struct reading){ 0 };
    run(&p, "PRAGMA cache_size=1; BEGIN");
    run(&p, "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i<3000) "
            "INSERT INTO t SELECT 'row '||i, 1000 FROM c");
    assert_int_equal(read_place(&p, &r, NULL), ERR_OK);
    assert_int_equal(r.sum, 101); /* not what the transaction has written so far */
    run(&p, "ROLLBACK");
    assert_int_equal(read_place(&p, &r, NULL), ERR_OK);
    assert_int_equal(r.sum, 101);
    finish(&p);
}

/* As a program leaves it that was killed in the middle of a transaction: the next one to open it rolls it back. Here it
 * is read as it was before, nothing is written, and SQLite itself then finds the same. */
TEST(hot_journal_is_rolled_back_in_memory_only)
{
    static const char *const changes[] = {
        ("WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i<3000) "
         "INSERT INTO t SELECT 'row '||i, 1000 FROM c"),
        "UPDATE t SET n = n + 1000",
        "DELETE FROM t",
        "UPDATE t SET id = id || zeroblob(9000)",
        "CREATE TABLE more AS SELECT * FROM t; DROP TABLE t; ALTER TABLE more RENAME TO t",
    };
    static const char *const files[] = { "a.db", "a.db-journal" };
    static const char *const modes[] = { "PRAGMA journal_mode=DELETE",
                                         "PRAGMA journal_mode=PERSIST",
                                         "PRAGMA journal_mode=TRUNCATE; PRAGMA synchronous=OFF" };

    for (size_t i = 0; i < sizeof changes / sizeof *changes * 3; i++) {
        struct place p;
        struct reading r = { 0 }, after = { 0 };
        char from[64], to[64], live[4096];

        make(&p, "PRAGMA synchronous=OFF");
        run(&p,
            "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i<2000) INSERT "
            "INTO t SELECT 'row '||i, 1 FROM c; PRAGMA cache_size=1; PRAGMA synchronous=NORMAL");
        run(&p, modes[i % 3]);
        run(&p, "BEGIN");
        run(&p, changes[i / 3]);
        snprintf(live, sizeof live, "%s", p.path);
        for (size_t k = 0; k < 2; k++) {
            size_t n;

            snprintf(from, sizeof from, "live/%s", files[k]);
            snprintf(to, sizeof to, "copy/%s", files[k]);
            char *bytes = folder_get(&p.folder, from, &n);

            folder_put(&p.folder, to, (struct slice){ bytes, n });
            folder_mtime(&p.folder, to, 1700000000000000000);
            free(bytes);
        }
        folder_path(&p.folder, "copy/a.db", p.path);
        char *before = folder_image(&p.folder, "copy");

        assert_int_equal(read_place(&p, &r, NULL), ERR_OK);
        assert_int_equal(r.calls, 1);
        assert_int_equal(r.sum, 2001);
        char *now = folder_image(&p.folder, "copy");

        assert_string_equal(now, before);
        free(before);
        free(now);
        sqlite3 *other;

        assert_int_equal(sqlite3_open(p.path, &other), SQLITE_OK); /* rolls it back */
        assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE; COMMIT", NULL, NULL, NULL),
                         SQLITE_OK);
        sqlite3_close(other);
        assert_int_equal(read_place(&p, &after, NULL), ERR_OK);
        assert_int_equal(after.sum, 2001);
        finish(&p);
    }
}

/* Nothing of a journal that was not written completely is used, as its pages were not written to the database. */
TEST(journal_of_garbage_changes_nothing)
{
    static const size_t lengths[] = { 8, 27, 28, 511, 512, 600, 5000 };

    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        char bytes[5000];
        struct place p;
        struct reading r = { 0 };

        make(&p, "PRAGMA journal_mode=DELETE");
        memset(bytes, 'A', sizeof bytes);
        memcpy(bytes,
               "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7\xff\xff\xff\xff\0\0\0\0\0\0\0\2\0\0\2\0\0\0\x10",
               28);
        folder_put(&p.folder, "live/a.db-journal", (struct slice){ bytes, lengths[i] });
        assert_int_equal(read_place(&p, &r, NULL), ERR_OK);
        assert_int_equal(r.sum, 1);
        finish(&p);
    }
}

TEST(what_is_no_database_is_refused)
{
    static const char *const bytes[] = { "", "SQLite format 3",
                                         "hello, this is a text of more than a "
                                         "hundred bytes, and nothing like a "
                                         "database of SQLite at all, is it?" };

    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
        struct place p;
        struct reading r = { 0 };

        make_logged(&p);
        folder_put(&p.folder, "copy/a.db", slice_of(bytes[i]));
        folder_path(&p.folder, "copy/a.db", p.path);
        assert_int_equal(read_place(&p, &r, NULL), ERR_FORMAT);
        assert_int_equal(r.calls, 0);
        folder_path(&p.folder, "copy/none.db", p.path);
        assert_int_equal(read_place(&p, &r, NULL), ERR_NOT_FOUND);
        finish(&p);
    }
}

/* A database that was prepared by an attacker. */
TEST(nothing_of_the_database_is_run)
{
    static const char *const traps[] = {
        ("DROP TABLE t; CREATE VIEW t AS WITH RECURSIVE c(id, n) AS (SELECT 'x', 1 UNION ALL "
         "SELECT id, n FROM c) SELECT * FROM c"),
        "DROP TABLE t; CREATE VIEW t AS SELECT 'x' AS id, 1 AS n",
        "DROP TABLE t",
        "ALTER TABLE t RENAME TO u",
    };

    for (size_t i = 0; i < sizeof traps / sizeof *traps; i++) {
        struct place p;
        struct reading r = { 0 };

        make_logged(&p);
        run(&p, traps[i]);
        assert_int_equal(read_place(&p, &r, NULL), ERR_FORMAT);
        finish(&p);
    }
}

static enum err_code try_to_write(struct sqlite_db *db, void *arg, struct err *e)
{
    static const char *const sql[] = { "DELETE FROM t", "ATTACH 'other.db' AS o",
                                       "PRAGMA journal_mode=DELETE", "SELECT load_extension('x')" };

    (void)arg, (void)e;
    for (size_t i = 0; i < sizeof sql / sizeof *sql; i++)
        assert_int_not_equal(sqlite_db_each(db, sql[i], NULL, 0, add_row, NULL, NULL), ERR_OK);
    assert_true(sqlite_db_has_column(db, "t", "n"));
    assert_false(sqlite_db_has_column(db, "t", "m"));
    return ERR_OK;
}

TEST(statements_that_do_more_than_read_are_refused)
{
    struct place p;
    struct reading r = { 0 };

    make_logged(&p);
    assert_int_equal(sqlite_db_read(p.path, NULL, try_to_write, NULL, NULL), ERR_OK);
    assert_int_equal(read_place(&p, &r, NULL), ERR_OK);
    assert_int_equal(r.sum, 1);
    finish(&p);
}

TEST(query_can_be_cancelled)
{
    struct place p;
    struct reading r = { 0 };
    atomic_bool cancel = true;

    make_logged(&p);
    run(&p, "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i<100000) "
            "INSERT INTO t SELECT 'row '||i, 1 FROM c");
    r.p = &p;
    assert_int_equal(sqlite_db_read(p.path, &cancel, read_all, &r, NULL), ERR_CANCELLED);
    finish(&p);
}

static uint32_t roll(uint32_t *dice)
{
    *dice = *dice * 1664525 + 1013904223;
    return *dice >> 8;
}

/* Damage of every kind gives an answer: rows, or an error that names the database. */
TEST(damaged_bytes_do_no_harm)
{
    struct place p;
    uint32_t dice = 7;

    make_logged(&p);
    run(&p, "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i<500) "
            "INSERT INTO t SELECT 'row '||i, 1 FROM c; CREATE INDEX i ON t(id, n)");
    for (int round = 0; round < 400; round++) {
        struct reading r = { 0 };
        struct err e = { 0 };
        const char *name = round % 2 ? "copy/a.db" : "copy/a.db-wal";
        size_t n;

        if (round == 200)
            run(&p, "PRAGMA wal_checkpoint(PASSIVE)");
        copy(&p, true);
        char *bytes = folder_get(&p.folder, name, &n);
        for (int i = 0; n && i < 1 + round % 8; i++)
            bytes[roll(&dice) % n] = (char)roll(&dice);
        folder_put(&p.folder, name, (struct slice){ bytes, round % 5 ? n : roll(&dice) % (n + 1) });
        folder_mtime(&p.folder, name, 1700000000000000000);
        free(bytes);
        if (read_place(&p, &r, &e) != ERR_OK)
            assert_string_equal(e.path, p.path);
    }
    finish(&p);
}
