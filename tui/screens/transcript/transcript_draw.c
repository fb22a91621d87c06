#include "tui/screens/transcript/transcript_internal.h"

#include <stdio.h>

#include "tui/text/clean.h"
#include "tui/text/human.h"
#include "tui/widgets/list_cursor.h"
#include "tui/widgets/styled_text.h"

/* Draws the view: title, lines, the mark of the selected block, the position bar, and the views
 * that cover them. */

enum {
    MARK_WIDTH = 2,
    TURNS_FROM = 150, /* the turns are beside the text from this width on ... */
    TEXT_WANTS = 110, /* ... which keeps as much */
    TURNS_MOST = 80,
};

/* ---- title and foot ---- */

static int draw_right_aligned(struct frame *f, int y, struct rect r, enum style style,
                              const char *text)
{
    int w = frame_width(slice_of(text));

    if (w + 1 >= r.w)
        return r.w;
    frame_puts(f, y, r.x + r.w - w - 1, w, style, text);
    return r.w - w - 1;
}

/* "entry 812 of 3204", or the part of the file that is known. */
static void position_text(const struct transcript_view *v, char *out, size_t cap)
{
    const struct transcript *t = v->conversation ? v->conversation->transcript : NULL;
    char size[LAYOUT_SIZE_TEXT];

    out[0] = '\0';
    if (!t || !v->placed || v->cursor.message >= t->n)
        return;
    layout_size(t->size, size);
    if (t->partial && t->relative_offsets)
        snprintf(out, cap, "%slast %s", v->asked_tail || v->asked_load ? "reading more, " : "",
                 size);
    else if (t->partial)
        snprintf(out, cap, "end of %s", size);
    else
        snprintf(out, cap, "entry %zu of %zu", v->cursor.message + 1, t->n);
    size_t n = strlen(out);

    if (t->broken > 0 && !t->partial)
        snprintf(out + n, cap - n, "  %zu damaged line%s", t->broken, t->broken == 1 ? "" : "s");
    n = strlen(out);
    if (t->lost)
        snprintf(out + n, cap - n, "  %zu lost to a resume", t->lost);
}

static void draw_transcript_title(const struct transcript_view *v, struct frame *f, struct rect r)
{
    char text[96];

    position_text(v, text, sizeof text);
    int room =
        draw_right_aligned(f, r.y, r, v->gone ? STYLE_WARN : STYLE_DIM,
                           v->gone ? "the file is gone; this is what was read before" : text);

    frame_text_cut(f, r.y, r.x + 1, room - 2, STYLE_STRONG, v->title);
}

void transcript_view_search_state(const struct transcript_view *v, char *out, size_t cap)
{
    const struct transcript_search *s = &v->search;

    out[0] = '\0';
    if (s->needle.n == 0)
        return;
    size_t number = s->at ? s->nth + 1 : 0; /* of the occurrence, among all */

    for (size_t i = 0; i + 1 < s->at; i++)
        number += s->hit[i].count;
    const char *more = s->done ? "" : v->settings->ascii ? "..." : "…";

    if (number > 0)
        snprintf(out, cap, "%zu of %zu%s", number, s->total, more);
    else if (s->total > 0)
        snprintf(out, cap, "%zu found%s", s->total, more);
    else
        snprintf(out, cap, "%s", s->done ? "not found" : "searching");
}

/* The last line of the view, drawn only if it is needed. */
static void draw_foot(const struct transcript_view *v, struct frame *f, struct rect r)
{
    const struct transcript_search *s = &v->search;
    int y = r.y + r.h - 1;
    char state[64];

    if (r.h < 2 || (!s->typing && s->needle.n == 0 && !v->notice[0]))
        return;
    frame_fill(f, (struct rect){ y, r.x, 1, r.w }, STYLE_BAR);
    transcript_view_search_state(v, state, sizeof state);
    int room =
        draw_right_aligned(f, y, r, s->done && s->total == 0 ? STYLE_WARN : STYLE_BAR, state);

    /* A notice covers the search text, unless it is being typed. */
    if (v->notice[0] && !s->typing) {
        frame_puts(f, y, r.x + 1, room - 2, STYLE_BAR, v->notice);
        return;
    }
    int x = r.x + frame_puts(f, y, r.x, 1, STYLE_KEY, "/");

    struct slice rest = buf_slice(&s->needle), word;

    for (int end = x + room - 2; search_next_word(&rest, &word); x += rest.n > 0)
        x += frame_text(f, y, x, end - x, STYLE_BAR, word);
    if (s->typing && x < r.x + r.w) {
        f->cursor_y = y;
        f->cursor_x = x;
    }
}

