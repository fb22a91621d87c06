#include <stdio.h>
#include <string.h>

#include "tui/app/view.h"
#include "tui/screens/maintenance/maintenance.h"
#include "tui/screens/transcript/transcript.h"
#include "tui/text/clean.h"
#include "tui/text/human.h"
#include "tui/widgets/styled_text.h"

/* How the trash looks: its rows, and the conversation of the selected one. */

enum {
    AGE_W = 8,
    SIZE_W = 9,
    PROJECT_W = 14,
    PROJECT_COLS = 60,
    PLACE_W = 40,
    PLACE_COLS = 90,
    SYSTEM_W = 14,
    SYSTEM_COLS = 66,
    BESIDE_COLS = 100,
    BELOW_ROWS = 30
};

size_t trash_view_count(const struct trash_view *v)
{
    return v->list ? v->list->n : 0;
}

bool trash_view_ticked(const struct trash_view *v, size_t i)
{
    return v->ticked && v->ticked[i];
}

size_t trash_view_ticks(const struct trash_view *v)
{
    size_t n = 0;

    for (size_t i = 0; i < trash_view_count(v); i++)
        n += trash_view_ticked(v, i);
    return n;
}

int64_t trash_view_bytes(const struct trash_view *v, bool ticked)
{
    int64_t bytes = 0;

    for (size_t i = 0; i < trash_view_count(v); i++)
        bytes += !ticked || trash_view_ticked(v, i) ? v->list->item[i].bytes : 0;
    return bytes;
}

struct trash_layout trash_view_layout(int rows, int cols)
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

struct rect trash_view_conversation(const struct trash_layout *l)
{
    struct rect r = l->preview;

    return (struct rect){ r.y + 1, r.x + 2, r.h - 1, r.w - 3 };
}

static void draw_title(const struct trash_view *v, struct frame *f)
{
    char text[96], size[HUMAN_SIZE];
    int x = 1;

    x += frame_puts(f, 0, x, f->cols, STYLE_TITLE, "trash") + 2;
    if (trash_view_count(v) == 0)
        return;
    human_size(trash_view_bytes(v, false), size);
    int n = snprintf(text, sizeof text, "%zu session%s, %s", trash_view_count(v),
                     trash_view_count(v) == 1 ? "" : "s", size);

    if (trash_view_ticks(v) > 0 && n > 0 && n < (int)sizeof text) {
        human_size(trash_view_bytes(v, true), size);
        snprintf(text + n, sizeof text - (size_t)n, "; %zu marked, %s", trash_view_ticks(v), size);
    }
    frame_puts(f, 0, x, f->cols - x, STYLE_TEXT, text);
    if (f->cols >= 60)
        frame_puts(f, 0, f->cols - 19, 19, STYLE_DIM, "last deleted first");
}

static void trash_draw_nothing(const struct trash_view *v, struct frame *f)
{
    f->cursor_y = TRASH_HEAD_H;
    f->cursor_x = 0;
    if (v->error.code) {
        text_wrap_draw_error(f, (struct rect){ TRASH_HEAD_H + 1, 3, 3, f->cols - 4 }, &v->error);
    } else if (v->list) {
        frame_puts(f, TRASH_HEAD_H + 1, 3, f->cols - 4, STYLE_STRONG, "The trash is empty");
        frame_puts(f, TRASH_HEAD_H + 3, 3, f->cols - 4, STYLE_DIM,
                   "Deleted sessions are kept here until you empty it.");
    }
}

struct slice trash_view_folder_of(const struct model *m, const struct trash_item *item, char *out,
                                  size_t cap)
{
    const char *slash = strrchr(item->path, '/');
    struct slice from = { item->path, slash ? (size_t)(slash - item->path) : strlen(item->path) };
    bool known = item->dir && item->dir[0];

    return text_path_short(known ? slice_of(item->dir) : from, m->settings->home, out, cap);
}

