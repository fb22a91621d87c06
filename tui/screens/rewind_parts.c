#include "tui/screens/rewind_draw.h"

#include "tui/screens/flow.h"
#include "tui/spinner.h"

/* What the panes of the rewind view are drawn with. */

int rewind_put_right(struct frame *f, int y, int end, enum style style, const char *text)
{
    int x = end - frame_width(rewind_text(text));

    frame_puts(f, y, x, end - x, style, text);
    return x;
}

int rewind_words_lines(struct slice text, int w)
{
    struct sheet s = { 0 };
    struct flow flow = { .sheet = &s, .width = w - 1, .mode = FLOW_WORDS };

    if (w < 4)
        return 0;
    flow_begin(&flow);
    flow_text(&flow, STYLE_TEXT, text);
    flow_end(&flow);
    int lines = (int)s.n;

    sheet_fini(&s);
    return lines;
}

int rewind_put_words(struct frame *f, struct rect r, enum style style, struct slice text)
{
    struct sheet s = { 0 };
    struct flow flow = { .sheet = &s, .width = r.w - 1, .mode = FLOW_WORDS };
    int lines;

    if (r.w < 4 || r.h < 1)
        return 0;
    flow_begin(&flow);
    flow_text(&flow, style, text);
    flow_end(&flow);
    lines = (int)s.n < r.h ? (int)s.n : r.h;
    for (int i = 0; i < lines; i++)
        sheet_draw_line(&s, (size_t)i, f, r.y + i, r.x, r.w);
    if (s.n > (size_t)lines)
        frame_puts(f, r.y + lines - 1, r.x + r.w - 1, 1, style, f->ascii ? "~" : "…");
    sheet_fini(&s);
    return lines;
}

void rewind_select_line(const struct rewind_view *v, enum rewind_pane pane, struct frame *f,
                        struct rect r)
{
    frame_puts(f, r.y, r.x, 1, v->pane == pane ? STYLE_KEY : STYLE_BORDER, f->ascii ? ">" : "▌");
    if (v->pane != pane)
        return;
    frame_select(f, r);
    f->cursor_y = r.y;
    f->cursor_x = r.x;
}

void rewind_draw_spinner(const struct rewind_view *v, struct frame *f, struct rect r,
                         const char *text)
{
    if (!rewind_is_slow(v) || r.h < 1)
        return;
    frame_puts(f, r.y, r.x + 2, 1, STYLE_KEY, spinner_sign(v->now_ms, f->ascii));
    frame_puts(f, r.y, r.x + 4, r.w - 4, STYLE_DIM, text);
}