/* ---- lines ---- */

/* The lines into which the layout broke one text: a line, and as much around it as a match may
 * extend into. */
struct match_range {
    struct buf text;
    size_t from, to; /* the line's own part of the text */
};

static bool match_range_around(struct match_range *s, const struct styled_text *styled_text,
                               size_t at, size_t reach)
{
    size_t first = at, last = at, before = 0;
    struct buf *text = &s->text;

    for (; first > 0 && styled_text->line[first - 1].end != LINE_ENDS && before < reach; first--) {
        text->n = 0;
        if (!transcript_view_line_text(styled_text, first - 1, text))
            return false;
        before += text->n;
    }
    text->n = 0;
    for (size_t i = first; i <= last; i++) {
        if (i == at)
            s->from = text->n;
        if (!transcript_view_line_text(styled_text, i, text))
            return false;
        if (i == at)
            s->to = text->n;
        if (styled_text->line[i].end != LINE_ENDS && i + 1 < styled_text->n &&
            text->n - s->to < reach)
            last = i + 1;
    }
    return true;
}

/* Marks the occurrences of the needle in a line that was drawn at (y, x). */
static void mark_matches(const struct transcript_view *v, const struct styled_text *styled_text,
                         size_t at, struct frame *f, int y, int x)
{
    struct slice needle = buf_slice(&v->search.needle);
    struct match_range s = { .from = 0 };
    size_t where_at, n, end = 0;

    if (!match_range_around(&s, styled_text, at, needle.n)) {
        buf_fini(&s.text);
        return;
    }

    /* The text includes neighbouring lines, because an occurrence may begin or end on one of them. */
    struct slice rest = buf_slice(&s.text);

    const struct line *l = &styled_text->line[at];

    for (uint32_t i = 0; i < l->margin && i < l->runs; i++)
        x += (int)clean_width(styled_text->run[l->run + i].text);
    while (search_text(rest, needle, &where_at, &n)) {
        size_t from = end + where_at;

        end = from + n;
        rest = (struct slice){ s.text.p + end, s.text.n - end };

        size_t low = from > s.from ? from : s.from, high = end < s.to ? end : s.to;

        if (low >= high)
            continue;
        struct rect r = { y,
                          x + (int)clean_width((struct slice){ s.text.p + s.from, low - s.from }),
                          1, (int)clean_width((struct slice){ s.text.p + low, high - low }) };

        frame_style(f, r, STYLE_MATCH);
    }
    buf_fini(&s.text);
}

static void draw_mark(const struct transcript_view *v, struct frame *f,
                      struct transcript_position s, int y, int x)
{
    bool here = transcript_view_position_cmp(s, v->cursor) == 0;
    const struct styled_text *text = &transcript_window_slot(&v->window, s.message)->styled_text;

    /* The mark covers all lines of the selected block, because keys act on the block. */
    if (s.message != v->cursor.message || v->cursor.line >= text->n || s.line >= text->n ||
        text->line[s.line].block != text->line[v->cursor.line].block ||
        (text->line[s.line].runs == 0 && s.line != v->cursor.line))
        return;
    if (f->ascii)
        frame_puts(f, y, x, 1, STYLE_MARK, here ? ">" : "|");
    else
        frame_puts(f, y, x, 1, here ? STYLE_MARK : STYLE_BORDER, here ? "▌" : "▏");
    if (here && f->cursor_y < 0) {
        f->cursor_y = y;
        f->cursor_x = x;
    }
}

/* Marks messages that a resume does not load, in the column between the selection's mark and the
 * text. */
static void draw_left_out(const struct transcript_view *v, struct frame *f, size_t message, int y,
                          int x)
{
    if (v->conversation->transcript->message[message].flags & MESSAGE_LEFT_OUT)
        frame_puts(f, y, x, 1, STYLE_DIM, f->ascii ? ":" : "┊");
}

