#include "store/sqlite/sqlite_rows.h"

#include <string.h>

#include "lite/base/arena.h"
#include "lite/base/buf.h"
#include "lite/base/cleanup.h"
#include "lite/json/json.h"
#include "store/sqlite/sqlite_db.h"

enum { ROW_COLUMNS = 24, PIECE = 64 << 10 };

/* A row that was read from its line. */
struct inserted_row {
    struct slice table, column[ROW_COLUMNS];
    struct slice value[ROW_COLUMNS]; /* NULL: the column is null */
    size_t n;
};

/* A column of a table that refers to another table. */
struct reference {
    struct slice table, column, to;
};

struct row_task {
    struct sqlite_db *db;
    const char *path;
    const struct span *rows;
    struct arena arena; /* of one row */
    struct buf sql;
    struct arena lasting;
    struct reference *reference; /* in it */
    size_t references;
    bool found;
};

typedef enum err_code row_line_fn(struct row_task *t, const struct inserted_row *row,
                                  struct err *e);

/* ---- lines ---- */

/* Values are bound as texts, which SQLite makes numbers where the column has numbers. */
static bool row_read(struct slice line, struct arena *a, struct inserted_row *out)
{
    struct json_iter list, members;
    struct slice none, table, object, key, value;

    *out = (struct inserted_row){ .n = 0 };
    if (!json_iter_open(&list, line) || !json_iter_next(&list, &none, &table) ||
        !json_iter_next(&list, &none, &object) || !json_text(table, a, &out->table) ||
        !json_iter_open(&members, object))
        return false;
    for (; json_iter_next(&members, &key, &value); out->n++) {
        struct slice *text = &out->value[out->n];

        if (out->n == ROW_COLUMNS || !json_text(key, a, &out->column[out->n]))
            return false;
        if (json_type(value) == JSON_NUMBER)
            *text = value;
        else if (json_type(value) == JSON_STRING && !json_text(value, a, text))
            return false;
        if (json_type(value) != JSON_NULL && !text->p)
            *text = SLICE("");
        if (text->n > SQLITE_VALUE_MOST)
            return false;
    }
    return out->n > 0 && out->value[0].n > 0;
}

static enum err_code row_line(struct row_task *t, struct slice line, row_line_fn *fn, struct err *e)
{
    struct inserted_row row;

    arena_reset(&t->arena);
    t->sql.n = 0;
    if (row_read(line, &t->arena, &row))
        return fn(t, &row, e);
    return t->arena.failed ? err_nomem(e)
                           : err_set(e, ERR_UNSUPPORTED, t->path,
                                     "write to the database: a message is too large");
}

/* Calls fn with each row; `first`: only with the first one. */
static enum err_code rows_each(struct row_task *t, row_line_fn *fn, bool first, struct err *e)
{
    AUTO_BUF text = { 0 };
    struct slice rest, line;
    bool torn;

    for (int64_t at = 0; at < t->rows->n;) {
        const size_t n = t->rows->n - at < PIECE ? (size_t)(t->rows->n - at) : PIECE;
        const size_t had = text.n;

        NEED(!buf_reserve(&text, n));
        TRY(span_read(t->rows, at, text.p + text.n, n, e));
        text.n += n;
        at += (int64_t)n;
        rest = buf_slice(&text);
        for (bool ends = memchr(text.p + had, '\n', n); ends; ends = memchr(rest.p, '\n', rest.n)) {
            slice_line(&rest, &line, &torn);
            TRY(row_line(t, line, fn, e));
            if (first)
                return ERR_OK;
        }
        memmove(text.p, rest.p, rest.n);
        text.n = rest.n;
    }
    return ERR_OK;
}

/* ---- statements ---- */

static void sql_name(struct row_task *t, struct slice name)
{
    /* Names are of letters and _. */
    if (buf_add_byte(&t->sql, '"') || buf_add(&t->sql, name) || buf_add_byte(&t->sql, '"'))
        t->arena.failed = true;
}

static void sql_text(struct row_task *t, const char *text)
{
    if (buf_add(&t->sql, slice_of(text)))
        t->arena.failed = true;
}

static enum err_code found_row(const struct sqlite_row *row, void *arg, struct err *e)
{
    struct row_task *t = arg;

    (void)e;
    t->found = sqlite_row_int(row, 0) > 0;
    return ERR_OK;
}

