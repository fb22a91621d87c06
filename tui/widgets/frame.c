#include "tui/widgets/frame.h"

#include <assert.h>
#include <stdlib.h>

#include "lite/base/buf.h"
#include "lite/base/cleanup.h"
#include "tui/text/clean.h"

enum { SIZE_LIMIT = 1000 };

static_assert((int)CELL_BYTES >= (int)GLYPH_BYTES, "a glyph fits into a cell");

static const struct cell blank = { .bytes = " ", .len = 1, .width = 1, .style = STYLE_TEXT };

bool frame_init(struct frame *f, int rows, int cols, bool ascii)
{
    *f = (struct frame){ .cursor_y = -1, .cursor_x = -1, .ascii = ascii };
    if (rows <= 0 || cols <= 0 || rows > SIZE_LIMIT || cols > SIZE_LIMIT)
        return false;
    f->cell = malloc((size_t)rows * (size_t)cols * sizeof *f->cell);
    if (!f->cell)
        return false;
    f->rows = rows;
    f->cols = cols;
    frame_clear(f);
    return true;
}

void frame_fini(struct frame *f)
{
    free(f->cell);
    *f = (struct frame){ .cursor_y = -1, .cursor_x = -1 };
}

void frame_clear(struct frame *f)
{
    for (int i = 0; i < f->rows * f->cols; i++)
        f->cell[i] = blank;
    f->cursor_y = f->cursor_x = -1;
}

static struct cell *cell_at(struct frame *f, int y, int x)
{
    return &f->cell[y * f->cols + x];
}

/* A write to [x, x+w) may cut a wide cluster in two; its other half becomes a blank. */
static void free_halves(struct frame *f, int y, int x, int w)
{
    struct cell *first = cell_at(f, y, x);

    if (first->width == 0 && x > 0) {
        uint8_t style = first[-1].style, selected = first[-1].selected;

        first[-1] = blank;
        first[-1].style = style;
        first[-1].selected = selected;
    }
    if (x + w < f->cols && cell_at(f, y, x + w)->width == 0) {
        struct cell *rest = cell_at(f, y, x + w);
        uint8_t style = rest->style, selected = rest->selected;

        *rest = blank;
        rest->style = style;
        rest->selected = selected;
    }
}

static void put_cell(struct frame *f, int y, int x, enum style style, const struct glyph *g)
{
    free_halves(f, y, x, g->width);
    struct cell *c = cell_at(f, y, x);
    uint8_t selected = c->selected;

    *c = (struct cell){
        .len = g->len, .width = g->width, .style = (uint8_t)style, .selected = selected
    };
    memcpy(c->bytes, g->bytes, g->len);
    if (g->width == 2)
        c[1] = (struct cell){ .style = (uint8_t)style, .selected = c[1].selected };
}

/* Clips [x, x+w) in row y to the frame. Returns false if nothing is left. Text that would begin
 * left of the frame is not drawn at all: who scrolls sideways calls frame_text_from. */
static bool clip(const struct frame *f, int y, int x, int *w)
{
    if (y < 0 || y >= f->rows || x < 0 || x >= f->cols || *w <= 0)
        return false;
    if (*w > f->cols - x)
        *w = f->cols - x;
    return true;
}

int frame_text(struct frame *f, int y, int x, int w, enum style style, struct slice text)
{
    struct clean c;
    struct glyph g;
    int used = 0;

    if (!clip(f, y, x, &w))
        return 0;
    clean_begin(&c, text);
    for (size_t cluster; (cluster = clean_cluster_width(&c)) > 0;) {
        if (cluster > (size_t)(w - used))
            break;
        for (size_t done = 0; done < cluster && clean_next(&c, &g); done += g.width) {
            if (g.kind == GLYPH_SIGN) {
                /* A sign is ASCII: one column per byte. */
                for (int i = 0; i < g.width; i++) {
                    struct glyph one = { .bytes = { g.bytes[i] }, .len = 1, .width = 1 };

                    put_cell(f, y, (x + used) + i, style, &one);
                }
            } else
                put_cell(f, y, (x + used), style, &g);
            used += g.width;
        }
    }
    return used;
}

static struct slice ellipsis(const struct frame *f)
{
    return f->ascii ? SLICE("~") : SLICE("…");
}

/* Returns true if the text takes more than w columns; reads no further than necessary. */
static bool is_wider(struct slice text, size_t w)
{
    struct clean c;
    struct glyph g;
    size_t width = 0;

    clean_begin(&c, text);
    while (width <= w && clean_next(&c, &g))
        width += g.width;
    return width > w;
}

