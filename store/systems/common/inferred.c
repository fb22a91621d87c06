#include "store/systems/common/inferred.h"

#include <string.h>

#include "lite/base/buf.h"
#include "store/api/edit.h"

/* ---- diffs ---- */

struct patching {
    struct slice rest; /* of the text */
    size_t line;       /* lines of it that were passed */
    struct slice diff;
    bool reverse, fits;
    struct buf out;
};

/* The next line with its line end; empty at the end. */
static struct slice take_line(struct slice *rest)
{
    const char *nl = rest->n ? memchr(rest->p, '\n', rest->n) : NULL;
    struct slice line = { rest->p, nl ? (size_t)(nl - rest->p) + 1 : rest->n };

    rest->p += line.n;
    rest->n -= line.n;
    return line;
}

static bool read_number(struct slice *s, size_t *out)
{
    bool any = false;

    for (*out = 0; s->n && s->p[0] >= '0' && s->p[0] <= '9' && *out < SIZE_MAX / 16; any = true) {
        *out = *out * 10 + (size_t)(s->p[0] - '0');
        *s = (struct slice){ s->p + 1, s->n - 1 };
    }
    return any;
}

/* "-3,2": the first line and their number, which is 1 if it is missing. */
static bool read_range(struct slice *s, char sign, size_t *start, size_t *lines)
{
    while (s->n && s->p[0] != sign)
        *s = (struct slice){ s->p + 1, s->n - 1 };
    if (!s->n)
        return false;
    *s = (struct slice){ s->p + 1, s->n - 1 };
    *lines = 1;
    if (!read_number(s, start))
        return false;
    if (!s->n || s->p[0] != ',')
        return true;
    *s = (struct slice){ s->p + 1, s->n - 1 };
    return read_number(s, lines);
}

static bool pass_lines(struct patching *p, size_t until)
{
    while (p->line < until && p->rest.n) {
        if (buf_add(&p->out, take_line(&p->rest)))
            return false;
        p->line++;
    }
    p->fits = p->fits && p->line == until;
    return true;
}

static bool enter_hunk(struct patching *p, struct slice header)
{
    size_t old, old_n, new, new_n;

    if (!read_range(&header, '-', &old, &old_n) || !read_range(&header, '+', &new, &new_n)) {
        p->fits = false;
        return true;
    }
    size_t start = p->reverse ? new : old, n = p->reverse ? new_n : old_n;

    /* a hunk without lines begins behind the line that it names */
    if (n && start == 0)
        p->fits = false;
    return !p->fits || pass_lines(p, n ? start - 1 : start);
}

/* The line after a sign; a note behind it says that it has no line end. */
static struct slice hunk_text(struct slice *diff, struct slice line)
{
    struct slice text = { line.p + 1, line.n - 1 };

    if (diff->n && diff->p[0] == '\\') {
        take_line(diff);
        if (text.n && text.p[text.n - 1] == '\n')
            text.n--;
    }
    return text;
}

static bool apply_hunk_line(struct patching *p, struct slice line)
{
    char added = p->reverse ? '-' : '+', sign = line.p[0];
    struct slice text = hunk_text(&p->diff, line);

    if (sign == added)
        return !buf_add(&p->out, text);
    p->fits = p->fits && slice_eq(take_line(&p->rest), text);
    p->line++;
    return sign != ' ' || !buf_add(&p->out, text);
}

static bool apply_diff(struct patching *p)
{
    bool ok = true, inside = false;

    while (ok && p->fits && p->diff.n) {
        struct slice line = take_line(&p->diff);

        if (slice_starts(line, "@@")) {
            inside = true;
            ok = enter_hunk(p, line);
        } else if (inside && line.n && strchr(" +-", line.p[0])) {
            ok = apply_hunk_line(p, line);
        } else {
            p->fits = false;
        }
    }
    return ok && (!p->fits || !buf_add(&p->out, p->rest));
}

enum err_code inferred_patch(struct slice text, struct slice diff, bool reverse, struct arena *a,
                             struct slice *out, bool *fits)
{
    struct patching p = { .rest = text, .diff = diff, .reverse = reverse, .fits = true };
    bool ok = apply_diff(&p);

    *fits = ok && p.fits;
    if (*fits) {
        *out = arena_copy(a, buf_slice(&p.out));
        ok = out->p != NULL;
    }
    buf_fini(&p.out);
    return ok ? ERR_OK : ERR_NOMEM;
}

struct hunk {
    size_t line; /* in the file before the edit, from 1 */
    struct buf old_text, new_text;
};

/* Reads the hunk behind its header. Returns false if it is none, or out of memory. */
static bool read_hunk(struct slice header, struct slice *diff, struct hunk *h)
{
    size_t new, n;
    bool ok = slice_starts(header, "@@") && read_range(&header, '-', &h->line, &n) &&
              read_range(&header, '+', &new, &n);

    h->old_text.n = h->new_text.n = 0;
    while (ok && diff->n && strchr(" +-", diff->p[0])) {
        struct slice line = take_line(diff), text = hunk_text(diff, line);

        ok = (line.p[0] == '+' || !buf_add(&h->old_text, text)) &&
             (line.p[0] == '-' || !buf_add(&h->new_text, text));
    }
    return ok;
}

/* Lines without others around them could be anywhere, unless the file is empty. */
static bool add_hunk(const struct hunk *h, struct arena *a, struct edit *out)
{
    struct edit_replacement *list;

    if (!h->old_text.n) {
        out->kind = EDIT_WRITE;
        out->before_known = out->after_known = EDIT_TEXT;
        out->after = arena_copy(a, buf_slice(&h->new_text));
        return h->line == 0 && !out->replacements;
    }
    list = arena_grow(a, (void *)(uintptr_t)out->replacement, out->replacements, sizeof *list);
    if (!list || out->kind == EDIT_WRITE)
        return false;
    list[out->replacements++] =
        (struct edit_replacement){ .old_text = arena_copy(a, buf_slice(&h->old_text)),
                                   .new_text = arena_copy(a, buf_slice(&h->new_text)),
                                   .next = true,
                                   .line = h->line };
    out->replacement = list;
    return true;
}

void inferred_edit(struct slice diff, struct arena *a, struct edit *out)
{
    struct edit edit = *out;
    struct hunk h = { .line = 0 };
    bool ok = true;

    while (ok && diff.n)
        ok = read_hunk(take_line(&diff), &diff, &h) && add_hunk(&h, a, &edit);
    buf_fini(&h.old_text);
    buf_fini(&h.new_text);
    if (ok)
        *out = edit;
}

/* ---- commands ---- */

bool inferred_only_reads(struct slice command)
{
    static const char *const readers[] = { "ls",  "cat",  "head", "tail", "wc",
                                           "pwd", "grep", "file", "stat" };
    size_t word = 0;

    for (size_t i = 0; i < command.n; i++)
        if (!command.p[i] || strchr("<>|;&$`(){}\\\n", command.p[i]))
            return false;
    while (word < command.n && command.p[word] != ' ')
        word++;
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
        if (slice_eq((struct slice){ command.p, word }, slice_of(readers[i])))
            return true;
    return false;
}
