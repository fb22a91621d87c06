#include "tui/widgets/box.h"

static void draw_edge(struct frame *f, int y, int x, int w, const char *left, const char *right)
{
    frame_puts(f, y, x, 1, STYLE_BORDER, left);
    for (int i = 1; i < w - 1; i++)
        frame_puts(f, y, x + i, 1, STYLE_BORDER, f->ascii ? "-" : "─");
    frame_puts(f, y, x + w - 1, 1, STYLE_BORDER, right);
}

struct rect box_draw(struct frame *f, int h, int w, struct slice title)
{
    h = h + 2 > f->rows ? f->rows : h + 2;
    w = w + 4 > f->cols ? f->cols : w + 4;
    struct rect r = { (f->rows - h) / 2, (f->cols - w) / 2, h, w };
    const char *side = f->ascii ? "|" : "│";

    frame_fill(f, r, STYLE_TEXT);
    draw_edge(f, r.y, r.x, w, f->ascii ? "+" : "╭", f->ascii ? "+" : "╮");
    draw_edge(f, r.y + h - 1, r.x, w, f->ascii ? "+" : "╰", f->ascii ? "+" : "╯");
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
