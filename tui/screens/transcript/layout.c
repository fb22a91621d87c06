#include "tui/screens/transcript/layout.h"

#include <stdio.h>

#include "tui/text/clean.h"

static const struct layout_glyphs unicode = {
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

static const struct layout_glyphs ascii = {
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

const struct layout_glyphs *layout_glyphs_for(bool in_ascii)
{
    return in_ascii ? &ascii : &unicode;
}

static void skip_noise(struct clean *c)
{
    for (size_t n; (n = clean_noise(c->text, c->at)) > 0;)
        c->at += n;
}

/* Appends clusters while they fit; answers the columns, and where it stopped. */
static int append_clusters(struct buf *out, struct clean *c, int cols)
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

static int append_ellipsis(const struct layout_options *look, struct buf *out)
{
    const char *text = look->glyphs->ellipsis;

    return buf_add(out, slice_of(text)) ? 0 : 1;
}

int layout_cut(const struct layout_options *look, struct buf *out, struct slice text, int cols)
{
    struct clean c;

    if (cols <= 0)
        return 0;
    clean_begin(&c, text);
    size_t before = out->n;
    int used = append_clusters(out, &c, cols);

    if (c.at == text.n)
        return used;
    out->n = before;
    clean_begin(&c, text);
    used = append_clusters(out, &c, cols - 1);
    return used + append_ellipsis(look, out);
}

int layout_cut_front(const struct layout_options *look, struct buf *out, struct slice text,
                     int cols)
{
    size_t total = clean_width(text);
    struct clean c;
    struct glyph g;

    if (cols <= 0)
        return 0;
    clean_begin(&c, text);
    if (total <= (size_t)cols)
        return append_clusters(out, &c, cols);
    while (total > (size_t)cols - 1) {
        size_t cluster = clean_cluster_width(&c);

        for (size_t done = 0; done < cluster && clean_next(&c, &g); done += g.width)
            ;
        total -= cluster;
    }
    int used = append_ellipsis(look, out);

    return used + append_clusters(out, &c, cols - 1);
}

struct slice layout_path(const struct layout_options *look, struct slice path)
{
    struct slice root = look->root;

    if (root.n > 1 && path.n > root.n + 1 && memcmp(path.p, root.p, root.n) == 0 &&
        path.p[root.n] == '/')
        return (struct slice){ path.p + root.n + 1, path.n - root.n - 1 };
    return path;
}

void layout_more(struct styled_text *s, const struct layout_options *look, size_t lines)
{
    char text[96];
    struct line stamp = s->stamp;

    if (lines)
        snprintf(text, sizeof text, "    %s %zu more line%s", look->glyphs->ellipsis, lines,
                 lines == 1 ? "" : "s");
    else
        snprintf(text, sizeof text, "    %s less", look->glyphs->ellipsis);
    s->stamp.part = PART_MORE;
    s->stamp.foldable = true;
    styled_text_add(s, STYLE_DIM, text);
    s->stamp = stamp;
}

void layout_size(int64_t bytes, char out[LAYOUT_SIZE_TEXT])
{
    static const char *const units[] = { "B", "KB", "MB", "GB", "TB" };
    double n = (double)bytes;
    size_t unit = 0;

    while (n >= 1024 && unit + 1 < sizeof units / sizeof units[0]) {
        n /= 1024;
        unit++;
    }
    snprintf(out, LAYOUT_SIZE_TEXT, n < 10 && unit > 0 ? "%.1f %s" : "%.0f %s", n, units[unit]);
}
