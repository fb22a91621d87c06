#include "tui/widgets/list_cursor.h"

enum { WHEEL_ROWS = 3 };

static const int64_t beyond = INT64_C(1) << 40;

bool list_cursor_steps(enum action a, int64_t page, int64_t *by)
{
    switch (a) {
    case ACT_UP: *by = -1; return true;
    case ACT_DOWN: *by = 1; return true;
    case ACT_PAGE_UP: *by = -page; return true;
    case ACT_PAGE_DOWN: *by = page; return true;
    case ACT_HALF_UP: *by = -(page + 1) / 2; return true;
    case ACT_HALF_DOWN: *by = (page + 1) / 2; return true;
    case ACT_FIRST: *by = -beyond; return true;
    case ACT_LAST: *by = beyond; return true;
    default: return false;
    }
}

size_t list_cursor_top(size_t top, size_t at, size_t n, size_t fit)
{
    if (fit == 0)
        fit = 1;
    if (at < top)
        top = at;
    else if (at >= top + fit)
        top = at - fit + 1;
    return top + fit <= n ? top : n > fit ? n - fit : 0;
}

static size_t fit_of(struct list_area area)
{
    return area.r.h > 1 ? (size_t)area.r.h : 1;
}

void list_cursor_move(struct list_cursor *c, struct list_area area, int64_t at)
{
    c->at = at < 0 || area.n == 0 ? 0 : (size_t)at < area.n ? (size_t)at : area.n - 1;
    c->top = list_cursor_top(c->top, c->at, area.n, fit_of(area));
}

bool list_cursor_act(struct list_cursor *c, struct list_area area, enum action a)
{
    int64_t by;

    if (!list_cursor_steps(a, (int64_t)fit_of(area), &by))
        return false;
    list_cursor_move(c, area, (int64_t)c->at + by);
    return true;
}

bool list_cursor_row_at(const struct list_cursor *c, struct list_area area, int y, int x,
                        size_t *row)
{
    if (!frame_rect_has(area.r, y, x) || c->top + (size_t)(y - area.r.y) >= area.n)
        return false;
    *row = c->top + (size_t)(y - area.r.y);
    return true;
}

bool list_cursor_mouse(struct list_cursor *c, struct list_area area, struct mouse mouse)
{
    int64_t by = mouse.event == MOUSE_WHEEL_UP     ? -WHEEL_ROWS
                 : mouse.event == MOUSE_WHEEL_DOWN ? WHEEL_ROWS
                                                   : 0;
    size_t row = c->at;
    bool clicked = by == 0 && list_cursor_row_at(c, area, mouse.y, mouse.x, &row);

    list_cursor_move(c, area, (int64_t)row + by);
    return clicked;
}

bool list_cursor_wrap(size_t *at, size_t n, enum action a)
{
    if (a == ACT_UP)
        *at = *at > 0 ? *at - 1 : n - 1;
    else if (a == ACT_DOWN)
        *at = *at + 1 < n ? *at + 1 : 0;
    return a == ACT_UP || a == ACT_DOWN;
}

void list_cursor_draw(const struct list_cursor *c, struct list_area area, struct frame *f,
                      list_row_fn *draw, const void *arg)
{
    for (size_t i = 0; (int)i < area.r.h && c->top + i < area.n; i++) {
        struct rect r = { area.r.y + (int)i, area.r.x, 1, area.r.w };

        draw(arg, f, r, c->top + i);
        if (c->top + i == c->at)
            frame_point(f, r);
    }
}