/* Runs the statement; t->found: it has a first row, whose number is not 0. */
static enum err_code sql_run(struct row_task *t, const struct slice *parameter, size_t n,
                             struct err *e)
{
    t->found = false;
    NEED(!t->arena.failed && buf_cstr(&t->sql));
    return sqlite_db_each(t->db, t->sql.p, parameter, n, found_row, t, e);
}

static enum err_code row_insert(struct row_task *t, const struct inserted_row *row, struct err *e)
{
    struct slice parameter[ROW_COLUMNS];
    size_t n = 0;

    sql_text(t, "INSERT INTO ");
    sql_name(t, row->table);
    for (size_t i = 0; i < row->n; i++) {
        sql_text(t, i ? "," : " (");
        sql_name(t, row->column[i]);
    }
    sql_text(t, ") VALUES (");
    for (size_t i = 0; i < row->n; i++) {
        sql_text(t, !i ? "?" : row->value[i].p ? ",?" : ",NULL");
        if (row->value[i].p)
            parameter[n++] = row->value[i];
    }
    sql_text(t, ")");
    return sql_run(t, parameter, n, e);
}

static void sql_where(struct row_task *t, const struct inserted_row *row, size_t columns,
                      struct slice *parameter, size_t *n)
{
    sql_name(t, row->table);
    for (size_t i = 0; i < columns; i++) {
        sql_text(t, i ? " AND " : " WHERE ");
        sql_name(t, row->column[i]);
        sql_text(t, row->value[i].p ? "=?" : " IS NULL");
        if (row->value[i].p)
            parameter[(*n)++] = row->value[i];
    }
}

static enum err_code row_look(struct row_task *t, const struct inserted_row *row, size_t columns,
                              struct err *e)
{
    struct slice parameter[ROW_COLUMNS];
    size_t n = 0;

    sql_text(t, "SELECT 1 FROM ");
    sql_where(t, row, columns, parameter, &n);
    return sql_run(t, parameter, n, e);
}

static enum err_code row_has_key(struct row_task *t, const struct inserted_row *row, struct err *e)
{
    return row_look(t, row, 1, e);
}

static enum err_code row_is_same(struct row_task *t, const struct inserted_row *row, struct err *e)
{
    return row_look(t, row, row->n, e);
}

static enum err_code rows_continued(const struct row_task *t, struct err *e)
{
    return err_set(
        e, ERR_STALE, t->path,
        "undo: the session has continued since; reprise delete asks its agent to delete it");
}

static enum err_code row_remove(struct row_task *t, const struct inserted_row *row, struct err *e)
{
    struct slice parameter[ROW_COLUMNS];
    size_t n = 0;

    sql_text(t, "DELETE FROM ");
    sql_where(t, row, row->n, parameter, &n);
    TRY(sql_run(t, parameter, n, e));
    t->sql.n = 0;
    sql_text(t, "SELECT changes()");
    TRY(sql_run(t, NULL, 0, e));
    return t->found ? ERR_OK : rows_continued(t, e);
}

static enum err_code row_is_alone(struct row_task *t, const struct inserted_row *row, struct err *e)
{
    for (size_t i = 0; i < t->references; i++) {
        const struct reference *r = &t->reference[i];

        if (!slice_eq(r->to, row->table))
            continue;
        t->sql.n = 0;
        sql_text(t, "SELECT 1 FROM ");
        sql_name(t, r->table);
        sql_text(t, " WHERE ");
        sql_name(t, r->column);
        sql_text(t, "=? LIMIT 1");
        TRY(sql_run(t, row->value, 1, e));
        if (t->found)
            return rows_continued(t, e);
    }
    return ERR_OK;
}

/* ---- transactions ---- */

static enum err_code add_reference(const struct sqlite_row *row, void *arg, struct err *e)
{
    struct row_task *t = arg;
    struct reference *list = arena_grow(&t->lasting, t->reference, t->references, sizeof *list);

    NEED(list);
    t->reference = list;
    list[t->references++] = (struct reference){
        .table = arena_copy(&t->lasting, sqlite_row_text(row, 0)),
        .to = arena_copy(&t->lasting, sqlite_row_text(row, 1)),
        .column = arena_copy(&t->lasting, sqlite_row_text(row, 2)),
    };
    return t->lasting.failed ? err_nomem(e) : ERR_OK;
}

static enum err_code refuse_trigger(const struct sqlite_row *row, void *arg, struct err *e)
{
    const struct row_task *t = arg;

    (void)row;
    return err_set(e, ERR_UNSUPPORTED, t->path, "write to the database: it has triggers");
}

