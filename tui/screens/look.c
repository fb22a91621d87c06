#include "tui/screens/look.h"

#include <stdio.h>

#include "tui/clean.h"

static const struct signs unicode = {
    .prompt = "❯ ",
    .answer = "● ",
    .closed = "▸ ",
    .open = "▾ ",
    .ok = "✓",
    .failed = "✗",
    .none = "·",
    .ellipsis = "…",
    .branch = "⑂ ",
    .note = "· ",
    .thinking = "∴ ",
    .cut = "⋯ ",
};

static const struct signs ascii = {
    .prompt = "> ",
    .answer = "* ",
    .closed = "+ ",
    .open = "- ",
    .ok = "ok",
    .failed = "failed",
    .none = "-",
    .ellipsis = "~",
    .branch = "Y ",
    .note = ". ",
    .thinking = "? ",
    .cut = "~ ",
};

const struct signs *signs_for(bool in_ascii)
{
    return in_ascii ? &ascii : &unicode;
}

static void skip_noise(struct clean *c)
{
    for (size_t n; (n = clean_noise(c->text, c->at)) > 0;)
        c->at += n;
}

/* Appends clusters while they fit; answers the columns, and where it stopped. */
static int take(struct buf *out, struct clean *c, int cols)
{
    struct glyph g;
    int used = 0;

    skip_noise(c);
    for (size_t cluster; (cluster = clean_cluster_width(c)) > 0 && used + (int)cluster <= cols;) {
        for (size_t done = 0; done < cluster && clean_next(c, &g); done += g.width)
            if (buf_add(out, (struct slice){ g.bytes, g.len }))
                return used;
        used += (int)cluster;
        skip_noise(c);
    }
    return used;
}

static int put_ellipsis(const struct look *look, struct buf *out)
{
    const char *text = look->signs->ellipsis;

    return buf_add(out, slice_of(text)) ? 0 : 1;
}

int look_cut(const struct look *look, struct buf *out, struct slice text, int cols)
{
    struct clean c;

    if (cols <= 0)
        return 0;
    clean_begin(&c, text);
    size_t before = out->n;
    int used = take(out, &c, cols);

    if (c.at == text.n)
        return used;
    out->n = before;
    clean_begin(&c, text);
    used = take(out, &c, cols - 1);
    return used + put_ellipsis(look, out);
}

int look_cut_front(const struct look *look, struct buf *out, struct slice text, int cols)
{
    size_t total = clean_width(text);
    struct clean c;
    struct glyph g;

    if (cols <= 0)
        return 0;
    clean_begin(&c, text);
    if (total <= (size_t)cols)
        return take(out, &c, cols);
    while (total > (size_t)cols - 1) {
        size_t cluster = clean_cluster_width(&c);

        for (size_t done = 0; done < cluster && clean_next(&c, &g); done += g.width)
            ;
        total -= cluster;
    }
    int used = put_ellipsis(look, out);

    return used + take(out, &c, cols - 1);
}

struct slice look_path(const struct look *look, struct slice path)
{
    struct slice root = look->root;

    if (root.n > 1 && path.n > root.n + 1 && memcmp(path.p, root.p, root.n) == 0 &&
        path.p[root.n] == '/')
        return (struct slice){ path.p + root.n + 1, path.n - root.n - 1 };
    return path;
}

void look_more(struct sheet *s, const struct look *look, size_t lines)
{
    char text[96];
    struct line stamp = s->stamp;

    if (lines)
        snprintf(text, sizeof text, "    %s %zu more line%s", look->signs->ellipsis, lines,
                 lines == 1 ? "" : "s");
    else
        snprintf(text, sizeof text, "    %s less", look->signs->ellipsis);
    s->stamp.part = PART_MORE;
    s->stamp.foldable = true;
    sheet_text(s, STYLE_DIM, text);
    s->stamp = stamp;
}

void look_size(int64_t bytes, char out[LOOK_SIZE])
{
    static const char *const units[] = { "B", "KB", "MB", "GB", "TB" };
    double n = (double)bytes;
    size_t unit = 0;

    while (n >= 1024 && unit + 1 < sizeof units / sizeof units[0]) {
        n /= 1024;
        unit++;
    }
    snprintf(out, LOOK_SIZE, n < 10 && unit > 0 ? "%.1f %s" : "%.0f %s", n, units[unit]);
}
