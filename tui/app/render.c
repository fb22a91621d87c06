#include <stdio.h>
#include <string.h>

#include "tui/app/state.h"

enum { ROWS_MIN = 12, COLS_MIN = 50 };

static void draw_too_small(struct frame *f)
{
    char text[80];

    snprintf(text, sizeof text, "%dx%d is too small: reprise needs %dx%d", f->cols, f->rows,
             COLS_MIN, ROWS_MIN);
    frame_puts(f, f->rows / 2, 0, f->cols, STYLE_WARN, text);
    f->cursor_y = f->rows / 2;
    f->cursor_x = 0;
}

static void draw_bottom(const struct model *m, struct frame *f)
{
    struct rect r = { f->rows - 1, 0, 1, f->cols };

    frame_fill(f, r, STYLE_TEXT); /* views may reach down here on the smallest screens */
    if (!toast_draw(&m->toast, f, r) && !pending_change_draw(m, f, r))
        footer_draw(m, f, r);
}

void render(const struct model *m, struct frame *f)
{
    frame_clear(f);
    if (f->rows < ROWS_MIN || f->cols < COLS_MIN) {
        draw_too_small(f);
        return;
    }
    size_t from = m->depth - 1;

    while (from > 0 && view_ops_of(m->stack[from])->overlay)
        from--;
    view_ops_of(m->stack[from])->draw(m, f);
    draw_bottom(m, f);
    for (size_t i = from + 1; i < m->depth; i++)
        view_ops_of(m->stack[i])->draw(m, f);
}
