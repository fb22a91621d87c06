#ifndef STORE_SQLITE_SQLITE_DB_H
#define STORE_SQLITE_SQLITE_DB_H

#include <sqlite3.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"

/* Databases of agents that keep their sessions in SQLite. Reading creates, changes and locks nothing in their directory,
 * even while the agent writes, and the result is consistent (sqlite_snapshot.c). Only sqlite_rows.h writes.
 *
 * libsqlite3 is loaded when the first database is opened, so a machine without such an agent needs no SQLite. A
 * database may come from anywhere, so its views, triggers and functions are not run, and a query that takes too long is
 * cancelled. A value of more than SQLITE_VALUE_MOST bytes is read as a short text with its size. */
enum { SQLITE_VALUE_MOST = 32 << 20 };
struct sqlite_db;

struct sqlite_row;
/* A column of the row, from 0; valid during the call that received the row. A NULL is "" as a text and 0 as a
 * number. */
struct slice sqlite_row_text(const struct sqlite_row *row, int column);
int64_t sqlite_row_int(const struct sqlite_row *row, int column);
bool sqlite_row_is_null(const struct sqlite_row *row, int column);

/* Called with one row; anything but ERR_OK ends the query and is returned. */
typedef enum err_code sqlite_row_fn(const struct sqlite_row *row, void *arg, struct err *e);
/* Runs a query with these texts as its parameters. ERR_FORMAT: the database is damaged or lacks the agent's tables. */
MUST_CHECK enum err_code sqlite_db_each(struct sqlite_db *db, const char *sql,
                                        const struct slice *parameter, size_t n, sqlite_row_fn *fn,
                                        void *arg, struct err *e);
/* Returns true if the table has the column; also returns false if that cannot be read. */
bool sqlite_db_has_column(struct sqlite_db *db, const char *table, const char *column);

/* Reads from the database. It is called again from the beginning if another program meanwhile changed what was read. */
typedef enum err_code sqlite_read_fn(struct sqlite_db *db, void *arg, struct err *e);
/* ERR_NOT_FOUND: no such file. ERR_LOCKED: other programs keep writing to it. ERR_UNSUPPORTED: libsqlite3 is not
 * installed. cancel may be NULL. */
MUST_CHECK enum err_code sqlite_db_read(const char *path, const atomic_bool *cancel,
                                        sqlite_read_fn *fn, void *arg, struct err *e);

/* Runs `fn` in one transaction, with SQLite's own locks: all of it is in the database afterwards, durably, or nothing.
 * `keys`: a row that refers to a missing one is refused. ERR_LOCKED: another program is writing. ERR_NOT_FOUND: no such
 * file. ERR_UNSUPPORTED: the database has other tables. */
MUST_CHECK enum err_code sqlite_db_write(const char *path, bool keys, sqlite_read_fn *fn, void *arg,
                                         struct err *e);

/* Rows that an agent keeps in other files: a database in memory gets these tables, and `fill` inserts the rows. */
struct sqlite_source {
    const char *path, *tables; /* the path is for errors */
    sqlite_read_fn *fill;
    void *arg;
};
/* Reads from such a database. */
MUST_CHECK enum err_code sqlite_db_make(const struct sqlite_source *from, const atomic_bool *cancel,
                                        sqlite_read_fn *fn, void *arg, struct err *e);

/* ---- the library (sqlite_library.c) ---- */

/* The functions of libsqlite3 that are used, looked up when the library is loaded, and the file system that SQLite
 * sees, which contains only one snapshot (sqlite_snapshot.c). Private to sqlite_db.c and this library. */
#define SQLITE_FUNCTIONS(F)                                                                        \
    F(bind_text)                                                                                   \
    F(blob_bytes)                                                                                  \
    F(blob_close)                                                                                  \
    F(blob_open)                                                                                   \
    F(blob_reopen)                                                                                 \
    F(busy_timeout)                                                                                \
    F(close)                                                                                       \
    F(column_blob)                                                                                 \
    F(column_bytes)                                                                                \
    F(column_text)                                                                                 \
    F(column_int64)                                                                                \
    F(column_type)                                                                                 \
    F(db_config)                                                                                   \
    F(errmsg)                                                                                      \
    F(exec)                                                                                        \
    F(finalize)                                                                                    \
    F(limit)                                                                                       \
    F(open_v2)                                                                                     \
    F(prepare_v2)                                                                                  \
    F(progress_handler)                                                                            \
    F(reset)                                                                                       \
    F(set_authorizer)                                                                              \
    F(sql)                                                                                         \
    F(step)                                                                                        \
    F(system_errno)                                                                                \
    F(threadsafe)                                                                                  \
    F(vfs_register)                                                                                \
    F(vfs_unregister)

