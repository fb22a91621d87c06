#include <stdlib.h>
#include <string.h>

#include "tui/screens/cleanup.h"

/* The items in the order asked for. */

struct ranked {
    const struct sweep_item *item;
    int64_t project_bytes; /* of all items of its project; only for that order */
    uint32_t i;
};

const char *cleanup_sort_name(enum cleanup_sort sort)
{
    static const char *const names[] = {
        [CLEANUP_LARGEST] = "largest first",
        [CLEANUP_OLDEST] = "oldest first",
        [CLEANUP_PROJECT] = "by project",
    };

    return names[sort];
}

/* What the session says it was about, else the folder it lies in. */
struct slice cleanup_project(const struct sweep_item *item)
{
    if (item->cwd.n > 0)
        return item->cwd;
    return item->orphan && item->ref.folder.n == 0 ? SLICE("of no known project")
                                                   : item->ref.folder;
}

static int compare_texts(struct slice a, struct slice b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int way = n > 0 ? memcmp(a.p, b.p, n) : 0;

    return way ? way : (a.n > b.n) - (a.n < b.n);
}

static int by_place(const struct ranked *a, const struct ranked *b)
{
    return (a->i > b->i) - (a->i < b->i);
}

static int by_size(const void *pa, const void *pb)
{
    const struct ranked *a = pa, *b = pb;
    int64_t x = a->item->weight.bytes, y = b->item->weight.bytes;

    return x != y ? (x < y) - (x > y) : by_place(a, b);
}

static int by_age(const void *pa, const void *pb)
{
    const struct ranked *a = pa, *b = pb;
    int64_t x = a->item->activity_ms, y = b->item->activity_ms;

    return x != y ? (x > y) - (x < y) : by_place(a, b);
}

static int by_project(const void *pa, const void *pb)
{
    const struct ranked *a = pa, *b = pb;

    if (a->project_bytes != b->project_bytes)
        return a->project_bytes < b->project_bytes ? 1 : -1;
    int way = compare_texts(cleanup_project(a->item), cleanup_project(b->item));

    return way ? way : by_size(pa, pb);
}

/* Sorted once without totals, those of a project stand together: then each learns what they weigh. */
static void sort_by_project(struct ranked *r, size_t n)
{
    qsort(r, n, sizeof *r, by_project);
    for (size_t i = 0, end; i < n; i = end) {
        int64_t bytes = 0;

        for (end = i; end < n && slice_eq(cleanup_project(r[end].item), cleanup_project(r[i].item));
             end++)
            bytes += r[end].item->weight.bytes;
        for (size_t k = i; k < end; k++)
            r[k].project_bytes = bytes;
    }
    qsort(r, n, sizeof *r, by_project);
}

static void add_lines(struct cleanup *c, const struct ranked *r, size_t n)
{
    bool heads = c->sort == CLEANUP_PROJECT;

    c->lines = 0;
    for (size_t i = 0; i < n; i++) {
        bool first =
            i == 0 || !slice_eq(cleanup_project(r[i].item), cleanup_project(r[i - 1].item));

        if (heads && first)
            c->line[c->lines++] = (struct cleanup_line){ .head = true, .item = r[i].i };
        c->line[c->lines++] = (struct cleanup_line){ .item = r[i].i };
    }
}

bool cleanup_arrange(struct cleanup *c)
{
    size_t n = c->sweep ? c->sweep->n : 0;
    struct ranked *r = calloc(n + 1, sizeof *r);
    struct cleanup_line *line = calloc(2 * n + 1, sizeof *line);

    if (!r || !line) {
        free(r);
        free(line);
        return false;
    }
    for (size_t i = 0; i < n; i++)
        r[i] = (struct ranked){ .item = &c->sweep->item[i], .i = (uint32_t)i };
    if (c->sort == CLEANUP_PROJECT)
        sort_by_project(r, n);
    else
        qsort(r, n, sizeof *r, c->sort == CLEANUP_LARGEST ? by_size : by_age);
    free(c->line);
    c->line = line;
    add_lines(c, r, n);
    free(r);
    return true;
}

size_t cleanup_group_end(const struct cleanup *c, size_t head)
{
    size_t end = head + 1;

    while (end < c->lines && !c->line[end].head)
        end++;
    return end;
}

struct cleanup_sum cleanup_sum(const struct cleanup *c, size_t first, size_t end)
{
    struct cleanup_sum sum = { 0 };

    for (size_t i = first; i < end; i++) {
        const struct sweep_item *item = &c->sweep->item[c->line[i].item];

        if (c->line[i].head)
            continue;
        sum.n++;
        sum.bytes += item->weight.bytes;
        sum.staying += item->stays != NULL;
        sum.ticked += sweep_takes(item);
        sum.ticked_bytes += sweep_takes(item) ? item->weight.bytes : 0;
    }
    return sum;
}
