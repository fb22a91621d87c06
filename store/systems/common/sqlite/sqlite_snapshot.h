#ifndef STORE_SYSTEMS_COMMON_SQLITE_SQLITE_SNAPSHOT_H
#define STORE_SYSTEMS_COMMON_SQLITE_SQLITE_SNAPSHOT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "lite/base/err.h"

/* The bytes of a SQLite database at one moment, without SQLite's own locks. (SQLite's readers create a -shm file beside
 * the database, and the last one to close removes the -wal.) Here the database and its -wal are opened for reading
 * only, and the pages of the complete transactions in the -wal replace those of the database
 * (https://www.sqlite.org/fileformat2.html#walformat).
 *
 * A program may write meanwhile. It appends to the -wal, which does not affect the snapshot; only a checkpoint of later
 * transactions or a restart of the -wal does, and sqlite_snapshot_holds() detects that afterwards. */
struct sqlite_frame {
    uint32_t page;  /* from 1 */
    uint32_t frame; /* the newest of the page, from 0 */
};

struct sqlite_snapshot {
    int db, wal;      /* wal -1: the database has no -wal */
    const char *path; /* borrowed */
    struct stat at;   /* of the database when it was opened */
    bool settled; /* it was last written long enough ago that a new write would change its time */
    uint32_t page_size;
    int64_t size;               /* of the database with all transactions */
    struct sqlite_frame *frame; /* owned; sorted by page */
    size_t frames;
    unsigned char wal_header[32];
    int64_t wal_end; /* where a later transaction would begin */
};

/* ERR_NOT_FOUND: no such file. ERR_FORMAT: not a database of SQLite. ERR_LOCKED: another program is in the middle of a
 * transaction, or was stopped there. */
MUST_CHECK enum err_code sqlite_snapshot_open(const char *path, const atomic_bool *cancel,
                                              struct sqlite_snapshot *out, struct err *e);
void sqlite_snapshot_close(struct sqlite_snapshot *s);
/* Reads a part of the database. Bytes after its end are zero, and *whole is then false. */
MUST_CHECK enum err_code sqlite_snapshot_read(const struct sqlite_snapshot *s, int64_t at, size_t n,
                                              void *out, bool *whole, struct err *e);
/* Returns true if everything read so far belongs to one moment. */
bool sqlite_snapshot_holds(const struct sqlite_snapshot *s);

#endif
