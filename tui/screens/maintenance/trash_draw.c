#include <stdio.h>
#include <string.h>

#include "tui/app/state.h"
#include "tui/screens/transcript/transcript.h"
#include "tui/text/path.h"
#include "tui/text/size.h"
#include "tui/text/when.h"

enum { AGE_W = 8, SIZE_W = 9, PLACE_MAX = 40, PLACE_COLS = 90, BESIDE_COLS = 100, BELOW_ROWS = 30 };

struct trash_layout trash_layout(int rows, int cols)
{
    struct trash_layout l = {
        .rows = { TRASH_HEAD_H, 0, rows > TRASH_HEAD_H + 1 ? rows - TRASH_HEAD_H - 1 : 0, cols }
    };

    if (cols >= BESIDE_COLS) {
        l.rows.w = cols * 4 / 7;
        l.preview = (struct rect){ TRASH_HEAD_H, l.rows.w, l.rows.h, cols - l.rows.w };
    } else if (rows >= BELOW_ROWS) {
        int h = l.rows.h * 2 / 5;

        l.preview = (struct rect){ TRASH_HEAD_H + h, 0, l.rows.h - h, cols };
        l.rows.h = h;
    }
    return l;
}

struct rect trash_conversation(const struct trash_layout *l)
{
    struct rect r = l->preview;

    return (struct rect){ r.y + 1, r.x + 2, r.h - 1, r.w - 3 };
}

static void draw_title(const struct trash_view *v, struct frame *f)
{
    char text[96], size[SIZE_TEXT];
    int x = 1;

    x += frame_puts(f, 0, x, f->cols, STYLE_TITLE, "trash") + 2;
    if (trash_view_count(v) == 0)
        return;
    size_text(trash_view_bytes(v, false), size);
    int n = snprintf(text, sizeof text, "%zu session%s, %s", trash_view_count(v),
                     trash_view_count(v) == 1 ? "" : "s", size);

    if (trash_view_ticks(v) > 0 && n > 0 && n < (int)sizeof text) {
        size_text(trash_view_bytes(v, true), size);
        snprintf(text + n, sizeof text - (size_t)n, "; %zu marked, %s", trash_view_ticks(v), size);
    }
    frame_puts(f, 0, x, f->cols - x, STYLE_TEXT, text);
    if (f->cols >= 60)
        frame_puts(f, 0, f->cols - 19, 19, STYLE_DIM, "last deleted first");
}

static void draw_nothing(const struct trash_view *v, struct frame *f)
{
    char text[400];

    f->cursor_y = TRASH_HEAD_H;
    f->cursor_x = 0;
    if (v->error.code) {
        err_format(&v->error, text, sizeof text);
        frame_text_cut(f, TRASH_HEAD_H + 1, 3, f->cols - 4, STYLE_ERROR, slice_of(text));
    } else if (v->list) {
        frame_puts(f, TRASH_HEAD_H + 1, 3, f->cols - 4, STYLE_STRONG, "The trash is empty");
        frame_puts(f, TRASH_HEAD_H + 3, 3, f->cols - 4, STYLE_DIM,
                   "Deleted sessions are kept here until you empty it.");
    }
}

/* The directory the session was about; where that is not known, the folder its transcript came from. */
static struct slice trash_folder_of(const struct model *m, const struct trash_item *item, char *out,
                                    size_t cap)
{
    const char *slash = strrchr(item->path, '/');
    struct slice from = { item->path, slash ? (size_t)(slash - item->path) : strlen(item->path) };
    bool known = item->dir && item->dir[0];

    return path_short(known ? slice_of(item->dir) : from, m->settings->home, out, cap);
}

static void draw_trash_item(const struct model *m, struct frame *f, struct rect r,
                            const struct trash_item *item)
{
    char age[WHEN_AGE], size[SIZE_TEXT], dir[512];
    int place_w = r.w >= PLACE_COLS ? PLACE_MAX : 0, x = r.x + 1;

    when_age(m->now_ms, item->deleted_ms, age);
    size_text(item->bytes, size);
    frame_puts(f, r.y, x + AGE_W - (int)strlen(age), AGE_W, STYLE_AGE, age);
    x += AGE_W;
    frame_puts(f, r.y, x + SIZE_W - (int)strlen(size), SIZE_W, STYLE_DIM, size);
    x += SIZE_W + 2;
    struct slice title = item->title[0] ? slice_of(item->title) : slice_of(item->session);

    frame_text_cut(f, r.y, x, r.x + r.w - x - place_w - 2, STYLE_TEXT, title);
    if (place_w > 0)
        frame_text_middle(f, r.y, r.x + r.w - place_w, place_w - 1, STYLE_DIM,
                          trash_folder_of(m, item, dir, sizeof dir));
}

/* In the border above the conversation: where it was. */
static void draw_preview(const struct model *m, struct frame *f, const struct trash_layout *l)
{
    const struct trash_view *v = &m->trash;
    struct rect r = l->preview;
    int y = f->cursor_y, x = f->cursor_x;
    char dir[512];

    if (r.w == 0 || v->pick.at >= trash_view_count(v))
        return;
    for (int i = 0; i < r.w; i++)
        frame_puts(f, r.y, r.x + i, 1, STYLE_BORDER, f->ascii ? "-" : "─");
    for (int i = 1; r.x > 0 && i < r.h; i++)
        frame_puts(f, r.y + i, r.x, 1, STYLE_BORDER, f->ascii ? "|" : "│");
    frame_puts(f, r.y, r.x + 2, 1, STYLE_DIM, " ");
    int used = frame_text_middle(f, r.y, r.x + 3, r.w - 6, STYLE_DIM,
                                 trash_folder_of(m, &v->list->item[v->pick.at], dir, sizeof dir));

    frame_puts(f, r.y, r.x + 3 + used, 1, STYLE_DIM, " ");
    if (v->view && v->viewed[0])
        transcript_view_draw(v->view, f, trash_conversation(l));
    else
        frame_puts(f, r.y + 1, r.x + 2, r.w - 3, STYLE_DIM,
                   "no preview: its transcript is elsewhere");
    f->cursor_y = y;
    f->cursor_x = x;
}

void trash_draw(const struct model *m, struct frame *f)
{
    const struct trash_view *v = &m->trash;
    struct trash_layout l = trash_layout(f->rows, f->cols);
    size_t rows = (size_t)l.rows.h;

    draw_title(v, f);
    if (trash_view_count(v) == 0)
        draw_nothing(v, f);
    for (size_t i = 0; i < rows && v->pick.top + i < trash_view_count(v); i++) {
        struct rect r = { TRASH_HEAD_H + (int)i, 0, 1, l.rows.w };

        draw_trash_item(m, f, r, &v->list->item[v->pick.top + i]);
        if (trash_view_ticked(v, v->pick.top + i))
            frame_puts(f, r.y, 1, 1, STYLE_MARK, f->ascii ? "+" : "◆");
        if (v->pick.top + i == v->pick.at)
            frame_point(f, r);
    }
    draw_preview(m, f, &l);
}
