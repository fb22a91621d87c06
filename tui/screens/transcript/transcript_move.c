#include "lite/base/array.h"
#include "tui/screens/transcript/transcript_internal.h"

/* The position and the movements of the viewport. Lines are laid out from the top position; if they
 * end before the screen does, the top moves up. */

enum { MARGIN = 3 };

int transcript_view_position_cmp(struct transcript_position a, struct transcript_position b)
{
    if (a.message != b.message)
        return a.message < b.message ? -1 : 1;
    return a.line == b.line ? 0 : a.line < b.line ? -1 : 1;
}

static size_t transcript_move_height(const struct transcript_view *v)
{
    int h = transcript_view_body_height(v);

    return h > 0 ? (size_t)h : 0;
}

/* Moves a position by lines; returns how many steps could not be made. */
static long step_by(struct transcript_view *v, struct transcript_position *s, long lines)
{
    int direction = lines < 0 ? -1 : 1;
    long left = lines < 0 ? -lines : lines;

    while (left > 0 && transcript_view_step(v, s, direction))
        left--;
    return left;
}

static void transcript_move_fill_rows(struct transcript_view *v)
{
    struct transcript_position s = v->top;

    v->rows = 0;
    do {
        v->row[v->rows++] = s;
    } while (v->rows < transcript_move_height(v) && transcript_view_step(v, &s, 1));
}

/* Returns true if the screen's last line is the last of the conversation. */
static bool ends_here(struct transcript_view *v)
{
    struct transcript_position s = v->row[v->rows - 1];

    return v->window.first + v->window.n == transcript_view_count(v) &&
           !transcript_view_step(v, &s, 1);
}

static void layout_screen_rows(struct transcript_view *v)
{
    v->rows = 0;
    if (transcript_move_height(v) == 0 || v->window.n == 0 ||
        !array_reserve(v->row, v->row_cap, transcript_move_height(v)))
        return;
    if (v->at_end) {
        v->top = (struct transcript_position){ v->window.first + v->window.n - 1, SIZE_MAX - 1 };
        if (!transcript_view_nearest_line(v, &v->top))
            return;
        if (!v->placed)
            v->cursor = v->top;
    }
    if (!transcript_view_nearest_line(v, &v->top))
        return;
    transcript_move_fill_rows(v);
    if (v->rows < transcript_move_height(v)) {
        step_by(v, &v->top, -(long)(transcript_move_height(v) - v->rows));
        transcript_move_fill_rows(v);
    }
    v->placed = true;
}

static void clamp_cursor(struct transcript_view *v)
{
    if (v->rows == 0)
        return;
    if (transcript_view_is_preview(v) || transcript_view_position_cmp(v->cursor, v->row[0]) < 0)
        v->cursor = v->row[0];
    else if (transcript_view_position_cmp(v->cursor, v->row[v->rows - 1]) > 0)
        v->cursor = v->row[v->rows - 1];
}

void transcript_view_show_cursor(struct transcript_view *v, size_t context)
{
    size_t h = transcript_move_height(v);
    struct transcript_position high = v->cursor, low = v->cursor;

    if (h == 0 || v->window.n == 0 || !transcript_view_nearest_line(v, &v->cursor))
        return;
    if (context > (h - 1) / 2)
        context = (h - 1) / 2;
    high = low = v->cursor;
    step_by(v, &high, -(long)context);
    if (transcript_view_position_cmp(high, v->top) < 0) {
        v->top = high;
        return;
    }
    step_by(v, &low, (long)context);
    step_by(v, &low, -(long)(h - 1)); /* the highest top that shows the cursor with its context */
    if (transcript_view_position_cmp(low, v->top) > 0)
        v->top = low;
}

void transcript_view_move(struct transcript_view *v, long lines)
{
    if (transcript_view_is_preview(v)) {
        transcript_view_scroll_lines(v, lines);
        return;
    }
    v->at_end = false;
    v->seek_prompt = 0;
    if (!transcript_view_nearest_line(v, &v->cursor))
        return;
    long left = step_by(v, &v->cursor, lines);

    v->owed = lines < 0 ? -left : left;
    transcript_view_show_cursor(v, MARGIN);
}

void transcript_view_scroll_lines(struct transcript_view *v, long lines)
{
    struct transcript_position was = v->top;

    if (v->rows == 0)
        return;
    if (lines > 0 && ends_here(v))
        return;
    v->at_end = false;
    v->seek_prompt = 0;
    long left = step_by(v, &v->top, lines);

    v->owed = transcript_view_is_preview(v) ? (lines < 0 ? -left : left) : 0;
    if (transcript_view_position_cmp(was, v->top) != 0) {
        layout_screen_rows(v);
        clamp_cursor(v);
    }
}

void transcript_view_move_page(struct transcript_view *v, int halves)
{
    long h = (long)transcript_move_height(v), page = h > 4 ? h - 2 : h;
    long lines = (halves == 1 || halves == -1 ? h / 2 : page) * (halves < 0 ? -1 : 1);
    struct transcript_position was = v->top;

    if (transcript_view_is_preview(v)) {
        transcript_view_scroll_lines(v, lines);
        return;
    }
    if (lines == 0 || v->rows == 0 || !transcript_view_nearest_line(v, &v->cursor))
        return;
    bool end = lines > 0 && ends_here(v);

    v->at_end = false;
    v->seek_prompt = 0;
    long left = step_by(v, &v->cursor, lines);

    v->owed = lines < 0 ? -left : left;
    if (!end)
        step_by(v, &v->top, lines);
    if (end || transcript_view_position_cmp(was, v->top) == 0)
        transcript_view_show_cursor(v, 0);
}

