#include "store/sqlite/sqlite_db.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* ---- the library ---- */

#ifdef REPRISE_STATIC
enum err_code sqlite_library_load(struct sqlite_library *out, struct err *e)
{
    (void)e;
#define LINKED(name) out->name = sqlite3_##name;
    SQLITE_FUNCTIONS(LINKED)
#undef LINKED
    return ERR_OK;
}
#else
static const char library_name[] = "libsqlite3.so.0";

enum err_code sqlite_library_load(struct sqlite_library *out, struct err *e)
{
    /* The library stays in memory once it is loaded, so that closing the handle is cheap and its functions remain
     * valid. */
    void *handle = dlopen(library_name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);

    if (!handle)
        return err_set(e, ERR_UNSUPPORTED, library_name,
                       "read a database: SQLite is not installed (Debian: libsqlite3-0)");
#define FIND(name)                                                                                 \
    const void *found_##name = dlsym(handle, "sqlite3_" #name);                                    \
    memcpy(&out->name, &found_##name, sizeof out->name);
    SQLITE_FUNCTIONS(FIND)
#undef FIND
#define IS_THERE(name) &&out->name
    bool all = true SQLITE_FUNCTIONS(IS_THERE);
#undef IS_THERE

    dlclose(handle);
    return all && out->threadsafe() ? ERR_OK
                                    : err_set(e, ERR_UNSUPPORTED, library_name,
                                              "read a database: the installed SQLite is too old");
}
#endif

/* ---- the file ---- */

struct snapshot_file {
    sqlite3_file base;
    const struct sqlite_snapshot *snapshot;
};

static const struct sqlite_snapshot *sqlite_library_snapshot_of(sqlite3_file *f)
{
    return ((struct snapshot_file *)f)->snapshot;
}

static int file_close_nothing(sqlite3_file *f)
{
    (void)f;
    return SQLITE_OK;
}

static int file_read_bytes(sqlite3_file *f, void *out, int n, sqlite3_int64 at)
{
    bool whole;

    if (n < 0 || at < 0 ||
        sqlite_snapshot_read(sqlite_library_snapshot_of(f), at, (size_t)n, out, &whole, NULL))
        return SQLITE_IOERR_READ;
    return whole ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

static int file_refuse_write(sqlite3_file *f, const void *bytes, int n, sqlite3_int64 at)
{
    (void)f, (void)bytes, (void)n, (void)at;
    return SQLITE_READONLY;
}

static int file_refuse_truncate(sqlite3_file *f, sqlite3_int64 size)
{
    (void)f, (void)size;
    return SQLITE_READONLY;
}

static int file_number(sqlite3_file *f, int number)
{
    (void)f, (void)number;
    return SQLITE_OK;
}

static int file_size_of(sqlite3_file *f, sqlite3_int64 *size)
{
    *size = sqlite_library_snapshot_of(f)->size;
    return SQLITE_OK;
}

static int file_is_reserved(sqlite3_file *f, int *out)
{
    (void)f;
    *out = 0;
    return SQLITE_OK;
}

static int file_control(sqlite3_file *f, int operation, void *arg)
{
    (void)f, (void)operation, (void)arg;
    return SQLITE_NOTFOUND;
}

static int file_sector_size(sqlite3_file *f)
{
    (void)f;
    return 4096;
}

/* Nothing changes it, so SQLite takes no locks and looks for no journal. */
static int file_characteristics(sqlite3_file *f)
{
    (void)f;
    return SQLITE_IOCAP_IMMUTABLE;
}

static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = file_close_nothing,
    .xRead = file_read_bytes,
    .xWrite = file_refuse_write,
    .xTruncate = file_refuse_truncate,
    .xSync = file_number,
    .xFileSize = file_size_of,
    .xLock = file_number,
    .xUnlock = file_number,
    .xCheckReservedLock = file_is_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_sector_size,
    .xDeviceCharacteristics = file_characteristics,
};

/* ---- the file system ---- */

static int vfs_open(sqlite3_vfs *v, const char *name, sqlite3_file *f, int flags, int *out_flags)
{
    struct snapshot_file *file = (struct snapshot_file *)f;

    (void)name;
    *file = (struct snapshot_file){ .snapshot = ((struct sqlite_vfs *)v)->snapshot };
    if (!(flags & SQLITE_OPEN_MAIN_DB))
        return SQLITE_CANTOPEN;
    file->base.pMethods = &methods;
    if (out_flags)
        *out_flags = SQLITE_OPEN_READONLY;
    return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *v, const char *name, int sync)
{
    (void)v, (void)name, (void)sync;
    return SQLITE_READONLY;
}

static int vfs_access(sqlite3_vfs *v, const char *name, int flags, int *out)
{
    (void)v, (void)name, (void)flags;
    *out = 0;
    return SQLITE_OK;
}

static int vfs_full_path(sqlite3_vfs *v, const char *name, int n, char *out)
{
    (void)v;
    return snprintf(out, (size_t)n, "%s", name) < n ? SQLITE_OK : SQLITE_CANTOPEN;
}

static int vfs_random(sqlite3_vfs *v, int n, char *out)
{
    (void)v;
    memset(out, 0, (size_t)n);
    return n;
}

static int vfs_sleep(sqlite3_vfs *v, int us)
{
    (void)v;
    return us;
}

static int vfs_time(sqlite3_vfs *v, double *day)
{
    (void)v;
    *day = 2440587.5; /* 1970: no query asks for it */
    return SQLITE_OK;
}

static int vfs_last_error(sqlite3_vfs *v, int n, char *out)
{
    (void)v, (void)n, (void)out;
    return 0;
}

void sqlite_vfs_init(struct sqlite_vfs *v, const struct sqlite_snapshot *s)
{
    *v = (struct sqlite_vfs){ .snapshot = s };
    snprintf(v->name, sizeof v->name, "reprise-%p",
             (void *)v); /* several may be registered at a time */
    v->base = (sqlite3_vfs){
        .iVersion = 1,
        .szOsFile = sizeof(struct snapshot_file),
        .mxPathname = 4096,
        .zName = v->name,
        .xOpen = vfs_open,
        .xDelete = vfs_delete,
        .xAccess = vfs_access,
        .xFullPathname = vfs_full_path,
        .xRandomness = vfs_random,
        .xSleep = vfs_sleep,
        .xCurrentTime = vfs_time,
        .xGetLastError = vfs_last_error,
    };
}
