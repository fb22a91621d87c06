#include "store/sqlite/sqlite_db.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "store/fs/kernel.h"

/* The tables belong to agents that run meanwhile, and a database may be damaged or hostile. Reading
 * therefore never opens the real file with SQLite, but only a snapshot of it:
 *
 *   snapshot -> file system with one file -> limits, authorizer -> fn -> does the snapshot hold
 *       ^                                                      '- again, without large values
 *       '- again, if another program wrote
 *
 * So fn may be called several times and has to begin anew each time. The kept statement must be
 * finalized before the tables change. Writing shares only the handle and its limits: it opens the
 * real file, with SQLite's own locks, and is never repeated. */

enum {
    STEPS_BETWEEN_LOOKS = 20000, /* steps of SQLite's machine: well under a millisecond */
    QUERY_MS = 20000,
    HIDE_MS = 5000,
    HIDDEN_LEAST = 256 << 10, /* values that are small are not what makes a result too large */
    BUSY_MS = 2000,           /* a transaction of an agent is a matter of milliseconds */
    /* The bytes that SQLite's readers lock. */
    SHARED_FIRST = 0x40000002,
    SHARED_SIZE = 510,
    ATTEMPTS = 6,
    PAUSE_MS = 15,
};

#define WRITES_TEXT "another program is writing to it; try again"

struct sqlite_db {
    struct sqlite_library sqlite;
    struct sqlite_snapshot snapshot;
    struct sqlite_vfs vfs;
    bool registered;
    sqlite3 *handle;
    sqlite3_stmt *kept; /* the statement of the last query, which may be run again; NULL: none */
    const char *path;
    const atomic_bool *cancel;
    int64_t until_ms; /* when the present query is cancelled */
    bool too_big;     /* a value or a result was too large for a query */
    bool writes;
    struct sqlite_hidden hidden;
};

struct sqlite_row {
    const struct sqlite_library *sqlite;
    sqlite3_stmt *statement;
};

/* ---- rows ---- */

struct slice sqlite_row_text(const struct sqlite_row *row, int column)
{
    bool blob = row->sqlite->column_type(row->statement, column) == SQLITE_BLOB;
    const void *p = blob ? row->sqlite->column_blob(row->statement, column)
                         : row->sqlite->column_text(row->statement, column); /* in UTF-8 */
    int n = row->sqlite->column_bytes(row->statement, column);

    return p && n > 0 ? (struct slice){ p, (size_t)n } : SLICE("");
}

int64_t sqlite_row_int(const struct sqlite_row *row, int column)
{
    return row->sqlite->column_int64(row->statement, column);
}

bool sqlite_row_is_null(const struct sqlite_row *row, int column)
{
    return row->sqlite->column_type(row->statement, column) == SQLITE_NULL;
}

/* ---- what a database may not do ---- */

static bool sqlite_db_is_cancelled(const struct sqlite_db *db)
{
    return db->cancel && atomic_load_explicit(db->cancel, memory_order_relaxed);
}

static int sqlite_db_look_up(void *arg)
{
    const struct sqlite_db *db = arg;

    return sqlite_db_is_cancelled(db) || time_coarse_ms() > db->until_ms;
}

/* Only tables may be read, and nothing through a view or a trigger of the database. */
static int sqlite_db_judge(void *arg, int action, const char *first, const char *second,
                           const char *database, const char *view)
{
    const struct sqlite_db *db = arg;

    (void)first, (void)second, (void)database;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_FUNCTION:
        return view && !sqlite_hidden_has(&db->hidden, view) ? SQLITE_DENY : SQLITE_OK;
    default: return SQLITE_DENY;
    }
}

static void limit(struct sqlite_db *db)
{
    static const int no_more[][2] = {
        { SQLITE_LIMIT_LENGTH, SQLITE_VALUE_MOST },
        { SQLITE_LIMIT_ATTACHED, 0 },
        { SQLITE_LIMIT_TRIGGER_DEPTH, 1 },
        { SQLITE_LIMIT_WORKER_THREADS, 0 },
        { SQLITE_LIMIT_COLUMN, 500 },
        { SQLITE_LIMIT_EXPR_DEPTH, 100 },
    };

    for (size_t i = 0; i < sizeof no_more / sizeof *no_more; i++)
        db->sqlite.limit(db->handle, no_more[i][0], no_more[i][1]);
    db->sqlite.db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)NULL);
    db->sqlite.db_config(db->handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)NULL);
    db->sqlite.db_config(db->handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, (int *)NULL);
    db->sqlite.db_config(db->handle, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, (int *)NULL);
}

