#include "store/log/damage_scan.h"

static bool is_row_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool looks_whole(struct slice row)
{
    while (row.n && is_row_blank(row.p[row.n - 1]))
        row.n--;
    while (row.n && is_row_blank(row.p[0]))
        row = (struct slice){ row.p + 1, row.n - 1 };
    return row.n == 0 || (row.n >= 2 && row.p[0] == '{' && row.p[row.n - 1] == '}');
}

/* cut_front: the first row began before these bytes; a last row without newline is cut or torn. */
static bool shows_damage(struct slice rows, bool cut_front)
{
    struct slice row;
    bool torn;

    while (slice_line(&rows, &row, &torn)) {
        if (!torn && !cut_front && !looks_whole(row))
            return true;
        cut_front = false;
    }
    return false;
}

bool damage_scan_windows(const struct window *w)
{
    bool apart = w->tail.p != w->head.p;

    return shows_damage(w->head, false) || (apart && shows_damage(w->tail, true));
}
