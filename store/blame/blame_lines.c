#include "store/blame/blame_text.h"

#include <stdlib.h>
#include <string.h>

#include "lite/base/cleanup.h"
#include "store/rewind/diff/linediff.h"

/* ---- texts and their lines ---- */

enum err_code blame_text_plain(struct slice s, struct buf *b, struct slice *plain)
{
    const char *cr;

    if (slice_starts(s, "\xef\xbb\xbf"))
        s = (struct slice){ s.p + 3, s.n - 3 };
    *plain = s;
    if (!slice_find(s.p, s.n, "\r\n", 2))
        return ERR_OK;
    b->n = 0;
    while ((cr = slice_find(s.p, s.n, "\r\n", 2))) {
        TRY(buf_add(b, (struct slice){ s.p, (size_t)(cr - s.p) }));
        s = (struct slice){ cr + 1, s.n - (size_t)(cr - s.p) - 1 };
    }
    TRY(buf_add(b, s));
    *plain = buf_slice(b);
    return ERR_OK;
}

size_t blame_lines_count(struct slice s)
{
    struct slice line;
    bool torn;
    size_t n = 0;

    while (slice_line(&s, &line, &torn))
        n++;
    return n;
}

size_t blame_lines_begin(struct slice s, size_t at)
{
    const char *nl = at ? memrchr(s.p, '\n', at) : NULL;

    return nl ? (size_t)(nl - s.p) + 1 : 0;
}

size_t blame_lines_end(struct slice s, size_t at)
{
    const char *nl = at < s.n ? memchr(s.p + at, '\n', s.n - at) : NULL;

    return nl ? (size_t)(nl - s.p) + 1 : s.n;
}

/* ---- what replaying may cost ---- */

bool blame_may_become(struct blame_text *t, uint64_t bytes, uint64_t lines)
{
    bool may = bytes <= BLAME_FILE_MAX && lines <= BLAME_LINES_MAX;

    if (!may && t->budget)
        t->budget->stopped = "an edit would make the file too large to be compared by line";
    return may;
}

bool blame_may_spend(struct blame_text *t, uint64_t bytes)
{
    if (!t->budget)
        return true;
    if (!t->budget->left)
        t->budget->stopped = "replaying all of the edits would take too long";
    bool may = t->budget->left > 0;

    t->budget->left -= bytes < t->budget->left ? bytes : t->budget->left;
    return may;
}

/* ---- owners ---- */

/* Adds a missing newline at the end, so that a last line without one compares equal. */
static enum err_code close_line(struct slice *s, struct buf *b)
{
    if (!s->n || s->p[s->n - 1] == '\n')
        return ERR_OK;
    b->n = 0;
    if (buf_add(b, *s) || buf_add_byte(b, '\n'))
        return ERR_NOMEM;
    *s = buf_slice(b);
    return ERR_OK;
}

/* The owners of the lines of `after`: those of the lines of `before` that are still there, else `owner`. */
static void map_owners(const struct linediff *d, const uint32_t *was, size_t was_n, uint32_t *now,
                       size_t now_n, uint32_t owner)
{
    size_t from = 0, to = 0;

    for (size_t i = 0; i <= d->hunks; i++) {
        const struct linediff_hunk *h = i < d->hunks ? &d->hunk[i] : NULL;
        /* A hunk without lines on one side names the line before it. */
        size_t same = h ? (h->old_lines ? h->old_start - 1 : h->old_start) - from : was_n - from;

        for (; same && from < was_n && to < now_n; same--)
            now[to++] = was[from++];
        for (size_t k = 0; h && k < h->new_lines && to < now_n; k++)
            now[to++] = owner;
        from += h ? h->old_lines : 0;
    }
    while (to < now_n)
        now[to++] = owner;
}

/* Two texts that end with a newline, and the lines that they begin and end with in common. */
struct sides {
    struct slice before, after;
    size_t head, tail; /* lines */
};

/* Takes the common lines off the front, then off the end. A diff of the whole texts would be as short, but it may shift
 * a change among equal lines to where it looks best, and so confuse these lines. */
static void trim_sides(struct sides *s)
{
    struct slice *a = &s->before, *b = &s->after;

    while (a->n && b->n) {
        size_t n = blame_lines_end(*a, 0);

        if (n != blame_lines_end(*b, 0) || memcmp(a->p, b->p, n) != 0)
            break;
        *a = (struct slice){ a->p + n, a->n - n };
        *b = (struct slice){ b->p + n, b->n - n };
        s->head++;
    }
    while (a->n && b->n) {
        size_t n = a->n - blame_lines_begin(*a, a->n - 1);

        if (n != b->n - blame_lines_begin(*b, b->n - 1) ||
            memcmp(a->p + a->n - n, b->p + b->n - n, n) != 0)
            break;
        a->n -= n;
        b->n -= n;
        s->tail++;
    }
}

static enum err_code compare_sides(struct sides *s, const uint32_t *was, size_t was_n,
                                   uint32_t *now, size_t now_n, uint32_t owner,
                                   struct blame_text *t, struct err *e)
{
    size_t ends = s->head + s->tail;
    struct linediff d;

    TRY(linediff_make(s->before, s->after, 0, &d, e));
    for (size_t i = 0; i < s->head; i++)
        now[i] = was[i];
    for (size_t i = 1; i <= s->tail; i++)
        now[now_n - i] = was[was_n - i];
    map_owners(&d, s->head ? was + s->head : was, d.binary ? 0 : was_n - ends, now + s->head,
               now_n - ends, owner);
    t->added += d.insertions;
    t->removed += d.deletions;
    linediff_fini(&d);
    return ERR_OK;
}

enum err_code blame_lines_compare(struct slice before, const uint32_t *was, size_t was_n,
                                  struct slice after, uint32_t *now, size_t now_n, uint32_t owner,
                                  struct blame_text *t, struct err *e)
{
    AUTO_BUF a = { 0 };
    AUTO_BUF b = { 0 };
    struct sides s = { .before = before, .after = after };

    NEED(!close_line(&s.before, &a) && !close_line(&s.after, &b));
    trim_sides(&s);
    if (s.after.n && was_n - s.head - s.tail > 1)
        return compare_sides(&s, was, was_n, now, now_n, owner, t, e);

    /* Most edits leave at most one line to be compared, and many are made at a time: they need no
     * diff. */
    size_t i = 0, kept = 0;
    struct slice rest = s.after, line;
    bool torn;

    for (; i < s.head; i++)
        now[i] = was[i];
    for (; slice_line(&rest, &line, &torn) && i < now_n; i++) {
        bool same = !kept && s.before.n && line.n == s.before.n - 1 &&
                    memcmp(line.p, s.before.p, line.n) == 0;

        kept += same;
        now[i] = same ? was[s.head] : owner;
    }
    t->added += now_n - s.head - s.tail - kept;
    t->removed += was_n - s.head - s.tail - kept;
    for (i = 1; i <= s.tail; i++)
        now[now_n - i] = was[was_n - i];

    return ERR_OK;
}