/* ---- errors ---- */

static enum err_code write_error(struct sqlite_db *db, int answer, struct err *e)
{
    switch (answer & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return err_set(e, ERR_LOCKED, db->path, "write to the database: " WRITES_TEXT);
    case SQLITE_CONSTRAINT:
    case SQLITE_ERROR:
        return err_set(e, ERR_UNSUPPORTED, db->path,
                       "write to the database: its tables are not those that are known: %.120s",
                       db->sqlite.errmsg(db->handle));
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return err_set(e, ERR_FORMAT, db->path, "write to the database: it is damaged");
    case SQLITE_FULL: errno = ENOSPC; return err_sys(e, db->path, "write to the database");
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN: errno = EACCES; return err_sys(e, db->path, "write to the database");
    default:
        errno = db->handle ? db->sqlite.system_errno(db->handle) : 0;
        return errno == ENOSPC || errno == EDQUOT
                   ? err_sys(e, db->path, "write to the database")
                   : err_set(e, ERR_IO, db->path, "write to the database: %.120s",
                             db->sqlite.errmsg(db->handle));
    }
}

static enum err_code query_error(struct sqlite_db *db, int answer, struct err *e)
{
    if (db->writes && (answer & 0xff) != SQLITE_NOMEM)
        return write_error(db, answer, e);
    switch (answer & 0xff) {
    case SQLITE_NOMEM: return err_nomem(e);
    case SQLITE_INTERRUPT:
        return sqlite_db_is_cancelled(db)
                   ? err_set(e, ERR_CANCELLED, db->path, "read the database")
                   : err_set(e, ERR_UNSUPPORTED, db->path, "read the database: it takes too long");
    case SQLITE_TOOBIG:
        db->too_big = true;
        return err_set(e, ERR_UNSUPPORTED, db->path, "read the database: a value is too large");
    case SQLITE_AUTH:
        return err_set(e, ERR_FORMAT, db->path,
                       "read the database: it has a view instead of a table");
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return err_set(e, ERR_FORMAT, db->path, "read the database: it is damaged");
    case SQLITE_IOERR: return err_set(e, ERR_IO, db->path, "read the database: it cannot be read");
    default:
        return err_set(e, ERR_FORMAT, db->path, "read the database: %.120s",
                       db->sqlite.errmsg(db->handle));
    }
}

/* ---- queries ---- */

enum err_code sqlite_db_each(struct sqlite_db *db, const char *sql, const struct slice *parameter,
                             size_t n, sqlite_row_fn *fn, void *arg, struct err *e)
{
    static const char too_large[] = "too large to be read";
    sqlite3_stmt *statement = NULL;

    db->until_ms = time_coarse_ms() + QUERY_MS;
    int answer = SQLITE_OK;

    /* Queries are often run many times in a row, with other parameters. */
    if (db->kept && strcmp(db->sqlite.sql(db->kept), sql) == 0) {
        statement = db->kept;
        db->kept = NULL;
    } else {
        answer = db->sqlite.prepare_v2(db->handle, sql, -1, &statement, NULL);
    }

    for (size_t i = 0; !answer && i < n; i++)
        answer =
            parameter[i].n > SQLITE_VALUE_MOST
                ? db->sqlite.bind_text(statement, (int)i + 1, too_large, -1, SQLITE_STATIC)
                : db->sqlite.bind_text(statement, (int)i + 1, parameter[i].n ? parameter[i].p : "",
                                       (int)parameter[i].n, SQLITE_STATIC);
    const struct sqlite_row row = { &db->sqlite, statement };
    enum err_code rc = answer ? query_error(db, answer, e) : ERR_OK;

    while (!rc && (answer = db->sqlite.step(statement)) != SQLITE_DONE)
        rc = answer == SQLITE_ROW ? fn(&row, arg, e) : query_error(db, answer, e);
    if (rc)
        db->sqlite.finalize(statement);
    else {
        db->sqlite.reset(statement);
        db->sqlite.finalize(db->kept);
        db->kept = statement;
    }
    return rc;
}

static enum err_code skip_row(const struct sqlite_row *row, void *arg, struct err *e)
{
    (void)row, (void)arg, (void)e;
    return ERR_OK;
}

