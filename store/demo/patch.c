#include "store/demo/patch.h"

enum { CONTEXT = 3 };

/* Line number i from 0, without its newline; false past the end. */
static bool nth_line(struct slice text, size_t i, struct slice *line)
{
    bool torn;

    for (;; i--) {
        if (!slice_line(&text, line, &torn))
            return false;
        if (i == 0)
            return true;
    }
}

static size_t count_lines(struct slice text)
{
    struct slice line;
    bool torn;
    size_t n = 0;

    while (slice_line(&text, &line, &torn))
        n++;
    return n;
}

/* Lines that are the same at the front, and behind that at the end. */
struct common {
    size_t head, tail;
};

static struct common common_lines(struct slice a, size_t na, struct slice b, size_t nb)
{
    struct common c = { 0, 0 };
    struct slice x, y;
    size_t most = na < nb ? na : nb;

    while (c.head < most && nth_line(a, c.head, &x) && nth_line(b, c.head, &y) && slice_eq(x, y))
        c.head++;
    most -= c.head;
    while (c.tail < most && nth_line(a, na - 1 - c.tail, &x) && nth_line(b, nb - 1 - c.tail, &y) &&
           slice_eq(x, y))
        c.tail++;
    return c;
}

/* Lines [from, to) of a text, each with its sign in front. */
static void write_lines(struct jsonout *j, char sign, struct slice text, size_t from, size_t to)
{
    struct slice line;

    for (size_t i = from; i < to && nth_line(text, i, &line); i++) {
        struct buf signed_line = { 0 };

        if (buf_add_byte(&signed_line, sign) || buf_add(&signed_line, line))
            j->rc = ERR_NOMEM;
        else
            jsonout_text(j, buf_slice(&signed_line));
        buf_fini(&signed_line);
    }
}

static void member_count(struct jsonout *j, const char *key, size_t n)
{
    jsonout_key(j, key);
    jsonout_int(j, (int64_t)n);
}

void patch_write(struct jsonout *j, struct slice before, struct slice after)
{
    size_t na = count_lines(before), nb = count_lines(after);
    struct common c = common_lines(before, na, after, nb);
    size_t from = c.head > CONTEXT ? c.head - CONTEXT : 0;
    size_t more = c.tail > CONTEXT ? CONTEXT : c.tail;

    jsonout_open(j, '[');
    if (c.head + c.tail < na || c.head + c.tail < nb) {
        jsonout_open(j, '{');
        member_count(j, "oldStart", from + 1);
        member_count(j, "oldLines", na - c.tail + more - from);
        member_count(j, "newStart", from + 1);
        member_count(j, "newLines", nb - c.tail + more - from);
        jsonout_key(j, "lines");
        jsonout_open(j, '[');
        write_lines(j, ' ', before, from, c.head);
        write_lines(j, '-', before, c.head, na - c.tail);
        write_lines(j, '+', after, c.head, nb - c.tail);
        write_lines(j, ' ', before, na - c.tail, na - c.tail + more);
        jsonout_close(j, ']');
        jsonout_close(j, '}');
    }
    jsonout_close(j, ']');
}
