#include "lite/io/rows.h"

#include <string.h>

#include "lite/base/buf.h"

enum { STEP = 64 << 10 };

/* Makes room for the next piece of a row. If the row is already long, it is given up instead. */
static enum err_code reserve_row_piece(struct buf *row, size_t n, bool *given_up)
{
    bool too_long = row->n + n > ROWS_LINE_MOST;

    *given_up = too_long || buf_reserve(row, n) != ERR_OK;
    return *given_up && !too_long && row->n + n <= ROWS_SPARE ? ERR_NOMEM : ERR_OK;
}

enum err_code rows_forward(const struct file *f, int64_t from, rows_fn *fn, void *arg,
                           struct err *e)
{
    struct buf bytes = { 0 };
    int64_t at = from, end = f->id.size - from > ROWS_MOST ? from + ROWS_MOST : f->id.size;
    bool more = true, skipping = false;
    enum err_code rc = ERR_OK;

    while (!rc && more && at < end) {
        size_t want = end - at < STEP ? (size_t)(end - at) : STEP, got = 0, fresh = bytes.n;
        bool given_up;

        if (reserve_row_piece(&bytes, want, &given_up))
            rc = err_nomem(e);
        if (given_up && !rc) {
            skipping = true;
            bytes.n = fresh = 0;
            continue;
        }
        if (!rc)
            rc = file_read(f, at, bytes.p + fresh, want, &got, e);
        if (rc)
            break;
        at += (int64_t)got;
        bytes.n += got;

        /* Only the new bytes are searched, so that a long row is searched once. */
        struct slice rest = buf_slice(&bytes);
        const char *from_here = bytes.p + fresh, *newline;

        while (more && (newline = memchr(from_here, '\n', (size_t)(rest.p + rest.n - from_here)))) {
            struct slice row = { rest.p, (size_t)(newline - rest.p) };

            more = skipping || fn(row, arg);
            skipping = false;
            from_here = newline + 1;
            rest = (struct slice){ from_here, rest.n - row.n - 1 };
        }
        if (!more)
            break;
        if (skipping)
            rest.n = 0;
        memmove(bytes.p, rest.p, rest.n);
        bytes.n = rest.n;
        if (got < want)
            break;
    }
    if (!rc && more && !skipping && bytes.n && at >= f->id.size)
        fn(buf_slice(&bytes), arg);
    buf_fini(&bytes);
    return rc;
}

/* Where the row that ends at `to` begins; `least` if it is not after that. */
static enum err_code find_row_begin(const struct file *f, int64_t to, int64_t least, int64_t *begin,
                                    struct err *e)
{
    enum { BACK = 8 << 10 };
    char piece[BACK];

    for (*begin = to; *begin > least;) {
        size_t n = *begin - least < BACK ? (size_t)(*begin - least) : BACK, got;
        enum err_code rc = file_read(f, *begin - (int64_t)n, piece, n, &got, e);

        if (rc)
            return rc;
        const char *newline = memrchr(piece, '\n', got);

        *begin -= (int64_t)n;
        if (newline) {
            *begin += newline + 1 - piece;
            return ERR_OK;
        }
    }
    return ERR_OK;
}

enum err_code rows_backward(const struct file *f, int64_t to, rows_fn *fn, void *arg, struct err *e)
{
    struct buf row = { 0 };
    int64_t least = to > ROWS_MOST ? to - ROWS_MOST : 0, begin;
    bool more = true;
    enum err_code rc = ERR_OK;

    while (!rc && more && to > least) {
        char last = '\0';
        size_t got = 0;
        bool given_up;

        rc = file_read(f, to - 1, &last, 1, &got, e);
        to -= last == '\n'; /* that of this row */
        if (!rc)
            rc = find_row_begin(f, to, least, &begin, e);
        if (rc || (begin == least && least > 0))
            break;
        row.n = 0;
        size_t n = (size_t)(to - begin);

        if (reserve_row_piece(&row, n, &given_up))
            rc = err_nomem(e);
        else if (!given_up)
            rc = file_read(f, begin, row.p, n, &row.n, e);
        if (!rc && !given_up)
            more = fn(begin ? buf_slice(&row) : rows_skip_mark(buf_slice(&row)), arg);
        to = begin;
    }
    buf_fini(&row);
    return rc;
}

struct slice rows_skip_mark(struct slice text)
{
    return slice_starts(text, "\xef\xbb\xbf") ? (struct slice){ text.p + 3, text.n - 3 } : text;
}