static void transcript_draw_rows(const struct transcript_view *v, struct frame *f, struct rect r)
{
    bool preview = transcript_view_is_preview(v);
    int left = preview ? 0 : MARK_WIDTH;

    for (size_t i = 0; i < v->rows && (int)i < r.h; i++) {
        const struct slot *s = transcript_window_slot(&v->window, v->row[i].message);
        int y = r.y + (int)i;

        if (!s || v->row[i].line >= s->styled_text.n)
            continue;
        styled_text_draw_line(&s->styled_text, v->row[i].line, f, y, r.x + left,
                              preview ? r.w : transcript_view_text_width(v));
        if (v->search.needle.n > 0)
            mark_matches(v, &s->styled_text, v->row[i].line, f, y, r.x + left);
        if (preview)
            continue;
        draw_mark(v, f, v->row[i], y, r.x);
        draw_left_out(v, f, v->row[i].message, y, r.x + 1);
    }
}

/* The position bar shows where in the file the screen is, from the offsets of rows, which are known
 * even while only the end is read. */
static void transcript_draw_bar(const struct transcript_view *v, struct frame *f, struct rect r)
{
    const struct transcript *t = v->conversation->transcript;

    const bool shows_all = v->rows < (size_t)r.h && v->window.n == transcript_view_count(v);

    if (v->rows == 0 || t->size <= 0 || r.h < 2 || shows_all)
        return;
    const struct message *first = &t->message[v->row[0].message];
    const struct message *last = &t->message[v->row[v->rows - 1].message];
    double size = (double)t->size;
    int top = (int)((double)first->offset / size * r.h);
    int end = (int)((double)(last->offset + last->length) / size * r.h);

    if (v->at_end)
        end = r.h - 1;
    for (int i = 0; i < r.h; i++) {
        bool thumb = i >= (top < r.h ? top : r.h - 1) && i <= end;
        const char *sign = f->ascii ? (thumb ? "#" : "|") : thumb ? "┃" : "│";

        frame_puts(f, r.y + i, r.x + r.w - 1, 1, thumb ? STYLE_MARK : STYLE_BORDER, sign);
    }
}

/* ---- turns ---- */

int transcript_view_turns_width(const struct transcript_view *v)
{
    bool none = transcript_view_is_preview(v) || !v->session || v->session->agent.n > 0 ||
                v->w < TURNS_FROM;
    int w = v->w - TEXT_WANTS;

    return none ? 0 : w < TURNS_MOST ? w : TURNS_MOST;
}

/* The turns below each other, with their times; the one with the cursor is in view. */
struct turn_rows {
    struct rect r;
    size_t at, first;
};

static bool transcript_draw_turn_rows(const struct transcript_view *v, struct turn_rows *out)
{
    const struct conversation_usage *u = v->usage;
    int w = transcript_view_turns_width(v), h = transcript_view_body_height(v) - 1;

    if (w == 0 || h < 1 || !u || u->heads == 0)
        return false;
    *out = (struct turn_rows){ .r = { 2, v->w - w + 1, h, w - 2 } };
    while (out->at + 1 < u->heads && u->head[out->at + 1].message <= v->cursor.message)
        out->at++;
    out->first = list_cursor_top(0, out->at, u->heads, (size_t)h);
    return true;
}

bool transcript_view_turn_at(const struct transcript_view *v, int y, int x, size_t *turn)
{
    struct turn_rows t;

    if (!transcript_draw_turn_rows(v, &t) || !frame_rect_has(t.r, y, x) ||
        t.first + (size_t)(y - t.r.y) >= v->usage->heads)
        return false;
    *turn = t.first + (size_t)(y - t.r.y);
    return v->usage->head[*turn].message < transcript_view_count(v);
}

static void transcript_draw_turns(const struct transcript_view *v, struct frame *f, struct rect r)
{
    const struct conversation_usage *u = v->usage;
    struct turn_rows t;
    char text[48];

    for (int i = 1; i < r.h; i++)
        frame_puts(f, r.y + i, r.x + v->w - transcript_view_turns_width(v) - 1, 1, STYLE_BORDER,
                   f->ascii ? "|" : "│");

    if (!transcript_draw_turn_rows(v, &t))
        return;
    t.r.y += r.y;
    t.r.x += r.x;
    snprintf(text, sizeof text, "turn %zu of %zu", t.at + 1, u->heads);
    frame_puts(f, t.r.y - 1, t.r.x + 2, t.r.w - 2, STYLE_DIM, text);

    for (int i = 0; i < t.r.h && t.first + (size_t)i < u->heads; i++) {
        size_t at = t.first + (size_t)i, message = u->head[at].message;
        int y = t.r.y + i, w = 0;

        if (message < transcript_view_count(v)) {
            human_age(v->now_ms, v->conversation->transcript->message[message].time_ms, text);
            w = frame_width(slice_of(text));
            frame_puts(f, y, t.r.x + t.r.w - w, w, STYLE_AGE, text);
        }
        if (at == t.at)
            frame_puts(f, y, t.r.x, 1, STYLE_MARK, f->ascii ? ">" : "▌");
        frame_text_cut(f, y, t.r.x + 2, t.r.w - w - 4, at == t.at ? STYLE_PROMPT : STYLE_TEXT,
                       u->head[at].prompt);
    }
}

