#include "tui/widgets/list_cursor.h"

void list_cursor_move(struct list_cursor *p, int64_t at, size_t n, size_t fit)
{
    p->at = at < 0 || n == 0 ? 0 : (size_t)at < n ? (size_t)at : n - 1;
    if (p->at < p->top)
        p->top = p->at;
    else if (p->at >= p->top + fit)
        p->top = p->at - fit + 1;
    if (p->top + fit > n)
        p->top = n > fit ? n - fit : 0;
}

bool list_cursor_act(struct list_cursor *p, enum action a, size_t n, size_t fit)
{
    int64_t at = (int64_t)p->at, page = (int64_t)fit;

    switch (a) {
    case ACT_UP: at--; break;
    case ACT_DOWN: at++; break;
    case ACT_PAGE_UP: at -= page; break;
    case ACT_PAGE_DOWN: at += page; break;
    case ACT_FIRST: at = 0; break;
    case ACT_LAST: at = INT64_MAX; break;
    default: return false;
    }
    list_cursor_move(p, at, n, fit);
    return true;
}