static enum err_code need_wal(const struct sqlite_row *row, void *arg, struct err *e)
{
    const struct row_task *t = arg;

    return slice_eq(sqlite_row_text(row, 0), SLICE("wal"))
               ? ERR_OK
               : err_set(e, ERR_UNSUPPORTED, t->path,
                         "write to the database: it has no write-ahead log");
}

/* Triggers of a database are never run, so what they add would be missing. A database without a write-ahead log is locked
 * through its own file, and those locks are lost when another thread of ours, which reads it, closes the file. */
static enum err_code rows_may_change(struct row_task *t, struct err *e)
{
    TRY(sqlite_db_each(t->db, "SELECT 1 FROM sqlite_master WHERE type = 'trigger'", NULL, 0,
                       refuse_trigger, t, e));
    return sqlite_db_each(t->db, "PRAGMA journal_mode", NULL, 0, need_wal, t, e);
}

static enum err_code rows_do_insert(struct sqlite_db *db, void *arg, struct err *e)
{
    struct row_task *t = arg;

    t->db = db;
    TRY(rows_may_change(t, e));
    return rows_each(t, row_insert, false, e);
}

/* Keys are not enforced here, since SQLite would remove rows of others with ours. Those are looked for afterwards. */
static enum err_code rows_do_remove(struct sqlite_db *db, void *arg, struct err *e)
{
    struct row_task *t = arg;

    t->db = db;
    TRY(rows_may_change(t, e));
    TRY(rows_each(t, row_has_key, true, e));
    if (!t->found)
        return err_set(e, ERR_NOT_FOUND, t->path, "undo: the session is no longer there");
    TRY(rows_each(t, row_remove, false, e));
    TRY(sqlite_db_each(db,
                       "SELECT m.name, f.\"table\", f.\"from\" FROM sqlite_master m, "
                       "pragma_foreign_key_list(m.name) f WHERE m.type = 'table'",
                       NULL, 0, add_reference, t, e));
    return rows_each(t, row_is_alone, false, e);
}

static enum err_code rows_look(struct sqlite_db *db, void *arg, struct err *e)
{
    struct row_task *t = arg;

    t->db = db;
    return rows_each(t, row_has_key, true, e);
}

static enum err_code rows_compare(struct sqlite_db *db, void *arg, struct err *e)
{
    struct row_task *t = arg;

    t->db = db;
    return rows_each(t, row_is_same, true, e);
}

static void row_task_fini(struct row_task *t)
{
    arena_fini(&t->arena);
    arena_fini(&t->lasting);
    buf_fini(&t->sql);
}

/* Looks at the file that now has the path: a program that removed the log just when the transaction ended has taken it
 * along. The caller then asks the database what became of the rows. */
static enum err_code rows_verify(struct row_task *t, bool there, struct err *e)
{
    return sqlite_db_read(t->path, NULL, rows_look, t, NULL) || t->found == there
               ? ERR_OK
               : err_set(e, ERR_IO, t->path, "write to the database: another program replaced it");
}

enum err_code sqlite_rows_insert(const char *path, const struct span *rows, struct err *e)
{
    CLEANUP(row_task_fini) struct row_task t = { .path = path, .rows = rows };

    TRY(sqlite_db_write(path, true, rows_do_insert, &t, e));
    return rows_verify(&t, true, e);
}

enum err_code sqlite_rows_remove(const char *path, const struct span *rows, struct err *e)
{
    CLEANUP(row_task_fini) struct row_task t = { .path = path, .rows = rows };

    TRY(sqlite_db_write(path, false, rows_do_remove, &t, e));
    return rows_verify(&t, false, e);
}

enum err_code sqlite_rows_are_there(const char *path, const struct span *rows, bool *there,
                                    struct err *e)
{
    CLEANUP(row_task_fini) struct row_task t = { .path = path, .rows = rows };

    enum err_code rc = sqlite_db_write(path, false, rows_look, &t, e);

    *there = !rc && t.found;
    return rc == ERR_NOT_FOUND || rc == ERR_UNSUPPORTED || rc == ERR_FORMAT ? ERR_OK : rc;
}

enum err_code sqlite_rows_are_same(const char *path, const struct span *rows, bool *same,
                                   struct err *e)
{
    CLEANUP(row_task_fini) struct row_task t = { .path = path, .rows = rows };

    TRY(sqlite_db_read(path, NULL, rows_compare, &t, e));
    *same = t.found;
    return ERR_OK;
}
