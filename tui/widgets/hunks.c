#include "tui/widgets/markdown.h"

#include <inttypes.h>
#include <stdio.h>

enum { PAIRED_MAX = 200 };

/* The difference between a removed line and the one that replaces it: [from, to) of each. */
struct change {
    size_t from, old_to, new_to;
};

static bool inside_word(struct slice s, size_t at)
{
    unsigned char c = at < s.n ? (unsigned char)s.p[at] : ' ';

    return c >= 0x80 || c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
           (c >= 'a' && c <= 'z');
}

/* Extended to whole words, so that half a character is never highlighted. If hardly anything is unchanged, nothing is
 * highlighted: the whole line changed. */
static struct change hunks_change_of(struct slice a, struct slice b)
{
    size_t least = a.n < b.n ? a.n : b.n, front = 0, end = 0;

    while (front < least && a.p[front] == b.p[front])
        front++;
    while (front > 0 && inside_word(a, front - 1) &&
           (inside_word(a, front) || inside_word(b, front)))
        front--;
    while (end < least - front && a.p[a.n - 1 - end] == b.p[b.n - 1 - end])
        end++;
    while (end > 0 && inside_word(a, a.n - end) &&
           (inside_word(a, a.n - end - 1) || inside_word(b, b.n - end - 1)))
        end--;
    struct change c = { front, a.n - end, b.n - end };

    if ((front + end) * 4 < least)
        c = (struct change){ 0, 0, 0 };
    return c;
}

/* The line with which a line of the diff is paired, or itself. The k-th of a run of removed lines
 * is paired with the k-th of the added lines after it, if their numbers are equal. */
static size_t partner(const struct hunks *d, size_t at)
{
    size_t first = at, removed = 0, added = 0;

    if (d->line[at].sign != '-' && d->line[at].sign != '+')
        return at;
    while (first > 0 && d->line[first - 1].sign == '+' && at - first < PAIRED_MAX)
        first--;
    while (first > 0 && d->line[first - 1].sign == '-' && at - first < 2 * PAIRED_MAX)
        first--;
    while (first + removed < d->n && d->line[first + removed].sign == '-')
        removed++;
    while (first + removed + added < d->n && d->line[first + removed + added].sign == '+')
        added++;
    if (removed != added || removed > PAIRED_MAX)
        return at;
    return d->line[at].sign == '-' ? at + removed : at - removed;
}

static void wrap_hunk_text(struct text_wrap *f, const struct hunks *d, size_t at)
{
    const struct hunk_line *l = &d->line[at];
    bool added = l->sign == '+';
    enum style plain = added ? STYLE_ADD : STYLE_DELETE;
    enum style strong = added ? STYLE_ADD_WORD : STYLE_DELETE_WORD;
    size_t other = partner(d, at);

    if (other == at) {
        text_wrap_add(f,
                      l->sign == ' '    ? STYLE_TEXT
                      : l->sign == '\\' ? STYLE_DIM
                                        : plain,
                      l->text);
        return;
    }
    struct change c = added ? hunks_change_of(d->line[other].text, l->text)
                            : hunks_change_of(l->text, d->line[other].text);
    size_t to = added ? c.new_to : c.old_to;

    text_wrap_add(f, plain, (struct slice){ l->text.p, c.from });
    text_wrap_add(f, strong, (struct slice){ l->text.p + c.from, to - c.from });
    text_wrap_add(f, plain, (struct slice){ l->text.p + to, l->text.n - to });
}

static void layout_line(struct styled_text *s, const struct hunks_layout_options *how,
                        const struct hunks *d, size_t at)
{
    const struct hunk_line *l = &d->line[at];
    char number[32] = "", sign[4] = { l->sign, ' ' };
    enum style style = l->sign == '+' ? STYLE_ADD : l->sign == '-' ? STYLE_DELETE : STYLE_DIM;
    struct text_wrap f = { .styled_text = s,
                           .width = how->width,
                           .mode = TEXT_WRAP_VERBATIM,
                           .first = how->margin,
                           .rest = how->margin };

    if (l->sign == '@') {
        text_margin_add(&f.first, STYLE_HUNK, l->text.n ? "" : how->ascii ? "..." : "⋯");
        text_wrap_begin(&f);
        text_wrap_add(&f, STYLE_HUNK, l->text);
        text_wrap_break(&f);
        text_wrap_fini(&f);
        return;
    }
    if (l->number > 0)
        snprintf(number, sizeof number, "%4" PRId64 " ", l->number);
    text_margin_add(&f.first, STYLE_DIM, number);
    text_margin_add(&f.first, style, sign);
    text_margin_add(&f.rest, STYLE_DIM, l->number > 0 ? "       " : "  ");
    text_wrap_begin(&f);
    wrap_hunk_text(&f, d, at);

    /* Text that has just ended its line needs no other; an empty line of the diff is a line. */
    if (f.lines == 0 || f.line.width > 0)
        text_wrap_break(&f);
    text_wrap_fini(&f);
}

size_t hunks_layout(struct styled_text *s, const struct hunks_layout_options *how,
                    const struct hunks *d)
{
    size_t left = how->first < d->n ? d->n - how->first : 0;
    size_t n = how->max_lines && left > how->max_lines ? how->max_lines : left;

    if (d->rc)
        s->rc = d->rc;
    for (size_t i = 0; i < n && !s->rc; i++)
        layout_line(s, how, d, how->first + i);
    return left - n;
}
