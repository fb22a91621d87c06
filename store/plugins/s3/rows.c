#include <stdlib.h>
#include <string.h>

#include "lite/base/array.h"
#include "store/plugins/s3/s3.h"

/* ---- all rows ---- */

struct rows {
    reprise_plugin_row_fn *fn;
    void *arg;
    int64_t after;
};

static int s3_hand_row(int64_t position, struct slice row, void *arg)
{
    const struct rows *to = arg;

    return position > to->after
               ? to->fn(position, (struct reprise_plugin_text){ row.p, row.n }, to->arg)
               : 0;
}

static int s3_read_rows(void *store, const struct reprise_plugin_key *key, int64_t after,
                        reprise_plugin_row_fn *fn, void *arg, struct reprise_plugin_call *call)
{
    struct rows to = { fn, arg, after };
    struct arena a = { 0 };
    struct s3_parts p = { .n = 0 };
    const char *folder = s3_folder(store, key, &a);
    int rc = folder ? s3_parts_load(store, folder, after >> S3_LINE_BITS, &p, call)
                    : REPRISE_PLUGIN_NO_MEMORY;

    if (!rc)
        rc = s3_parts_read(store, &p, 0, p.n, s3_hand_row, &to, call);
    s3_parts_fini(&p);
    arena_fini(&a);
    return rc;
}

/* ---- pages ---- */

enum { AT_ONCE = 1 << 18 };

struct row {
    int64_t position;
    struct slice text;
};

/* Rows in their order. */
struct chunk {
    struct arena a;
    struct row *row;
    size_t n, cap;
    int64_t before;
};

/* Those that are wanted, the newest one first. */
struct page {
    struct row *row;
    size_t n, cap, bytes;
    struct arena a;
};

static int s3_add_row(int64_t position, struct slice text, void *arg)
{
    struct chunk *c = arg;

    if (position >= c->before)
        return 0;
    if (!array_reserve(c->row, c->cap, c->n + 1))
        return 1;
    c->row[c->n++] = (struct row){ position, arena_copy(&c->a, text) };
    return c->a.failed;
}

/* As in the plug-in for PostgreSQL, a row is wanted if the rows after it have fewer than `bytes` bytes. Returns true if
 * more rows are wanted. */
static int pick_rows(const struct chunk *c, struct page *page, size_t rows, size_t bytes,
                     bool *more)
{
    size_t i = c->n;

    while (i > 0 && page->n < rows && page->bytes < bytes) {
        const struct row *row = &c->row[--i];

        if (!array_reserve(page->row, page->cap, page->n + 1))
            return REPRISE_PLUGIN_NO_MEMORY;
        page->row[page->n++] = (struct row){ row->position, arena_copy(&page->a, row->text) };
        page->bytes += row->text.n;
    }
    *more = page->n < rows && page->bytes < bytes;
    return page->a.failed ? REPRISE_PLUGIN_NO_MEMORY : REPRISE_PLUGIN_OK;
}

/* Parts with the same time stay together. */
static size_t first_of_chunk(const struct s3_parts *p, size_t to)
{
    size_t from = to - 1;
    int64_t bytes = p->part[from].size;

    while (from > 0 && (p->part[from - 1].ms == p->part[from].ms ||
                        (to - from < S3_REQUESTS && bytes < AT_ONCE)))
        bytes += p->part[--from].size;
    return from;
}

static int s3_collect(struct s3 *s3, const struct s3_parts *p, int64_t before, size_t rows,
                      size_t bytes, struct page *page, struct reprise_plugin_call *call)
{
    size_t to = p->n;
    bool more = true;
    int rc = REPRISE_PLUGIN_OK;

    while (to > 0 && p->part[to - 1].ms > before >> S3_LINE_BITS)
        to--;
    while (!rc && more && to > 0) {
        struct chunk c = { .before = before };
        size_t from = first_of_chunk(p, to);

        rc = s3_parts_read(s3, p, from, to, s3_add_row, &c, call);
        if (rc == REPRISE_PLUGIN_STOPPED && c.a.failed)
            rc = REPRISE_PLUGIN_NO_MEMORY;
        if (!rc)
            rc = pick_rows(&c, page, rows, bytes, &more);
        free(c.row);
        arena_fini(&c.a);
        to = from;
    }
    return rc;
}

static int s3_rows_read_page(void *store, const struct reprise_plugin_key *key, int64_t before,
                             size_t rows, size_t bytes, reprise_plugin_row_fn *fn, void *arg,
                             struct reprise_plugin_call *call)
{
    struct page page = { .n = 0 };
    struct s3_parts p = { .n = 0 };
    const char *folder = s3_folder(store, key, &page.a);
    int rc = folder ? s3_parts_load(store, folder, 0, &p, call) : REPRISE_PLUGIN_NO_MEMORY;

    if (!rc)
        rc = s3_collect(store, &p, before > 0 ? before : INT64_MAX, rows, bytes, &page, call);
    for (size_t i = page.n; i-- > 0 && !rc;) {
        const struct row *row = &page.row[i];

        if (fn(row->position, (struct reprise_plugin_text){ row->text.p, row->text.n }, arg))
            rc = REPRISE_PLUGIN_STOPPED;
    }
    free(page.row);
    arena_fini(&page.a);
    s3_parts_fini(&p);
    return rc;
}

/* ---- subpaths ---- */

struct names {
    struct arena a;
    struct slice_set seen;
};

/* The objects in folders below the session's are parts of subpaths. */
static int s3_rows_add_name(const struct s3_object *o, void *arg)
{
    struct names *names = arg;
    const char *slash = strrchr(o->name, '/');
    uint32_t number;

    if (!slash)
        return 0;
    struct slice name = { o->name, (size_t)(slash - o->name) };

    if (slice_set_find(&names->seen, name) != SLICE_SET_NONE)
        return 0;
    name = arena_copy(&names->a, name);
    return !name.p || (s3_is_plain(name.p, true) && slice_set_add(&names->seen, name, &number));
}

static int s3_read_subkeys(void *store, const struct reprise_plugin_key *key,
                           reprise_plugin_name_fn *fn, void *arg, struct reprise_plugin_call *call)
{
    struct names names = { .seen = { 0 } };
    struct s3_query q = { .prefix = s3_folder(store, key, &names.a),
                          .deep = true,
                          .fn = s3_rows_add_name,
                          .arg = &names };
    int rc = q.prefix ? s3_run_queries(store, &q, 1, call) : REPRISE_PLUGIN_NO_MEMORY;

    for (size_t i = 0; i < names.seen.n && !rc; i++)
        if (fn(names.seen.text[i].p, arg))
            rc = REPRISE_PLUGIN_STOPPED;
    slice_set_fini(&names.seen);
    arena_fini(&names.a);
    return rc;
}

extern const struct reprise_plugin reprise_plugin;
const struct reprise_plugin reprise_plugin = {
    .abi = REPRISE_PLUGIN_ABI,
    .flags = REPRISE_PLUGIN_THREADS,
    .size = sizeof(struct reprise_plugin),
    .name = "s3",
    .open = s3_open,
    .close = s3_close,
    .list = s3_list,
    .read = s3_read_rows,
    .page = s3_rows_read_page,
    .subkeys = s3_read_subkeys,
    .append = s3_append,
    .remove = s3_remove,
};