int frame_text_cut(struct frame *f, int y, int x, int w, enum style style, struct slice text)
{
    if (!clip(f, y, x, &w))
        return 0;
    if (!is_wider(text, (size_t)w))
        return frame_text(f, y, x, w, style, text);
    int used = frame_text(f, y, x, w - 1, style, text);

    return used + frame_text(f, y, x + used, 1, style, ellipsis(f));
}

/* The longest end of the text, in whole clusters, that takes at most w of its `total` columns. */
static struct slice text_end(struct slice text, size_t total, size_t w)
{
    struct clean c;
    struct glyph g;

    clean_begin(&c, text);
    while (total > w) {
        size_t cluster = clean_cluster_width(&c);

        for (size_t done = 0; done < cluster && clean_next(&c, &g); done += g.width)
            ;
        total -= cluster;
    }
    return (struct slice){ text.p + c.at, text.n - c.at };
}

int frame_text_middle(struct frame *f, int y, int x, int w, enum style style, struct slice text)
{
    if (!clip(f, y, x, &w))
        return 0;
    size_t total = clean_width(text);

    if (total <= (size_t)w)
        return frame_text(f, y, x, w, style, text);
    int front = (w - 1) / 2;
    int used = frame_text(f, y, x, front, style, text);

    used += frame_text(f, y, x + used, 1, style, ellipsis(f));
    return used +
           frame_text(f, y, x + used, w - used, style, text_end(text, total, (size_t)(w - used)));
}

int frame_text_from(struct frame *f, int y, int x, int w, enum style style, struct slice text,
                    size_t skip)
{
    const size_t total = clean_width(text);

    if (skip == 0 || total == 0 || !clip(f, y, x, &w))
        return frame_text_cut(f, y, x, w, style, text);
    /* A wide cluster at the edge is left out whole: what follows it stays in its column. */
    const struct slice rest = text_end(text, total, skip < total ? total - skip - 1 : 0);
    const int gap = skip < total ? (int)(total - skip - clean_width(rest)) : 1;

    frame_text(f, y, x, 1, style, ellipsis(f));
    return gap + frame_text_cut(f, y, x + gap, w - gap, style, rest);
}

int frame_puts(struct frame *f, int y, int x, int w, enum style style, const char *text)
{
    return frame_text(f, y, x, w, style, slice_of(text));
}

int frame_width(struct slice text)
{
    size_t width = clean_width(text);

    return width > INT32_MAX ? INT32_MAX : (int)width;
}

/* Cuts the rectangle to the frame. */
static struct rect clip_rect(const struct frame *f, struct rect r)
{
    if (r.y < 0) {
        r.h += r.y;
        r.y = 0;
    }
    if (r.x < 0) {
        r.w += r.x;
        r.x = 0;
    }
    if (r.h > f->rows - r.y)
        r.h = f->rows - r.y;
    if (r.w > f->cols - r.x)
        r.w = f->cols - r.x;
    return r;
}

void frame_fill(struct frame *f, struct rect r, enum style style)
{
    struct glyph space = { .bytes = " ", .len = 1, .width = 1 };

    r = clip_rect(f, r);
    for (int y = r.y; y < r.y + r.h; y++)
        for (int x = r.x; x < r.x + r.w; x++) {
            put_cell(f, y, x, style, &space);
            cell_at(f, y, x)->selected = 0;
        }
}

void frame_select(struct frame *f, struct rect r)
{
    r = clip_rect(f, r);
    for (int y = r.y; y < r.y + r.h; y++)
        for (int x = r.x; x < r.x + r.w; x++)
            cell_at(f, y, x)->selected = !cell_at(f, y, x)->bar;
}