bool sqlite_db_has_column(struct sqlite_db *db, const char *table, const char *column)
{
    char sql[128];
    int n = snprintf(sql, sizeof sql, "SELECT %s FROM %s LIMIT 0", column, table);

    return n > 0 && (size_t)n < sizeof sql &&
           !sqlite_db_each(db, sql, NULL, 0, skip_row, NULL, NULL);
}

/* ---- opening and closing ---- */

static enum err_code open_handle(struct sqlite_db *db, const char *name, int flags, const char *vfs,
                                 struct err *e)
{
    static const char unsafe[] = "unsafe use of json_";
    static const char pragmas[] = "PRAGMA temp_store=MEMORY; PRAGMA cell_size_check=ON";
    int answer = db->sqlite.open_v2(name, &db->handle,
                                    flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE, vfs);

    if (answer)
        return query_error(db, answer, e);
    limit(db);
    db->until_ms = time_coarse_ms() + QUERY_MS;
    db->sqlite.progress_handler(db->handle, STEPS_BETWEEN_LOOKS, sqlite_db_look_up, db);
    answer = db->sqlite.exec(db->handle, pragmas, NULL, NULL, NULL);
    if (answer)
        return query_error(db, answer, e);
    /* SQLite 3.40 calls its own JSON functions unsafe in an index, and then refuses the whole
     * schema; Kilo has such indexes. Only functions of SQLite itself are registered here. */
    if (db->sqlite.exec(db->handle, "SELECT 1 FROM sqlite_master LIMIT 0", NULL, NULL, NULL) &&
        strstr(db->sqlite.errmsg(db->handle), unsafe))
        db->sqlite.db_config(db->handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 1, (int *)NULL);
    return ERR_OK;
}

static void close_db(struct sqlite_db *db)
{
    if (db->kept)
        db->sqlite.finalize(db->kept);
    if (db->handle)
        db->sqlite.close(db->handle);
    if (db->registered)
        db->sqlite.vfs_unregister(&db->vfs.base);
    sqlite_snapshot_close(&db->snapshot);
    arena_fini(&db->hidden.arena);
    free(db);
}

static enum err_code new_db(const char *path, const atomic_bool *cancel, struct sqlite_db **out,
                            struct err *e)
{
    struct sqlite_db *db = calloc(1, sizeof *db);

    if (!db)
        return err_nomem(e);
    *db = (struct sqlite_db){ .path = path, .cancel = cancel, .snapshot = { .db = -1, .log = -1 } };
    *out = db;
    return ERR_OK;
}

static enum err_code sqlite_db_open_file(struct sqlite_db *db, struct err *e)
{
    TRY(sqlite_snapshot_open(db->path, db->cancel, &db->snapshot, e));
    TRY(sqlite_library_load(&db->sqlite, e));
    sqlite_vfs_init(&db->vfs, &db->snapshot);
    if (db->sqlite.vfs_register(&db->vfs.base, 0))
        return err_nomem(e);
    db->registered = true;
    TRY(open_handle(db, "database", SQLITE_OPEN_READONLY, db->vfs.name, e));
    db->sqlite.set_authorizer(db->handle, sqlite_db_judge, db);
    return ERR_OK;
}

/* ---- one moment ---- */

/* *again: another program changed what was read. A database that looks damaged may have been changed meanwhile. */
static enum err_code attempt(const char *path, const atomic_bool *cancel, sqlite_read_fn *fn,
                             void *arg, bool *again, struct err *e)
{
    struct sqlite_db *db;
    enum err_code rc = new_db(path, cancel, &db, e);

    *again = false;
    if (rc)
        return rc;
    rc = sqlite_db_open_file(db, e);
    if (!rc) {
        /* Reads from the database, and again without its large values if they are in the way.
         * Several values may be too large together, so smaller and smaller ones are hidden. */
        rc = fn(db, arg, e);

        for (int64_t most = SQLITE_VALUE_MOST; db->too_big && most >= HIDDEN_LEAST; most /= 8) {
            db->sqlite.finalize(db->kept);
            db->kept = NULL;
            db->sqlite.set_authorizer(db->handle, NULL, NULL);
            db->until_ms = time_coarse_ms() + HIDE_MS;
            bool hidden =
                sqlite_large_hide(&db->sqlite, db->handle, most, db->until_ms, &db->hidden);

            db->sqlite.set_authorizer(db->handle, sqlite_db_judge, db);
            if (!hidden)
                continue;
            db->too_big = false;
            if (e) /* the error of the first reading is no longer true */
                *e = (struct err){ .code = ERR_OK };
            rc = fn(db, arg, e);
        }

        *again = rc != ERR_NOMEM && rc != ERR_CANCELLED && !sqlite_snapshot_holds(&db->snapshot);
    }
    close_db(db);
    return rc;
}

