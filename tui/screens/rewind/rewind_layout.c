#include "tui/screens/rewind/rewind_internal.h"

enum { SPLIT_W = 72, LEFT_MIN = 34, LEFT_MAX = 90, NOTE_FROM_H = 14 };

static int clamp(int n, int low, int high)
{
    return n < low ? low : n > high ? high : n;
}

/* Below the turns what there is to say of the selected one: of that all, as far as the turns keep their half. */
static void split_left(struct rewind_layout *l, const struct rewind_view *v, struct rect r)
{
    l->turns = r;
    if (r.h < NOTE_FROM_H)
        return;
    int usual = clamp(r.h / 4 + 1, 4, 10), h = clamp(rewind_note_height(v, r.w), usual, r.h / 2);

    l->turns.h = r.h - h;
    l->note = (struct rect){ r.y + l->turns.h, r.x, h, r.w };
}

/* The files take what they need, up to two fifths; their changes get the rest. */
static void split_right(struct rewind_layout *l, const struct rewind_view *v, struct rect r)
{
    int rows = (int)(v->rows < 1000 ? v->rows : 1000) + (v->unchanged > 0);

    if ((v->mode == REWIND_CONVERSATION || v->mode == REWIND_BOTH) && r.h > 4) {
        l->conversation = (struct rect){ r.y, r.x, 1, r.w };
        r.y++;
        r.h--;
    }
    l->files = r;
    l->files.h = clamp(rows, 1, clamp(r.h * 2 / 5, 3, r.h));
    if (r.h - l->files.h < 3)
        return;
    l->head = (struct rect){ r.y + l->files.h, r.x, 1, r.w };
    l->changes = (struct rect){ l->head.y + 1, r.x, r.h - l->files.h - 1, r.w };
}

struct rewind_layout rewind_layout(const struct rewind_view *v, int h, int w)
{
    struct rewind_layout l = { .edge = -1, .result = v->result[0] ? h - 1 : -1 };
    struct rect body = { 1, 0, h - 1 - (l.result >= 0), w };

    if (w < SPLIT_W) { /* one side at a time */
        if (v->pane == PANE_TURNS)
            split_left(&l, v, body);
        else
            split_right(&l, v, body);
        return l;
    }
    l.edge = clamp(w * 2 / 5, LEFT_MIN, LEFT_MAX);
    split_left(&l, v, (struct rect){ body.y, 0, body.h, l.edge });
    split_right(&l, v, (struct rect){ body.y, l.edge + 1, body.h, w - l.edge - 1 });
    return l;
}

/* The first line to show so that `at` is seen, and no room is left empty while lines are above. */
static size_t top_for(size_t top, size_t at, size_t n, int h)
{
    size_t fit = h > 0 ? (size_t)h : 1;

    if (at < top)
        top = at;
    if (at >= top + fit)
        top = at - fit + 1;
    return top + fit > n ? (n > fit ? n - fit : 0) : top;
}

void rewind_settle(struct rewind_view *v)
{
    struct rewind_layout l = rewind_layout(v, v->h, v->w);
    size_t turns = v->turns ? v->turns->n : 0;

    v->turn_top = top_for(v->turn_top, v->turn, turns, l.turns.h);
    v->file_top = top_for(v->file_top, v->file, v->rows, l.files.h - (v->unchanged > 0));
    v->changes.top =
        top_for(v->changes.top, v->changes.line, v->changes.styled_text.n, l.changes.h);
}
