#include "store/journal/append_rows.h"

#include "store/journal/append_journal.h"
#include "store/log/log_find.h"

struct writing {
    const char *path;
    struct append_rows *rows;
    struct arena *a;
    bool again; /* the file was replaced by one that may have got the rows */
};

static enum err_code compose_new_rows(void *arg, struct buf *out, struct err *e)
{
    struct writing *w = arg;
    struct append_rows *rows = w->rows;
    struct slice *id = append_rows_ids(rows, w->a);
    bool *skip = arena_zalloc(w->a, rows->n * sizeof *skip);
    enum err_code rc = id && skip ? ERR_OK : ERR_NOMEM;

    for (size_t i = 0; i < rows->n && !rc; i++)
        if (rows->row[i].drawn && !w->again)
            id[i].n = 0;
    if (!rc)
        rc = log_find_repeated(w->path, 0, id, rows->n, skip, e);
    else
        err_nomem(e);
    rows->present = 0;
    for (size_t i = 0, begin = 0; i < rows->n && !rc; begin = rows->row[i++].end) {
        const struct slice line = { rows->lines.p + begin, rows->row[i].end - begin };

        rows->present += skip[i];
        if (!skip[i] && buf_add(out, line))
            rc = err_nomem(e);
    }
    w->again = true;
    return rc;
}

enum err_code append_rows_write(const struct store_env *env, const char *path,
                                struct append_rows *rows, struct arena *a, struct err *e)
{
    struct writing w = { .path = path, .rows = rows, .a = a };

    return journal_append(env, path, 0, compose_new_rows, &w, e);
}

struct slice *append_rows_ids(const struct append_rows *rows, struct arena *a)
{
    struct slice *id = arena_alloc(a, (rows->n + 1) * sizeof *id);

    for (size_t i = 0; id && i < rows->n; i++)
        id[i] = rows->row[i].id;
    return id;
}
