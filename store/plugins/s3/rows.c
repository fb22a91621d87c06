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
    AUTO_ARENA a = { 0 };
    CLEANUP(s3_parts_fini) struct s3_parts p = { .n = 0 };
    const char *folder = s3_folder(store, key, &a);

    if (!folder)
        return REPRISE_PLUGIN_NO_MEMORY;
    PLUGIN_TRY(s3_parts_load(store, folder, after >> S3_LINE_BITS, &p, call));
    return s3_parts_read(store, &p, 0, p.n, s3_hand_row, &to, call);
}

/* ---- pages ---- */

enum { AT_ONCE = 1 << 18 };

struct row {
    int64_t position;
    struct slice text;
};

/* The rows of some parts in their order, or those of a page, the newest one first. */
struct row_list {
    struct arena a;
    struct row *row;
    size_t n, cap;
    size_t bytes;   /* in a page */
    int64_t before; /* position; later rows of the parts are left out */
};

static void row_list_fini(struct row_list *l)
{
    free(l->row);
    arena_fini(&l->a);
}

static bool row_list_add(struct row_list *l, int64_t position, struct slice text)
{
    if (!array_reserve(l->row, l->cap, l->n + 1))
        return false;
    l->row[l->n++] = (struct row){ position, arena_copy(&l->a, text) };
    l->bytes += text.n;
    return !l->a.failed;
}

static int s3_add_row(int64_t position, struct slice text, void *arg)
{
    struct row_list *c = arg;

    return position < c->before && !row_list_add(c, position, text);
}

/* As in the plug-in for PostgreSQL, a row is wanted if the rows after it have fewer than `bytes` bytes. */
static int s3_collect(struct s3 *s3, const struct s3_parts *p, int64_t before, size_t rows,
                      size_t bytes, struct row_list *page, struct reprise_plugin_call *call)
{
    size_t to = p->n;

    while (to > 0 && p->part[to - 1].ms > before >> S3_LINE_BITS)
        to--;
    while (page->n < rows && page->bytes < bytes && to > 0) {
        CLEANUP(row_list_fini) struct row_list c = { .before = before };
        size_t from = to - 1;

        /* Parts with the same time stay together. */
        for (int64_t sum = p->part[from].size;
             from > 0 && (p->part[from - 1].ms == p->part[from].ms ||
                          (to - from < S3_REQUESTS && sum < AT_ONCE));)
            sum += p->part[--from].size;
        int rc = s3_parts_read(s3, p, from, to, s3_add_row, &c, call);

        if (rc)
            return rc == REPRISE_PLUGIN_STOPPED && c.a.failed ? REPRISE_PLUGIN_NO_MEMORY : rc;
        for (size_t i = c.n; i > 0 && page->n < rows && page->bytes < bytes; i--)
            if (!row_list_add(page, c.row[i - 1].position, c.row[i - 1].text))
                return REPRISE_PLUGIN_NO_MEMORY;
        to = from;
    }
    return REPRISE_PLUGIN_OK;
}

static int s3_rows_read_page(void *store, const struct reprise_plugin_key *key, int64_t before,
                             size_t rows, size_t bytes, reprise_plugin_row_fn *fn, void *arg,
                             struct reprise_plugin_call *call)
{
    CLEANUP(row_list_fini) struct row_list page = { .n = 0 };
    CLEANUP(s3_parts_fini) struct s3_parts p = { .n = 0 };
    const char *folder = s3_folder(store, key, &page.a);

    if (!folder)
        return REPRISE_PLUGIN_NO_MEMORY;
    PLUGIN_TRY(s3_parts_load(store, folder, 0, &p, call));
    PLUGIN_TRY(s3_collect(store, &p, before > 0 ? before : INT64_MAX, rows, bytes, &page, call));
    for (size_t i = page.n; i-- > 0;) {
        const struct row *row = &page.row[i];

        if (fn(row->position, (struct reprise_plugin_text){ row->text.p, row->text.n }, arg))
            return REPRISE_PLUGIN_STOPPED;
    }
    return REPRISE_PLUGIN_OK;
}

/* ---- subpaths ---- */

struct subpaths {
    struct arena a;
    struct slice_set seen;
};

static void subpaths_fini(struct subpaths *names)
{
    slice_set_fini(&names->seen);
    arena_fini(&names->a);
}

/* The objects in folders below the session's are parts of subpaths. */
static int s3_rows_add_name(const struct s3_object *o, void *arg)
{
    struct subpaths *names = arg;
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
    CLEANUP(subpaths_fini) struct subpaths names = { .seen = { 0 } };
    struct s3_query q = { .prefix = s3_folder(store, key, &names.a),
                          .deep = true,
                          .fn = s3_rows_add_name,
                          .arg = &names };

    if (!q.prefix)
        return REPRISE_PLUGIN_NO_MEMORY;
    PLUGIN_TRY(s3_run_queries(store, &q, 1, call));
    for (size_t i = 0; i < names.seen.n; i++)
        if (fn(names.seen.text[i].p, arg))
            return REPRISE_PLUGIN_STOPPED;
    return REPRISE_PLUGIN_OK;
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
