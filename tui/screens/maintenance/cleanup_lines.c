#include <stdlib.h>
#include <string.h>

#include "tui/screens/maintenance/cleanup.h"

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
    int cmp = n > 0 ? memcmp(a.p, b.p, n) : 0;

    return cmp ? cmp : (a.n > b.n) - (a.n < b.n);
}

static int compare_position(const struct ranked *a, const struct ranked *b)
{
    return (a->i > b->i) - (a->i < b->i);
}

static int by_size(const void *pa, const void *pb)
{
    const struct ranked *a = pa, *b = pb;
    int64_t x = a->item->usage.bytes, y = b->item->usage.bytes;

    return x != y ? (x < y) - (x > y) : compare_position(a, b);
}

static int by_age(const void *pa, const void *pb)
{
    const struct ranked *a = pa, *b = pb;
    int64_t x = a->item->activity_ms, y = b->item->activity_ms;

    return x != y ? (x > y) - (x < y) : compare_position(a, b);
}

static int by_project(const void *pa, const void *pb)
{
    const struct ranked *a = pa, *b = pb;

    if (a->project_bytes != b->project_bytes)
        return a->project_bytes < b->project_bytes ? 1 : -1;
    int cmp = compare_texts(cleanup_project(a->item), cleanup_project(b->item));

    return cmp ? cmp : by_size(pa, pb);
}

/* Sorted once without totals, those of a project stand together: then each learns what they weigh. */
static void sort_by_project(struct ranked *r, size_t n)
{
    qsort(r, n, sizeof *r, by_project);
    for (size_t i = 0, end; i < n; i = end) {
        int64_t bytes = 0;

        for (end = i; end < n && slice_eq(cleanup_project(r[end].item), cleanup_project(r[i].item));
             end++)
            bytes += r[end].item->usage.bytes;
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

/* ---- what is shown of them ---- */

bool cleanup_is_open(const struct cleanup *c, size_t head)
{
    struct slice project = cleanup_project(&c->sweep->item[c->line[head].item]);

    for (size_t i = 0; i < c->opened.n; i++)
        if (slice_eq(c->opened.name[i], project))
            return true;
    return false;
}

/* With heads, only the sessions below those that are open. */
static void choose_shown(struct cleanup *c)
{
    bool open = true;

    c->shown_n = 0;
    for (size_t i = 0; i < c->lines; i++) {
        if (c->line[i].head)
            open = cleanup_is_open(c, i);
        if (c->line[i].head || open)
            c->shown[c->shown_n++] = (uint32_t)i;
    }
}

bool cleanup_open_project(struct cleanup *c, size_t head, bool open)
{
    struct slice project = cleanup_project(&c->sweep->item[c->line[head].item]);
    struct name_list opened = { .n = 0 };
    bool ok = true;

    for (size_t i = 0; ok && i < c->opened.n; i++)
        ok = slice_eq(c->opened.name[i], project) || name_list_add(&opened, c->opened.name[i]);
    ok = ok && (!open || name_list_add(&opened, project));
    if (!ok) {
        name_list_fini(&opened);
        return false;
    }
    name_list_fini(&c->opened);
    c->opened = opened;
    choose_shown(c);
    return true;
}

size_t cleanup_head_of(const struct cleanup *c, size_t line)
{
    size_t head = line;

    while (head > 0 && !c->line[head].head)
        head--;
    return c->line[head].head ? head : line;
}

size_t cleanup_row_of(const struct cleanup *c, size_t line)
{
    size_t head = cleanup_head_of(c, line), place = 0;

    for (size_t i = 0; i < c->shown_n; i++) {
        if (c->shown[i] == line)
            return i;
        place = c->shown[i] == head ? i : place;
    }
    return place;
}

/* ---- together ---- */

bool cleanup_arrange(struct cleanup *c)
{
    size_t n = c->sweep ? c->sweep->n : 0;
    struct ranked *r = calloc(n + 1, sizeof *r);
    struct cleanup_line *line = calloc(2 * n + 1, sizeof *line);
    uint32_t *shown = calloc(2 * n + 1, sizeof *shown);

    if (!r || !line || !shown) {
        free(r);
        free(line);
        free(shown);
        return false;
    }
    for (size_t i = 0; i < n; i++)
        r[i] = (struct ranked){ .item = &c->sweep->item[i], .i = (uint32_t)i };
    if (c->sort == CLEANUP_PROJECT)
        sort_by_project(r, n);
    else
        qsort(r, n, sizeof *r, c->sort == CLEANUP_LARGEST ? by_size : by_age);
    free(c->line);
    free(c->shown);
    c->line = line;
    c->shown = shown;
    add_lines(c, r, n);
    choose_shown(c);
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
        sum.bytes += item->usage.bytes;
        sum.staying += item->stays != NULL;
        sum.ticked += sweep_is_chosen(item);
        sum.ticked_bytes += sweep_is_chosen(item) ? item->usage.bytes : 0;
    }
    return sum;
}