struct sqlite_library {
#define MEMBER(name) __typeof__(sqlite3_##name) *name;
    SQLITE_FUNCTIONS(MEMBER)
#undef MEMBER
};

/* ERR_UNSUPPORTED: the library is not installed, or lacks a function. */
MUST_CHECK enum err_code sqlite_library_load(struct sqlite_library *out, struct err *e);

/* ---- values that are too large (sqlite_large.c) ---- */

/* The tables in which values are hidden. */
struct sqlite_hidden {
    struct arena arena;
    struct slice *table;
    size_t n;
};

/* Hides the tables of the database that have a value of more than `most` bytes behind views of the same name, in which a
 * text with the size takes its place. Returns false if no table has one, or it cannot be done. */
bool sqlite_large_hide(const struct sqlite_library *sqlite, sqlite3 *handle, int64_t most,
                       int64_t until_ms, struct sqlite_hidden *out);
/* Returns true if this view is one of those. */
bool sqlite_hidden_has(const struct sqlite_hidden *hidden, const char *view);

struct sqlite_snapshot;

/* A read-only file system with one file. */
struct sqlite_vfs {
    sqlite3_vfs base;
    char name[32];
    const struct sqlite_snapshot *snapshot; /* borrowed */
};

/* Initializes it. The caller registers it, and must not move it while it is registered. */
void sqlite_vfs_init(struct sqlite_vfs *v, const struct sqlite_snapshot *s);

/* ---- snapshots (sqlite_snapshot.c) ---- */

/* The bytes of a SQLite database at one moment, without SQLite's own locks. (SQLite's readers create a -shm file beside
 * the database, and the last one to close removes the -wal.) Here the database and its -wal are opened for reading
 * only, and the pages of the complete transactions in the -wal replace those of the database
 * (https://www.sqlite.org/fileformat2.html#walformat).
 *
 * A program that keeps a rollback journal instead, and is in the middle of a transaction or was stopped there ("hot"
 * journal), has the pages as they were before in the -journal. The next program that opens the database writes them
 * back; here they replace those of the database in the snapshot, and nothing is written.
 *
 * A program may write meanwhile. It appends to the -wal, which does not affect the snapshot; only a checkpoint of later
 * transactions or a restart of the -wal does, and sqlite_snapshot_holds() detects that afterwards. */
struct sqlite_frame {
    uint32_t page; /* from 1 */
    int64_t at;    /* the offset of its bytes in the log; the last one of the page */
};

struct sqlite_snapshot {
    int db, log;      /* log -1: the database has neither a -wal nor a -journal in use */
    bool rolls_back;  /* the log is a -journal */
    const char *path; /* borrowed */
    struct stat at;   /* the attributes of the database when it was opened */
    bool settled; /* it was last written long enough ago that a new write would change its time */
    uint32_t page_size;
    int64_t size;               /* the size of the database with all transactions */
    struct sqlite_frame *frame; /* owned; sorted by page */
    size_t frames;
    unsigned char header[32]; /* the header of the log */
    int64_t log_end;          /* where a later transaction would begin */
};

/* ERR_NOT_FOUND: no such file. ERR_FORMAT: not a database of SQLite. ERR_UNSUPPORTED: its log is too large, or part of
 * a transaction over several databases. */
MUST_CHECK enum err_code sqlite_snapshot_open(const char *path, const atomic_bool *cancel,
                                              struct sqlite_snapshot *out, struct err *e);
void sqlite_snapshot_close(struct sqlite_snapshot *s);
/* Reads a part of the database. Bytes after its end are zero, and *whole is then false. */
MUST_CHECK enum err_code sqlite_snapshot_read(const struct sqlite_snapshot *s, int64_t at, size_t n,
                                              void *out, bool *whole, struct err *e);
/* Returns true if everything read so far belongs to one moment. */
bool sqlite_snapshot_holds(const struct sqlite_snapshot *s);

#endif
