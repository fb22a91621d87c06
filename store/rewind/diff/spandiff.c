#include "store/rewind/diff/spandiff.h"

#include <stdlib.h>
#include <string.h>

#include "store/rewind/diff/linediff.h"
#include "store/rewind/plan/source.h"

enum { PIECE = 1 << 18, BINARY_LOOK = 8000 /* as in linediff.c */ };

struct pair {
    const struct span *side[2];
    char *piece[2];
    int64_t begin;  /* of the middle, in both; at the start of a line */
    int64_t end[2]; /* of the middle; at the start of a line, or of nothing */
};

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static enum err_code read_both(struct pair *p, int64_t first, int64_t second, size_t n,
                               struct err *e)
{
    enum err_code rc = span_read(p->side[0], first, p->piece[0], n, e);

    return rc ? rc : span_read(p->side[1], second, p->piece[1], n, e);
}

static size_t equal_front(const struct pair *p, size_t n)
{
    size_t i = 0;

    if (memcmp(p->piece[0], p->piece[1], n) == 0)
        return n;
    while (p->piece[0][i] == p->piece[1][i])
        i++;
    return i;
}

static size_t equal_back(const struct pair *p, size_t n)
{
    size_t i = 0;

    if (memcmp(p->piece[0], p->piece[1], n) == 0)
        return n;
    while (p->piece[0][n - 1 - i] == p->piece[1][n - 1 - i])
        i++;
    return i;
}

/* The whole lines that both begin with. */
static enum err_code skip_front(struct pair *p, struct err *e)
{
    int64_t both = smaller(p->side[0]->n, p->side[1]->n), at = 0;
    size_t n, same;

    do {
        n = (size_t)smaller(both - at, PIECE);
        enum err_code rc = read_both(p, at, at, n, e);

        if (rc)
            return rc;
        same = equal_front(p, n);
        const char *newline = same ? memrchr(p->piece[0], '\n', same) : NULL;

        if (newline)
            p->begin = at + (newline - p->piece[0]) + 1;
        at += (int64_t)same;
    } while (n && same == n);
    return ERR_OK;
}

static enum err_code starts_line(struct pair *p, int side, int64_t at, bool *yes, struct err *e)
{
    char before = '\n';
    enum err_code rc = at > p->begin ? span_read(p->side[side], at - 1, &before, 1, e) : ERR_OK;

    *yes = before == '\n';
    return rc;
}

/* Forward from where both are equal to the start of the next line. */
static enum err_code to_line_start(struct pair *p, struct err *e)
{
    bool first, second;
    enum err_code rc = starts_line(p, 0, p->end[0], &first, e);

    if (!rc)
        rc = starts_line(p, 1, p->end[1], &second, e);
    if (rc || (first && second))
        return rc;
    for (;;) {
        size_t n = (size_t)smaller(p->side[0]->n - p->end[0], PIECE);

        if (n == 0)
            return ERR_OK;
        rc = span_read(p->side[0], p->end[0], p->piece[0], n, e);
        if (rc)
            return rc;
        const char *newline = memchr(p->piece[0], '\n', n);
        int64_t step = newline ? newline - p->piece[0] + 1 : (int64_t)n;

        p->end[0] += step;
        p->end[1] += step;
        if (newline)
            return ERR_OK;
    }
}

/* The whole lines that both end with. */
static enum err_code skip_back(struct pair *p, struct err *e)
{
    size_t n, same;

    p->end[0] = p->side[0]->n;
    p->end[1] = p->side[1]->n;
    do {
        n = (size_t)smaller(smaller(p->end[0], p->end[1]) - p->begin, PIECE);
        enum err_code rc = read_both(p, p->end[0] - (int64_t)n, p->end[1] - (int64_t)n, n, e);

        if (rc)
            return rc;
        same = equal_back(p, n);
        p->end[0] -= (int64_t)same;
        p->end[1] -= (int64_t)same;
    } while (n && same == n);
    return to_line_start(p, e);
}

static enum err_code look_binary(const struct span *s, bool *binary, struct err *e)
{
    char front[BINARY_LOOK];
    size_t n = (size_t)smaller(s->n, BINARY_LOOK);
    enum err_code rc = span_read(s, 0, front, n, e);

    if (!rc)
        *binary |= memchr(front, '\0', n) != NULL;
    return rc;
}

static enum err_code count_lines(struct pair *p, int side, unsigned *lines, struct err *e)
{
    char last = '\n';

    *lines = 0;
    for (int64_t at = p->begin; at < p->end[side];) {
        size_t n = (size_t)smaller(p->end[side] - at, PIECE);
        enum err_code rc = span_read(p->side[side], at, p->piece[0], n, e);

        if (rc)
            return rc;
        for (const char *c = p->piece[0], *end = c + n; (c = memchr(c, '\n', (size_t)(end - c)));)
            *lines += 1, c++;
        last = p->piece[0][n - 1];
        at += (int64_t)n;
    }
    *lines += last != '\n';
    return ERR_OK;
}

static enum err_code read_middle(const struct pair *p, int side, struct buf *out, struct err *e)
{
    size_t n = (size_t)(p->end[side] - p->begin);

    if (buf_reserve(out, n + 1))
        return err_nomem(e);
    out->n = n;
    return span_read(p->side[side], p->begin, out->p, n, e);
}

static enum err_code count_middle(struct pair *p, unsigned *insertions, unsigned *deletions,
                                  struct err *e)
{
    struct buf text[2] = { 0 };
    bool binary;

    if (p->end[0] - p->begin > SOURCE_CONTENT_HELD_MAX ||
        p->end[1] - p->begin > SOURCE_CONTENT_HELD_MAX) {
        enum err_code rc = count_lines(p, 0, deletions, e);

        return rc ? rc : count_lines(p, 1, insertions, e);
    }
    enum err_code rc = read_middle(p, 0, &text[0], e);

    if (!rc)
        rc = read_middle(p, 1, &text[1], e);
    if (!rc)
        rc = linediff_count(buf_slice(&text[0]), buf_slice(&text[1]), insertions, deletions,
                            &binary, e);
    buf_fini(&text[0]);
    buf_fini(&text[1]);
    return rc;
}

enum err_code spandiff_count(const struct span *before, const struct span *after,
                             unsigned *insertions, unsigned *deletions, bool *binary, struct err *e)
{
    struct pair p = { .side = { before, after }, .piece = { malloc(PIECE), malloc(PIECE) } };
    enum err_code rc = p.piece[0] && p.piece[1] ? ERR_OK : err_nomem(e);

    *binary = false;
    if (!rc)
        rc = look_binary(before, binary, e);
    if (!rc)
        rc = look_binary(after, binary, e);
    if (!rc)
        rc = skip_front(&p, e);
    if (!rc)
        rc = skip_back(&p, e);
    if (!rc)
        rc = count_middle(&p, insertions, deletions, e);
    free(p.piece[0]);
    free(p.piece[1]);
    return rc;
}
