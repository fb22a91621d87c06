#include <string.h>

#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "store/sqlite/sqlite_db.h"

/* Values that are too large. One of them would end each query that meets it, and with it the list of all sessions. The
 * queries of the agents are therefore run again on views that have the names of the tables, in which a text takes the
 * place of each such value.
 *
 * length() would read the whole value, so the sizes are asked for as those of blobs, which SQLite knows from the head
 * of the row. */

enum { LARGE_MOST = 1000, STEPS_BETWEEN_CLOCKS = 256 };

/* A table with such values. */
struct large_table {
    const struct sqlite_library *sqlite;
    sqlite3 *handle;
    struct slice name;
    int64_t most, until_ms;
    struct buf columns; /* the columns of the view */
    size_t found, steps;
};

static enum err_code add_name(struct buf *sql, struct slice name)
{
    TRY(buf_add_byte(sql, '"'));
    for (size_t i = 0; i < name.n; i++)
        TRY(buf_add(sql, name.p[i] == '"' ? SLICE("\"\"") : (struct slice){ name.p + i, 1 }));
    return buf_add_byte(sql, '"');
}

static bool large_takes_too_long(struct large_table *t)
{
    return ++t->steps % STEPS_BETWEEN_CLOCKS == 0 && time_coarse_ms() > t->until_ms;
}

/* Adds a column of the view. */
static bool add_column(struct large_table *t, struct slice column)
{
    AUTO_BUF sql = { 0 };
    AUTO_BUF table = { 0 };
    AUTO_BUF name = { 0 };
    sqlite3_stmt *rows = NULL;
    size_t before = t->found, begin = t->columns.n;

    if (slice_eq(column, SLICE("rowid")) || buf_add(&table, t->name) || !buf_cstr(&table) ||
        buf_add(&name, column) || !buf_cstr(&name) ||
        buf_add(&sql, SLICE("SELECT rowid FROM main.")) || add_name(&sql, t->name) ||
        !buf_cstr(&sql) || t->sqlite->prepare_v2(t->handle, sql.p, -1, &rows, NULL) ||
        buf_add(&t->columns, SLICE(", CASE rowid")))
        return false;

    /* Adds the rows of a column that have such a value to the expression that takes its place. */
    sqlite3_blob *blob = NULL;
    bool ok = true;

    while (ok && t->sqlite->step(rows) == SQLITE_ROW) {
        sqlite3_int64 row = t->sqlite->column_int64(rows, 0);

        if (blob ? t->sqlite->blob_reopen(blob, row)
                 : t->sqlite->blob_open(t->handle, "main", table.p, name.p, row, 0, &blob)) {
            t->sqlite->blob_close(blob); /* the value is a number or NULL */
            blob = NULL;
        } else if (t->sqlite->blob_bytes(blob) > t->most) {
            ok = t->found++ < LARGE_MOST &&
                 !buf_addf(&t->columns, " WHEN %lld THEN 'too large to be read: %d bytes'",
                           (long long)row, t->sqlite->blob_bytes(blob));
        }
        ok = ok && !large_takes_too_long(t);
    }
    t->sqlite->blob_close(blob);

    t->sqlite->finalize(rows);
    if (t->found == before)
        t->columns.n = begin;
    return ok && !buf_add(&t->columns, t->found == before ? SLICE(", ") : SLICE(" ELSE ")) &&
           !add_name(&t->columns, column) &&
           !buf_add(&t->columns, t->found == before ? SLICE("") : SLICE(" END AS ")) &&
           (t->found == before || !add_name(&t->columns, column));
}

static bool make_view(struct large_table *t)
{
    AUTO_BUF sql = { 0 };

    return !buf_add(&sql, SLICE("DROP VIEW IF EXISTS temp.")) && !add_name(&sql, t->name) &&
           !buf_add(&sql, SLICE("; CREATE TEMP VIEW ")) && !add_name(&sql, t->name) &&
           !buf_add(&sql, SLICE(" AS SELECT rowid AS rowid")) &&
           !buf_add(&sql, buf_slice(&t->columns)) && !buf_add(&sql, SLICE(" FROM main.")) &&
           !add_name(&sql, t->name) && buf_cstr(&sql) &&
           t->sqlite->exec(t->handle, sql.p, NULL, NULL, NULL) == SQLITE_OK;
}

static struct slice large_text(const struct sqlite_library *sqlite, sqlite3_stmt *s, int column)
{
    const void *p = sqlite->column_text(s, column);

    return p ? (struct slice){ p, (size_t)sqlite->column_bytes(s, column) } : SLICE("");
}

/* Looks through one table, which is left as it is if it has no rowid or none of these values. */
static bool hide_in(struct large_table *t, struct sqlite_hidden *out)
{
    static const char columns[] = "SELECT name FROM pragma_table_info(?1)";
    sqlite3_stmt *s = NULL;
    bool ok = t->sqlite->prepare_v2(t->handle, columns, -1, &s, NULL) == SQLITE_OK &&
              t->sqlite->bind_text(s, 1, t->name.p, (int)t->name.n, SQLITE_STATIC) == SQLITE_OK;

    while (ok && t->sqlite->step(s) == SQLITE_ROW)
        ok = add_column(t, large_text(t->sqlite, s, 0));
    t->sqlite->finalize(s);
    return ok && t->found && make_view(t) &&
           arena_add_copy(&out->arena, &out->table, &out->n, t->name);
}

bool sqlite_large_hide(const struct sqlite_library *sqlite, sqlite3 *handle, int64_t most,
                       int64_t until_ms, struct sqlite_hidden *out)
{
    static const char tables[] =
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND sql "
        "NOT LIKE 'CREATE VIRTUAL%'";
    AUTO_ARENA a = { 0 };
    struct slice *name = NULL;
    size_t n = 0, before = out->n;
    sqlite3_stmt *s = NULL;
    bool ok = sqlite->prepare_v2(handle, tables, -1, &s, NULL) == SQLITE_OK;

    while (ok && sqlite->step(s) == SQLITE_ROW)
        ok = arena_add_copy(&a, &name, &n, large_text(sqlite, s, 0));
    sqlite->finalize(s);
    for (size_t i = 0; i < n && ok && time_coarse_ms() <= until_ms; i++) {
        struct large_table t = {
            .sqlite = sqlite, .handle = handle, .name = name[i], .most = most, .until_ms = until_ms
        };

        hide_in(&t, out);
        buf_fini(&t.columns);
    }
    return out->n > before;
}

bool sqlite_hidden_has(const struct sqlite_hidden *hidden, const char *view)
{
    for (size_t i = 0; i < hidden->n; i++)
        if (slice_eq(hidden->table[i], slice_of(view)))
            return true;
    return false;
}