enum err_code sqlite_db_read(const char *path, const atomic_bool *cancel, sqlite_read_fn *fn,
                             void *arg, struct err *e)
{
    enum err_code rc = ERR_OK;
    bool again = true;

    for (int i = 0; i < ATTEMPTS; i++) {
        const struct timespec pause = { 0, PAUSE_MS * 1000000L * i };

        if (i)
            nanosleep(&pause, NULL);
        rc = attempt(path, cancel, fn, arg, &again, e);
        if (!again)
            return rc;
    }
    return err_set(e, ERR_LOCKED, path, "read the database: another program is writing to it");
}

/* ---- rows of other files ---- */

enum err_code sqlite_db_make(const struct sqlite_source *from, const atomic_bool *cancel,
                             sqlite_read_fn *fn, void *arg, struct err *e)
{
    struct sqlite_db *db;

    TRY(new_db(from->path, cancel, &db, e));
    enum err_code rc = sqlite_library_load(&db->sqlite, e);
    int answer = SQLITE_OK;

    if (!rc)
        rc = open_handle(db, ":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL, e);
    if (!rc && (answer = db->sqlite.exec(db->handle, from->tables, NULL, NULL, NULL)))
        rc = query_error(db, answer, e);
    if (!rc)
        rc = from->fill(db, from->arg, e);
    if (!rc)
        rc = fn(db, arg, e);
    close_db(db);
    return rc;
}

/* ---- writing ---- */

static enum err_code db_execute(struct sqlite_db *db, const char *sql, struct err *e)
{
    db->until_ms = time_coarse_ms() + QUERY_MS;
    int answer = db->sqlite.exec(db->handle, sql, NULL, NULL, NULL);

    return answer ? query_error(db, answer, e) : ERR_OK;
}

static enum err_code db_transact(struct sqlite_db *db, bool keys, sqlite_read_fn *fn, void *arg,
                                 struct err *e)
{
    TRY(sqlite_library_load(&db->sqlite, e));
    TRY(open_handle(db, db->path, SQLITE_OPEN_READWRITE, NULL, e));
    db->sqlite.busy_timeout(db->handle, BUSY_MS);
    TRY(db_execute(db, "PRAGMA synchronous=FULL", e));
    TRY(db_execute(db, keys ? "PRAGMA foreign_keys=ON" : "PRAGMA foreign_keys=OFF", e));
    TRY(db_execute(db, "BEGIN IMMEDIATE", e));
    enum err_code rc = fn(db, arg, e);

    if (!rc)
        rc = db_execute(db, "COMMIT", e);

    /* It is durable in the log, whose name may be new and not durable yet. */
    db->sqlite.exec(db->handle, rc ? "ROLLBACK" : "PRAGMA wal_checkpoint(PASSIVE)", NULL, NULL,
                    NULL);
    return rc;
}

enum err_code sqlite_db_write(const char *path, bool keys, sqlite_read_fn *fn, void *arg,
                              struct err *e)
{
    struct sqlite_db *db;

    /* It is closed after the database. */
    AUTO_FD held = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);

    if (held < 0)
        return err_sys(e, path, "write to the database");

    /* SQLite's locks belong to the process: another thread that reads the database and closes its
     * file loses them. A second lock, which belongs to a descriptor, keeps other programs from
     * taking the write-ahead log away meanwhile. */
    const struct timespec pause = { 0, PAUSE_MS * 1000000L };

    for (int waited = 0; !fs_hold_shared(held, SHARED_FIRST, SHARED_SIZE); waited += PAUSE_MS) {
        if (waited > BUSY_MS)
            return err_set(e, ERR_LOCKED, path, "write to the database: " WRITES_TEXT);
        nanosleep(&pause, NULL);
    }

    TRY(new_db(path, NULL, &db, e));
    db->writes = true;
    enum err_code rc = db_transact(db, keys, fn, arg, e);

    close_db(db);
    return rc;
}
