#include "tui/screens/list/list.h"

/* Beside from here on, else below from here on, else on demand only. */
enum { BESIDE_COLS = 100, BELOW_ROWS = 30 };

/* A title of its own line from here on down. */
enum { ONE_LINE_COLS = 120 };

bool list_has_two_lines(const struct list *l, int cols)
{
    return l->density == DENSITY_TWO_LINES || (l->density == DENSITY_AUTO && cols < ONE_LINE_COLS);
}

static bool has_preview(const struct list *l, int rows, int cols)
{
    switch (l->preview) {
    case PREVIEW_ON: return true;
    case PREVIEW_OFF: return false;
    case PREVIEW_AUTO: break;
    }
    return cols >= BESIDE_COLS || rows >= BELOW_ROWS;
}

/* The list keeps what its columns can use; beyond that the conversation has more to show. */
static void split_beside(struct list_layout *out)
{
    int w = out->rows.w * 4 / 7;

    if (w > 120)
        w = 120;
    out->beside = true;
    out->preview = (struct rect){ out->rows.y, out->rows.x + w, out->rows.h, out->rows.w - w };
    out->rows.w = w;
}

static void split_below(struct list_layout *out)
{
    int h = out->rows.h >= 20 ? out->rows.h * 2 / 5 : out->rows.h / 2;

    out->preview = (struct rect){ out->rows.y + h, out->rows.x, out->rows.h - h, out->rows.w };
    out->rows.h = h;
}

struct list_layout list_layout(const struct list *l, int rows, int cols)
{
    struct list_layout out = {
        .title = { 0, 0, 1, cols },
        .query = { 1, 0, 1, cols },
        .rows = { 2, 0, rows - 3, cols },
        .footer = { rows - 1, 0, 1, cols },
        .item = list_has_two_lines(l, cols) ? 2 : 1,
    };

    if (has_preview(l, rows, cols)) {
        if (cols >= BESIDE_COLS)
            split_beside(&out);
        else
            split_below(&out);
    }
    out.items = out.rows.h > 0 ? (size_t)(out.rows.h / out.item) : 0;
    if (out.items == 0)
        out.items = 1;
    return out;
}

bool list_row_at(const struct list *l, int y, int x, size_t *at)
{
    struct list_layout lay = list_layout(l, l->rows, l->cols);

    if (y < lay.rows.y || y >= lay.rows.y + lay.rows.h || x < lay.rows.x ||
        x >= lay.rows.x + lay.rows.w)
        return false;
    *at = l->top + (size_t)((y - lay.rows.y) / lay.item);
    return *at < l->filter.hits;
}
