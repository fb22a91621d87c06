#include "tests/test.h"

#include <sqlite3.h>
#include <stdlib.h>

#include "store/journal/change.h"
#include "tests/support/folder.h"

/* A database of two tables, of which one refers to the other, as an agent keeps it open. */
struct place {
    struct folder folder;
    char path[4096];
    sqlite3 *agent;
};

static const char rows_text[] =
    "[\"session\",{\"id\":\"s1\",\"title\":\"half \\u0022quoted\\u0022\",\"at\":7,\"gone\":null}]\n"
    "[\"part\",{\"id\":\"p1\",\"session_id\":\"s1\",\"title\":\"\"}]\n";

static void rows_agent(struct place *p, const char *sql)
{
    assert_int_equal(sqlite3_exec(p->agent, sql, NULL, NULL, NULL), SQLITE_OK);
}

static int rows_number(struct place *p, const char *sql)
{
    sqlite3_stmt *s;

    assert_int_equal(sqlite3_prepare_v2(p->agent, sql, -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    int n = sqlite3_column_int(s, 0);

    sqlite3_finalize(s);
    return n;
}

static struct step rows_step(const struct place *p)
{
    return (struct step){
        .kind = STEP_ROWS, .path = p->path, .bytes = slice_of(rows_text), .old_absent = true
    };
}

static struct step rows_back(const struct place *p)
{
    struct step s = rows_step(p);

    return step_inverse(&s);
}

static void rows_make(struct place *p)
{
    folder_make(&p->folder);
    folder_dir(&p->folder, "store");
    folder_path(&p->folder, "store/a.db", p->path);
    assert_int_equal(sqlite3_open(p->path, &p->agent), SQLITE_OK);
    rows_agent(p,
               "PRAGMA journal_mode=WAL;"
               "CREATE TABLE session(id TEXT PRIMARY KEY, title TEXT, at INTEGER, gone INTEGER);"
               "CREATE TABLE part(id TEXT PRIMARY KEY, session_id TEXT REFERENCES session(id) ON "
               "DELETE CASCADE, title TEXT);"
               "INSERT INTO session VALUES('s0', 'other', 1, NULL)");
}

static void rows_remove(struct place *p)
{
    sqlite3_close(p->agent);
    folder_remove(&p->folder);
}

static void rows_refused(struct step s, enum err_code code, const char *why)
{
    struct err e;

    assert_int_equal(step_do(&s, NULL, &e), code);
    if (!strstr(e.text, why))
        fail_msg("%s", e.text);
}

static bool rows_done(struct step s)
{
    bool done;

    assert_int_equal(step_is_done(&s, &done, NULL), ERR_OK);
    return done;
}

TEST(rows_are_inserted_and_removed)
{
    struct place p;

    rows_make(&p);
    struct step s = rows_step(&p), back = rows_back(&p);

    assert_false(rows_done(s));
    assert_int_equal(step_do(&s, NULL, NULL), ERR_OK);
    assert_true(rows_done(s));
    assert_false(rows_done(back));
    assert_int_equal(rows_number(&p,
                                 "SELECT count(*) FROM session WHERE id = 's1' AND title = 'half "
                                 "\"quoted\"' AND typeof(at) = 'integer' AND gone IS NULL"),
                     1);
    assert_int_equal(rows_number(&p, "SELECT count(*) FROM part WHERE title = ''"), 1);
    assert_false(step_is_stale(&back));
    assert_int_equal(step_do(&back, NULL, NULL), ERR_OK);
    assert_true(rows_done(back));
    assert_int_equal(rows_number(&p, "SELECT count(*) FROM session"), 1);
    assert_int_equal(rows_number(&p, "SELECT count(*) FROM part"), 0);
    rows_refused(back, ERR_NOT_FOUND, "no longer there");
    rows_remove(&p);
}

TEST(rows_that_changed_or_are_referred_to_stay)
{
    static const char *const changes[][2] = {
        { "UPDATE session SET at = 8 WHERE id = 's1'",
          "UPDATE session SET at = 7 WHERE id = 's1'" },
        { "UPDATE part SET title = 'x'", "UPDATE part SET title = ''" },
        { "INSERT INTO part VALUES('p2', 's1', '')", "DELETE FROM part WHERE id = 'p2'" },
    };
    struct place p;

    rows_make(&p);
    struct step s = rows_step(&p), back = rows_back(&p);

    assert_int_equal(step_do(&s, NULL, NULL), ERR_OK);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        rows_agent(&p, changes[i][0]);
        assert_true(rows_done(s));
        rows_refused(back, ERR_STALE, "has continued since");
        assert_int_equal(rows_number(&p, "SELECT count(*) FROM session"), 2);
        assert_true(rows_number(&p, "SELECT count(*) FROM part") > 0);
        if (i == 0)
            assert_true(step_is_stale(&back));
        rows_agent(&p, changes[i][1]);
    }
    assert_int_equal(step_do(&back, NULL, NULL), ERR_OK);
    rows_remove(&p);
}

TEST(what_cannot_be_inserted_leaves_nothing)
{
    struct place p;

    rows_make(&p);
    struct step s = rows_step(&p);

    rows_agent(&p, "BEGIN IMMEDIATE");
    rows_refused(s, ERR_LOCKED, "another program is writing to it");
    rows_agent(&p, "ROLLBACK; INSERT INTO part VALUES('p1', 's0', 'taken')");
    rows_refused(s, ERR_UNSUPPORTED, "UNIQUE constraint failed");
    assert_false(rows_done(s));
    rows_agent(&p, "DELETE FROM part; CREATE TRIGGER t AFTER INSERT ON part BEGIN SELECT 1; END");
    rows_refused(s, ERR_UNSUPPORTED, "triggers");
    rows_agent(&p, "DROP TRIGGER t; DROP TABLE part");
    rows_refused(s, ERR_UNSUPPORTED, "no such table");
    assert_int_equal(rows_number(&p, "SELECT count(*) FROM session"), 1);
    rows_remove(&p);
}

TEST(a_database_that_is_gone_or_damaged_has_no_rows)
{
    struct place p;

    rows_make(&p);
    struct step s = rows_step(&p);

    sqlite3_close(p.agent);
    p.agent = NULL;
    folder_put(&p.folder, "store/a.db",
               SLICE("no database, but a text that is long enough to be one"));
    assert_false(rows_done(s));
    rows_refused(s, ERR_FORMAT, "damaged");
    assert_int_equal(remove(p.path), 0);
    assert_false(rows_done(s));
    rows_refused(s, ERR_NOT_FOUND, "write to the database");
    rows_remove(&p);
}
