#include "store/show/tool_call.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lite/base/array.h"
#include "lite/json/json.h"

enum { CONTEXT = 3, TABLE_LIMIT = 4 * 1000 * 1000 };

void hunks_fini(struct hunks *d)
{
    arena_fini(&d->arena);
    free(d->line);
    *d = (struct hunks){ 0 };
}

static void hunks_add_hunk_line(struct hunks *d, char sign, int64_t number, struct slice text)
{
    if (d->rc)
        return;
    if (!array_reserve(d->line, d->cap, d->n + 1)) {
        d->rc = ERR_NOMEM;
        return;
    }
    d->line[d->n++] = (struct hunk_line){ sign, number, text };
    d->added += sign == '+';
    d->removed += sign == '-';
}

/* Numbers from a file may have any value, and lines are counted from them. */
static int64_t line_number(struct slice object, const char *name)
{
    struct slice value;
    int64_t n = 0;

    if (!json_get(object, name, &value) || !json_int(value, &n) || n < 0 || n > INT32_MAX)
        return 0;
    return n;
}

static void add_hunk_head(struct hunks *d, struct slice hunk)
{
    char text[96];
    int n = snprintf(text, sizeof text, "@@ -%" PRId64 ",%" PRId64 " +%" PRId64 ",%" PRId64 " @@",
                     line_number(hunk, "oldStart"), line_number(hunk, "oldLines"),
                     line_number(hunk, "newStart"), line_number(hunk, "newLines"));
    struct slice copy = arena_copy(&d->arena, (struct slice){ text, (size_t)n });

    if (!copy.p)
        d->rc = ERR_NOMEM;
    hunks_add_hunk_line(d, '@', 0, copy);
}

static void hunks_add_hunk(struct hunks *d, struct slice hunk)
{
    struct json_iter it;
    struct slice key, value, lines, text;
    int64_t before = line_number(hunk, "oldStart"), after = line_number(hunk, "newStart");

    if (!json_get(hunk, "lines", &lines) || !json_iter_open(&it, lines))
        return;
    add_hunk_head(d, hunk);
    while (!d->rc && json_iter_next(&it, &key, &value)) {
        if (!json_text(value, &d->arena, &text) || text.n == 0)
            continue;
        char sign = text.p[0];
        struct slice rest = { text.p + 1, text.n - 1 };

        if (sign == '-')
            hunks_add_hunk_line(d, '-', before++, rest);
        else if (sign == '+')
            hunks_add_hunk_line(d, '+', after++, rest);
        else if (sign == '\\')
            hunks_add_hunk_line(d, '\\', 0, rest);
        else {
            hunks_add_hunk_line(d, ' ', after++, rest);
            before++;
        }
    }
}

void hunks_of_patch(struct hunks *d, struct slice patch_json)
{
    struct json_iter it;
    struct slice key, hunk;

    if (json_type(patch_json) != JSON_ARRAY || !json_iter_open(&it, patch_json))
        return;
    while (!d->rc && json_iter_next(&it, &key, &hunk))
        hunks_add_hunk(d, hunk);
}

/* The lines of one text. */
struct lines {
    struct slice *line; /* owned */
    size_t n;
};

static bool hunks_split(struct slice text, struct lines *out)
{
    struct slice rest = text, line;
    size_t n = 0;
    bool torn;

    while (slice_line(&rest, &line, &torn))
        n++;
    out->line = calloc(n ? n : 1, sizeof *out->line);
    out->n = 0;
    if (!out->line)
        return false;
    for (rest = text; slice_line(&rest, &line, &torn);)
        out->line[out->n++] = line;
    return true;
}

/* The middle of two texts, where they differ: `a` lines of the old one against `b` of the new one. */
struct middle {
    const struct slice *a, *b;
    size_t n, m;
};

static void hunks_add_all(struct hunks *d, char sign, const struct slice *line, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hunks_add_hunk_line(d, sign, 0, line[i]);
}

/* Finds the longest common subsequence with a table of all pairs, since edits are small. If the
 * table would be large, everything counts as replaced. */
static void add_middle(struct hunks *d, const struct middle *mid)
{
    size_t w = mid->m + 1;
    bool small = mid->n < UINT16_MAX && mid->m < UINT16_MAX && (mid->n + 1) * w < TABLE_LIMIT;
    uint16_t *t = small && mid->n && mid->m ? calloc((mid->n + 1) * w, sizeof *t) : NULL;
    size_t i = 0, k = 0;

    if (t) {
        for (i = mid->n; i-- > 0;)
            for (k = mid->m; k-- > 0;) {
                uint16_t down = t[(i + 1) * w + k], right = t[i * w + k + 1];

                t[i * w + k] = slice_eq(mid->a[i], mid->b[k])
                                   ? (uint16_t)(t[(i + 1) * w + k + 1] + 1)
                               : down > right ? down
                                              : right;
            }
        for (i = k = 0; i < mid->n && k < mid->m;) {
            if (slice_eq(mid->a[i], mid->b[k])) {
                hunks_add_hunk_line(d, ' ', 0, mid->a[i++]);
                k++;
            } else if (t[(i + 1) * w + k] >= t[i * w + k + 1]) {
                hunks_add_hunk_line(d, '-', 0, mid->a[i++]);
            } else {
                hunks_add_hunk_line(d, '+', 0, mid->b[k++]);
            }
        }
        free(t);
    }

    /* Without a table this is everything, otherwise what is left of one side. */
    hunks_add_all(d, '-', mid->a + i, mid->n - i);
    hunks_add_all(d, '+', mid->b + k, mid->m - k);
}

void hunks_of_texts(struct hunks *d, struct slice before, struct slice after)
{
    struct lines a = { 0 }, b = { 0 };

    if (d->n > 0)
        hunks_add_hunk_line(d, '@', 0, SLICE(""));
    if (hunks_split(before, &a) && hunks_split(after, &b)) {
        size_t same = 0, end = 0;
        size_t least = a.n < b.n ? a.n : b.n;

        while (same < least && slice_eq(a.line[same], b.line[same]))
            same++;
        while (end < least - same && slice_eq(a.line[a.n - 1 - end], b.line[b.n - 1 - end]))
            end++;
        struct middle mid = { a.line + same, b.line + same, a.n - same - end, b.n - same - end };
        size_t from = same > CONTEXT ? same - CONTEXT : 0;

        hunks_add_all(d, ' ', a.line + from, same - from);
        add_middle(d, &mid);
        hunks_add_all(d, ' ', a.line + a.n - end, end > CONTEXT ? CONTEXT : end);
    } else
        d->rc = ERR_NOMEM;
    free(a.line);
    free(b.line);
}

void hunks_of_diff(struct hunks *d, const struct linediff *diff, size_t hunk)
{
    const struct linediff_hunk *h = &diff->hunk[hunk];
    char *head = arena_format(&d->arena, "@@ -%u,%u +%u,%u @@", h->old_start, h->old_lines,
                              h->new_start, h->new_lines);

    if (!head) {
        d->rc = ERR_NOMEM;
        return;
    }
    hunks_add_hunk_line(d, '@', 0, slice_of(head));
    for (size_t i = h->first; i < h->first + h->n; i++) {
        const struct linediff_line *l = &diff->line[i];

        hunks_add_hunk_line(d, l->sign, l->sign == '-' ? l->old_line : l->new_line, l->text);
        if (l->no_newline)
            hunks_add_hunk_line(d, '\\', 0, SLICE("no newline at the end"));
    }
}