static void draw_trash_item(const void *arg, struct frame *f, struct rect r, size_t row)
{
    const struct model *m = arg;
    const struct trash_item *item = &m->trash->list->item[row];
    char age[HUMAN_AGE], size[HUMAN_SIZE], dir[512];
    int place_w = r.w >= PLACE_COLS ? PLACE_W : r.w >= PROJECT_COLS ? PROJECT_W : 0;
    const struct trash_list *list = m->trash->list;
    const char *id = item->trash_id, *dot = strrchr(id, '.');
    const size_t batch = dot ? (size_t)(dot - id) + 1 : 0;
    int system_w = 0;

    for (size_t i = 1; i < list->n && r.w >= SYSTEM_COLS && !system_w; i++)
        system_w = strcmp(list->item[i].system, list->item[0].system) != 0 ? SYSTEM_W : 0;
    int x = r.x + 1, end = r.x + r.w - place_w - system_w;

    human_age(m->now_ms, item->deleted_ms, age);
    human_size(item->bytes, size);
    /* The age of what one command deleted is shown once. */
    if (row == m->trash->pick.at || row == 0 || !batch ||
        strncmp(list->item[row - 1].trash_id, id, batch) != 0)
        frame_puts(f, r.y, x + AGE_W - (int)strlen(age), AGE_W, STYLE_AGE, age);
    x += AGE_W;
    frame_puts(f, r.y, x + SIZE_W - (int)strlen(size), SIZE_W, STYLE_DIM, size);
    x += SIZE_W + 2;
    struct slice title = item->title[0] ? slice_of(item->title) : slice_of(item->session);

    frame_text_cut(f, r.y, x, end - x - 2, STYLE_TEXT, title);
    struct slice place = trash_view_folder_of(m, item, dir, sizeof dir);
    const char *slash = place_w == PROJECT_W ? memrchr(place.p, '/', place.n) : NULL;

    if (slash)
        place = (struct slice){ slash + 1, (size_t)(place.p + place.n - slash - 1) };
    if (place_w > 0)
        frame_text_middle(f, r.y, end, place_w - 1, STYLE_DIM, place);
    if (system_w > 0)
        frame_text_cut(f, r.y, end + place_w, system_w - 1, STYLE_DIM, slice_of(item->system));
    if (trash_view_ticked(m->trash, row))
        frame_puts(f, r.y, 1, 1, STYLE_MARK, f->ascii ? "+" : "◆");
}

static void trash_draw_preview(const struct model *m, struct frame *f, const struct trash_layout *l)
{
    const struct trash_view *v = m->trash;
    struct rect r = l->preview;
    int y = f->cursor_y, x = f->cursor_x;

    if (r.w == 0 || v->pick.at >= trash_view_count(v))
        return;
    if (r.x > 0)
        frame_edge(f, r.y, r.x, r.h);
    else
        frame_rule(f, r.y, r.x, r.w);
    if (v->view && v->viewed[0])
        transcript_view_draw(v->view, f, trash_view_conversation(l));
    else
        frame_puts(f, r.y + 1, r.x + 2, r.w - 3, STYLE_DIM,
                   "no preview: its transcript is elsewhere");
    f->cursor_y = y;
    f->cursor_x = x;
}

/* Where the selected session was, and when it was deleted. */
static void trash_draw_facts(const struct model *m, struct frame *f)
{
    const struct trash_item *item = &m->trash->list->item[m->trash->pick.at];
    char dir[512], date[HUMAN_DATE], text[HUMAN_DATE + sizeof "deleted "];

    snprintf(text, sizeof text, "deleted %s", human_date(item->deleted_ms, date));
    frame_text_middle(f, 1, 1, frame_puts_right(f, 1, f->cols - 1, STYLE_DIM, text) - 3, STYLE_DIM,
                      trash_view_folder_of(m, item, dir, sizeof dir));
}

void trash_view_draw(const struct model *m, struct frame *f)
{
    const struct trash_view *v = m->trash;
    struct trash_layout l = trash_view_layout(f->rows, f->cols);

    draw_title(v, f);
    if (trash_view_count(v) == 0)
        trash_draw_nothing(v, f);
    else
        trash_draw_facts(m, f);
    list_cursor_draw(&v->pick, (struct list_area){ l.rows, trash_view_count(v) }, f,
                     draw_trash_item, m);
    trash_draw_preview(m, f, &l);
}
