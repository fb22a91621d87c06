#include "tui/screens/rewind/rewind_draw.h"

#include "tui/widgets/spinner.h"

/* What the panes of the rewind view are drawn with. */

int rewind_draw_right(struct frame *f, int y, int end, enum style style, const char *text)
{
    int x = end - frame_width(slice_of(text));

    frame_puts(f, y, x, end - x, style, text);
    return x;
}

void rewind_select_line(const struct rewind_view *v, enum rewind_pane pane, struct frame *f,
                        struct rect r)
{
    if (v->pane == pane)
        frame_point(f, r);
    else
        frame_puts(f, r.y, r.x, 1, STYLE_BORDER, f->ascii ? ">" : "▌");
}

void rewind_draw_spinner(const struct rewind_view *v, struct frame *f, struct rect r,
                         const char *text)
{
    if (!rewind_is_slow(v) || r.h < 1)
        return;
    frame_puts(f, r.y, r.x + 2, 1, STYLE_KEY, spinner_sign(v->now_ms, f->ascii));
    frame_puts(f, r.y, r.x + 4, r.w - 4, STYLE_DIM, text);
}
