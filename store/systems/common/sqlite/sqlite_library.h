#ifndef STORE_SYSTEMS_COMMON_SQLITE_SQLITE_LIBRARY_H
#define STORE_SYSTEMS_COMMON_SQLITE_SQLITE_LIBRARY_H

#include <sqlite3.h>

#include "lite/base/err.h"

/* The functions of libsqlite3 that are used, looked up when the library is loaded, and the file system that SQLite
 * sees, which contains only one snapshot (sqlite_snapshot.h). Private to sqlite_db.c and this library. */
#define SQLITE_FUNCTIONS(F)                                                                        \
    F(bind_text)                                                                                   \
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

struct sqlite_snapshot;

/* A read-only file system with one file. */
struct sqlite_vfs {
    sqlite3_vfs base;
    char name[32];
    const struct sqlite_snapshot *snapshot; /* borrowed */
};

/* Initializes it. The caller registers it, and must not move it while it is registered. */
void sqlite_vfs_init(struct sqlite_vfs *v, const struct sqlite_snapshot *s);

#endif