void frame_bar(struct frame *f, struct rect r, int64_t n, int64_t most)
{
    static const char *const eighths[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
    const int parts = f->ascii ? 1 : 8;
    int fill = most > 0 ? (int)((double)n / (double)most * r.w * parts + 0.5) : 0;

    fill = n > 0 && fill == 0 ? 1 : fill;
    for (int i = 0; i * parts < fill; i++) {
        const int left = fill - i * parts;

        frame_puts(f, r.y, r.x + i, 1, STYLE_BRANCH,
                   f->ascii        ? "#"
                   : left >= parts ? "█"
                                   : eighths[left]);
        if (r.x + i < f->cols && r.y < f->rows)
            cell_at(f, r.y, r.x + i)->bar = 1;
    }
}

void frame_point(struct frame *f, struct rect r)
{
    frame_puts(f, r.y, r.x, 1, STYLE_KEY, f->ascii ? ">" : "▌");
    frame_select(f, r);
    f->cursor_y = r.y;
    f->cursor_x = r.x;
}

void frame_rule(struct frame *f, int y, int x, int w)
{
    for (int i = 0; i < w; i++)
        frame_puts(f, y, x + i, 1, STYLE_BORDER, f->ascii ? "-" : "─");
}

void frame_edge(struct frame *f, int y, int x, int h)
{
    for (int i = 0; i < h; i++)
        frame_puts(f, y + i, x, 1, STYLE_BORDER, f->ascii ? "|" : "│");
}

int frame_puts_right(struct frame *f, int y, int end, enum style style, const char *text)
{
    int x = end - frame_width(slice_of(text));

    frame_puts(f, y, x, end - x, style, text);
    return x;
}

void frame_scrollbar(struct frame *f, struct rect r, size_t top, size_t n, size_t shown)
{
    if (n <= shown || r.h < 2)
        return;
    int h = (int)((size_t)r.h * shown / n);

    h = h < 1 ? 1 : h;
    int y = (int)((size_t)(r.h - h) * top / (n - shown));

    for (int i = 0; i < h; i++)
        frame_puts(f, r.y + y + i, r.x + r.w - 1, 1, STYLE_BORDER, f->ascii ? "|" : "▐");
}

void frame_style(struct frame *f, struct rect r, enum style style)
{
    r = clip_rect(f, r);
    for (int y = r.y; y < r.y + r.h; y++)
        for (int x = r.x; x < r.x + r.w; x++)
            cell_at(f, y, x)->style = (uint8_t)style;
}

char *frame_dump(const struct frame *f)
{
    struct buf out = { 0 };
    enum err_code rc = ERR_OK;

    for (int y = 0; y < f->rows && !rc; y++) {
        size_t end = out.n;

        for (int x = 0; x < f->cols && !rc; x++) {
            const struct cell *c = &f->cell[y * f->cols + x];

            rc = buf_add(&out, (struct slice){ c->bytes, c->len });
            if (c->len && !(c->len == 1 && c->bytes[0] == ' '))
                end = out.n;
        }
        out.n = end; /* without blanks at the end */
        if (!rc)
            rc = buf_add_byte(&out, '\n');
    }
    if (rc || !buf_cstr(&out))
        buf_fini(&out);
    return out.p;
}

static void frame_draw_edge(struct frame *f, int y, int x, int w, const char *left,
                            const char *right)
{
    frame_puts(f, y, x, 1, STYLE_BORDER, left);
    for (int i = 1; i < w - 1; i++)
        frame_puts(f, y, x + i, 1, STYLE_BORDER, f->ascii ? "-" : "─");
    frame_puts(f, y, x + w - 1, 1, STYLE_BORDER, right);
}

struct rect frame_box(struct frame *f, int h, int w, struct slice title)
{
    h = h + 2 > f->rows ? f->rows : h + 2;
    w = w + 4 > f->cols ? f->cols : w + 4;
    struct rect r = { (f->rows - h) / 2, (f->cols - w) / 2, h, w };
    const char *side = f->ascii ? "|" : "│";

    frame_fill(f, r, STYLE_TEXT);
    frame_draw_edge(f, r.y, r.x, w, f->ascii ? "+" : "╭", f->ascii ? "+" : "╮");
    frame_draw_edge(f, r.y + h - 1, r.x, w, f->ascii ? "+" : "╰", f->ascii ? "+" : "╯");
    for (int y = r.y + 1; y < r.y + h - 1; y++) {
        frame_puts(f, y, r.x, 1, STYLE_BORDER, side);
        frame_puts(f, y, r.x + w - 1, 1, STYLE_BORDER, side);
    }
    if (title.n > 0 && w > 8) {
        int used = frame_text_cut(f, r.y, r.x + 3, w - 6, STYLE_TITLE, title);

        frame_puts(f, r.y, r.x + 2, 1, STYLE_BORDER, " ");
        frame_puts(f, r.y, r.x + 3 + used, 1, STYLE_BORDER, " ");
    }
    return (struct rect){ r.y + 1, r.x + 2, h - 2, w - 4 };
}

enum { MOMENT_MS = 150, TURN_MS = 100 };

const char *frame_spinner_sign(int64_t now_ms, bool ascii)
{
    static const char *const plain[] = { "|", "/", "-", "\\" };
    static const char *const dots[] = { "⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧" };
    uint64_t turn = (uint64_t)now_ms / TURN_MS;

    return ascii ? plain[turn % 4] : dots[turn % 8];
}

bool frame_spinner_shows(int64_t since_ms, int64_t now_ms)
{
    return now_ms - since_ms >= MOMENT_MS;
}

int64_t frame_spinner_wake_ms(int64_t since_ms, int64_t now_ms)
{
    return frame_spinner_shows(since_ms, now_ms) ? now_ms + TURN_MS : since_ms + MOMENT_MS;
}
