#ifndef STORE_SYSTEMS_COMMON_SQLITE_SQLITE_DB_H
#define STORE_SYSTEMS_COMMON_SQLITE_SQLITE_DB_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/err.h"
#include "lite/base/slice.h"

/* Databases of agents that keep their sessions in SQLite. They are only read: nothing in their directory is created,
 * changed or locked, even while the agent writes, and the result is consistent (sqlite_snapshot.h).
 *
 * libsqlite3 is loaded when the first database is opened, so a machine without such an agent needs no SQLite. A
 * database may come from anywhere, so its views, triggers and functions are not run, and a query that takes too long is
 * cancelled. */
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

/* Rows that an agent keeps in other files: a database in memory gets these tables, and `fill` inserts the rows. */
struct sqlite_source {
    const char *path, *tables; /* the path is for errors */
    sqlite_read_fn *fill;
    void *arg;
};
/* Reads from such a database. */
MUST_CHECK enum err_code sqlite_db_make(const struct sqlite_source *from, const atomic_bool *cancel,
                                        sqlite_read_fn *fn, void *arg, struct err *e);

#endif