/* ---- instead of lines ---- */

static void transcript_draw_empty(const struct transcript_view *v, struct frame *f, struct rect r)
{
    char text[400] = "";

    if (!v->session || r.h < 1)
        return;
    if (v->error.code) {
        text_wrap_draw_error(f, (struct rect){ r.y, r.x + 1, r.h, r.w - 2 }, &v->error);
    } else if (v->conversation && !v->conversation->transcript->partial &&
               v->conversation->transcript->n == 0) {
        frame_puts(f, r.y, r.x + 1, r.w - 2, STYLE_DIM, "no messages in this session");
        if (r.h > 1 && transcript_view_cut_line(v, text))
            frame_puts(f, r.y + 1, r.x + 1, r.w - 2, STYLE_WARN, text);
    } else if (v->conversation && v->window.n > 0 && v->window.n == transcript_view_count(v)) {
        frame_puts(f, r.y, r.x + 1, r.w - 2, STYLE_DIM, "nothing to show at this fold level: z");
    }
}

static void draw_raw(const struct transcript_view *v, struct frame *f, struct rect r)
{
    for (int i = 0; i < r.h && v->raw.top + (size_t)i < v->raw.styled_text.n; i++)
        styled_text_draw_line(&v->raw.styled_text, v->raw.top + (size_t)i, f, r.y + i,
                              r.x + MARK_WIDTH, transcript_view_text_width(v));
    f->cursor_y = r.y;
    f->cursor_x = r.x;
}

/* A panel over the conversation that one chooses from. */
static void transcript_draw_choice(const struct transcript_view *v, struct frame *f,
                                   struct rect body)
{
    const struct transcript_choice *c = &v->choice;
    const char *title = c->copies ? "copy" : c->leaf ? "branches" : "sub-agents";
    int most = body.h - 4 > 1 ? body.h - 4 : 1, width = 20;

    for (size_t i = 0; i < c->names->n; i++) {
        int w = (int)clean_width(c->names->name[i]) + MARK_WIDTH;

        width = w > width ? w : width;
    }
    int h = c->names->n < (size_t)most ? (int)c->names->n : most;
    struct rect r = frame_box(f, h, width, slice_of(title));
    size_t first = list_cursor_top(0, c->at, c->names->n, r.h > 0 ? (size_t)r.h : 0);

    for (int i = 0; i < r.h && first + (size_t)i < c->names->n; i++) {
        size_t at = first + (size_t)i;

        frame_text_cut(f, r.y + i, r.x + MARK_WIDTH, r.w - MARK_WIDTH, STYLE_TEXT,
                       c->names->name[at]);
        if (at != c->at)
            continue;
        frame_puts(f, r.y + i, r.x, 1, STYLE_MARK, f->ascii ? ">" : "▌");
        frame_select(f, (struct rect){ r.y + i, r.x, 1, r.w });
        f->cursor_y = r.y + i;
        f->cursor_x = r.x;
    }
}

void transcript_view_draw(const struct transcript_view *v, struct frame *f, struct rect r)
{
    struct rect body = r;

    /* A sub-agent covers the conversation that it was opened from. */
    if (v->inner) {
        transcript_view_draw(v->inner, f, r);
        return;
    }

    if (!transcript_view_is_preview(v)) {
        draw_transcript_title(v, f, r);
        body.y++;
        body.h--;
    }
    if (transcript_view_turns_width(v) > 0)
        transcript_draw_turns(v, f, r);
    body.w -= transcript_view_turns_width(v);

    if (v->raw.shown) {
        draw_raw(v, f, body);
    } else {
        if (v->rows > 0)
            transcript_draw_rows(v, f, body);
        else
            transcript_draw_empty(v, f, body);
        if (v->conversation && !transcript_view_is_preview(v))
            transcript_draw_bar(v, f, body);
    }

    if (!transcript_view_is_preview(v))
        draw_foot(v, f, r);
    if (v->choice.names && !v->raw.shown)
        transcript_draw_choice(v, f, body);
}
