#ifndef STORE_SQLITE_SQLITE_ROWS_H
#define STORE_SQLITE_SQLITE_ROWS_H

#include <stdbool.h>

#include "lite/base/err.h"
#include "store/fs/span.h"

/* Rows that are inserted into the database of an agent, or removed from it, all of them or none. Each is a line, and one
 * that refers to another follows it:
 *
 *     ["table",{"id":"…","column":"text","column":1,"column":null}]
 *
 * The first column is the key of the table. */

/* ERR_UNSUPPORTED: the database has other tables. ERR_LOCKED: another program is writing to it. */
MUST_CHECK enum err_code sqlite_rows_insert(const char *path, const struct span *rows,
                                            struct err *e);
/* ERR_NOT_FOUND: the first row is gone. ERR_STALE: one of the rows has changed since, or is gone, or a row of others refers
 * to it. */
MUST_CHECK enum err_code sqlite_rows_remove(const char *path, const struct span *rows,
                                            struct err *e);
/* Sets *there to whether the first row is in the database, by its key; waits for a transaction under way. A database that
 * is gone or damaged does not have it. */
MUST_CHECK enum err_code sqlite_rows_are_there(const char *path, const struct span *rows,
                                               bool *there, struct err *e);
/* Sets *same to whether the first row is as it was inserted; writes and locks nothing. */
MUST_CHECK enum err_code sqlite_rows_are_same(const char *path, const struct span *rows, bool *same,
                                              struct err *e);

#endif
