#include "tui/screens/transcript/layout.h"

#include <stdio.h>

#include "tui/text/clean.h"
#include "tui/text/human.h"

static const struct layout_glyphs unicode = {
    .prompt = "❯ ",
    .answer = "● ",
    .closed = "▸ ",
    .open = "▾ ",
    .ok = "✓",
    .failed = "✗",
    .none = "·",
    .ellipsis = "…",
    .branch = "↳ ",
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

/* Appends clusters while they fit; returns the columns, and where it stopped. */
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
    return used + !buf_add(out, slice_of(look->glyphs->ellipsis));
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
    int used = !buf_add(out, slice_of(look->glyphs->ellipsis));

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

static void add_fold_line(struct styled_text *s, const struct layout_options *look,
                          enum line_part part, const char *says)
{
    char text[96];
    struct line stamp = s->stamp;

    snprintf(text, sizeof text, "    %s %s%s%s", look->glyphs->ellipsis, says,
             look->unfold[0] ? ": " : "", look->unfold);
    s->stamp.part = (uint8_t)part;
    s->stamp.foldable = true;
    styled_text_add(s, STYLE_DIM, text);
    s->stamp = stamp;
}

void layout_hidden(struct styled_text *s, const struct layout_options *look, enum line_part part,
                   size_t lines, size_t bytes)
{
    char says[64], size[LAYOUT_SIZE_TEXT];
    const char *words[] = { "more", "above" };
    const char *where = words[part == PART_EARLIER];

    layout_size((int64_t)bytes, size);
    if (lines < LAYOUT_LEAST_HIDDEN && bytes)
        snprintf(says, sizeof says, "%s %s", size, where);
    else if (part == PART_EARLIER)
        snprintf(says, sizeof says, "%zu lines %s", lines, where);
    else
        snprintf(says, sizeof says, "%zu %s line%s", lines, where, lines == 1 ? "" : "s");
    add_fold_line(s, look, part, says);
}

void layout_less(struct styled_text *s, const struct layout_options *look)
{
    add_fold_line(s, look, PART_MORE, "less");
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

void layout_usage(const struct usage_sum *sum, char out[LAYOUT_USAGE_TEXT])
{
    static const struct {
        enum usage_kind kind;
        const char *word;
    } kinds[USAGE_KINDS] = { { USAGE_INPUT, "in" },
                             { USAGE_OUTPUT, "out" },
                             { USAGE_CACHE_READ, "cached" },
                             { USAGE_CACHE_WRITE, "written" } };
    char count[HUMAN_COUNT];
    size_t n = 0;

    out[0] = '\0';
    for (size_t i = 0; i < USAGE_KINDS; i++) {
        human_count(sum->tokens[kinds[i].kind], count);
        if (sum->tokens[kinds[i].kind])
            n += (size_t)snprintf(out + n, LAYOUT_USAGE_TEXT - n, "%s%s %s", n ? ", " : "", count,
                                  kinds[i].word);
    }
    if (sum->has_cost && sum->cost > 0)
        snprintf(out + n, LAYOUT_USAGE_TEXT - n, sum->cost < 0.995 ? "%s$%.4f%s" : "%s$%.2f%s",
                 n ? ", " : "", sum->cost, sum->unpriced ? "+" : "");
}