void transcript_view_to_end(struct transcript_view *v)
{
    size_t n = transcript_view_count(v);

    if (n == 0)
        return;
    transcript_view_go_to(v, (struct transcript_position){ n - 1, SIZE_MAX - 1 });
    v->at_end = true;
    v->placed = false;
}

void transcript_view_to_first(struct transcript_view *v)
{
    if (transcript_view_count(v) == 0)
        return;
    v->to_first = v->conversation->transcript->partial;
    transcript_view_go_to(v, (struct transcript_position){ 0, 0 });
}

/* ---- prompts ---- */

/* The first line of the first prompt of a message, after its rule. */
static bool prompt_line(struct transcript_view *v, size_t message, size_t *line)
{
    const struct slot *s = transcript_window_slot(&v->window, message);
    size_t lines = transcript_view_lines(v, message);

    for (size_t i = 0; i < lines; i++) {
        const struct line *l = &s->styled_text.line[i];
        enum block_kind kind =
            l->block < s->passage.blocks.n ? s->passage.blocks.block[l->block].kind : BLOCK_RAW;

        if ((kind == BLOCK_PROMPT || kind == BLOCK_COMMAND) && l->runs > 0 && !l->rule) {
            *line = i;
            return true;
        }
    }
    return false;
}

static void hunt_ends(struct transcript_view *v)
{
    v->cursor = v->seek_prompt < 0 ? (struct transcript_position){ 0, 0 }
                                   : (struct transcript_position){ v->seek_at, SIZE_MAX - 1 };
    v->seek_prompt = 0;
    v->at_end = false;
    transcript_view_show_cursor(v, 0);
}

/* Searches the rows that are read; continues when more are read. */
static void seek_prompt(struct transcript_view *v)
{
    size_t line = 0;

    while (v->seek_prompt && transcript_window_slot(&v->window, v->seek_at)) {
        bool found = prompt_line(v, v->seek_at, &line);
        struct transcript_position s = { v->seek_at, line };

        if (found && transcript_view_position_cmp(s, v->seek_from) * v->seek_prompt > 0) {
            v->seek_prompt = 0;
            v->at_end = false;
            v->cursor = v->top = s;
            step_by(v, &v->top, -2); /* its rule, and the blank line */
        } else if (v->seek_prompt < 0 ? v->seek_at == 0
                                      : v->seek_at + 1 >= transcript_view_count(v)) {
            hunt_ends(v);
        } else {
            v->seek_at = v->seek_prompt < 0 ? v->seek_at - 1 : v->seek_at + 1;
        }
    }
}

void transcript_view_to_prompt(struct transcript_view *v, int direction)
{
    if (v->window.n == 0)
        return;
    v->at_end = false;
    v->owed = 0;
    v->seek_prompt = direction;
    v->seek_from = v->cursor;
    v->seek_at = v->cursor.message;
    seek_prompt(v);
}

/* ---- after every change ---- */

static void pay_owed(struct transcript_view *v)
{
    long lines = v->owed;

    if (lines == 0)
        return;
    v->owed = 0;
    if (transcript_view_is_preview(v))
        transcript_view_scroll_lines(v, lines);
    else
        transcript_view_move(v, lines);
}

void transcript_view_settle(struct transcript_view *v, struct effects *fx)
{
    if (!v->conversation)
        return;
    if (v->seek_prompt)
        seek_prompt(v);
    pay_owed(v);
    transcript_view_search_settle(v);
    layout_screen_rows(v);
    clamp_cursor(v);
    if (v->rows > 0 && ends_here(v) &&
        (transcript_view_is_preview(v) ||
         transcript_view_position_cmp(v->cursor, v->row[v->rows - 1]) == 0))
        v->at_end = true;
    transcript_view_request_rows(v, fx);
}

/* After a change of the width a message has other lines: the cursor stays in its block, as far down as it was. */
static void keep_line_of_block(struct transcript_view *v, unsigned block, size_t above)
{
    const size_t lines = transcript_view_lines(v, v->cursor.message);
    const struct slot *s = transcript_view_cursor_slot(v);

    for (size_t i = 0; i < lines; i++) {
        if (s->styled_text.line[i].block != block)
            continue;
        v->cursor.line = i;
        if (above-- == 0)
            break;
    }
}

void transcript_view_resize(struct transcript_view *v, int h, int w, struct effects *fx)
{
    const struct slot *s = transcript_view_cursor_slot(v);
    const bool has_line = s && v->cursor.line < s->styled_text.n && !transcript_view_is_preview(v);
    const unsigned block = has_line ? s->styled_text.line[v->cursor.line].block : 0;
    size_t above = 0;

    for (size_t i = 0; has_line && i < v->cursor.line; i++)
        above += s->styled_text.line[i].block == block;
    if (v->inner)
        transcript_view_resize(v->inner, h, w, fx);
    if (w != v->w)
        v->sizes++;
    v->h = h;
    v->w = w;
    if (has_line && transcript_move_height(v) > 0) {
        keep_line_of_block(v, block, above);
        transcript_view_show_cursor(v, 0);
    }
    transcript_view_settle(v, fx);
}
