#include "tui/screens/blame/blame_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tui/app/view.h"
#include "tui/filter/fold.h"
#include "tui/screens/dialogs/dialog.h"
#include "tui/screens/list/list.h"
#include "tui/screens/transcript/transcript.h"
#include "tui/text/clean.h"
#include "tui/text/human.h"
#include "tui/widgets/styled_text.h"

enum {
    ROWS_Y = 2,
    AGE_W = HUMAN_AGE_COLUMNS,
    NARROW = 80, /* from here on, a line has the age in full */
    NAME_W = 16,
    PROMPT_LEAST = 12,
    PROMPT_MOST = 60,
    SHORT_ID_W = 8,
    DID_W = 7,
    COUNT_W = 12,
    WIDE = 100,
    PANEL_H = 4, /* a rule, and what the rows have no room for */
    TALL_ROWS = 16,
};

static size_t count_rows(const struct blame_view *v)
{
    return v->rows ? v->rows->n : 0;
}

static int blame_panel_height(int rows)
{
    return rows < TALL_ROWS ? PANEL_H - 1 : PANEL_H;
}

static struct list_area rows_area(const struct blame_view *v, int rows, int cols)
{
    int h = rows - ROWS_Y - blame_panel_height(rows) - 1;

    return (struct list_area){ { ROWS_Y, 0, h > 1 ? h : 1, cols }, count_rows(v) };
}

/* ---- how it looks ---- */

static void draw_head(const struct model *m, struct frame *f)
{
    const struct blame_view *v = m->blame;
    char path[512], text[64] = "";
    int x =
        1 + frame_puts(f, 0, 1, f->cols, STYLE_TITLE, v->by_line ? "lines of" : "history of") + 1;

    if (v->rows)
        snprintf(text, sizeof text, "%zu %s%s", v->rows->n, v->by_line ? "line" : "turn",
                 v->rows->n == 1 ? "" : "s");
    int w = frame_width(slice_of(text)), end = f->cols - w - 1;

    frame_puts(f, 0, end, w, STYLE_DIM, text);
    if (v->asked && frame_spinner_shows(v->asked_ms, m->now_ms))
        frame_puts(f, 0, end - 2, 1, STYLE_KEY, frame_spinner_sign(m->now_ms, f->ascii));
    frame_text_middle(f, 0, x, end - x - 3, STYLE_TEXT,
                      text_path_short(buf_slice(&v->path), m->settings->home, path, sizeof path));
}

static int blame_view_draw_age(const struct model *m, struct frame *f, int y, int x, int w,
                               int64_t time_ms)
{
    char age[HUMAN_AGE];

    (w < AGE_W ? human_age_short : human_age)(m->now_ms, time_ms, age);
    frame_puts_right(f, y, x + w, STYLE_AGE, age);
    return x + w + 2;
}

/* The title of the session, if the list has it. */
static struct slice blame_view_title_of(const struct model *m, const struct blame_row *row)
{
    const uint32_t entry =
        session_table_find(&m->list->sessions, m->blame->rows->refs->ref[row->ref].path);

    return entry == ENTRY_NONE ? SLICE("") : session_entry_title(&m->list->sessions.entry[entry]);
}

static void blame_view_draw_turn(const struct model *m, struct frame *f, struct rect r,
                                 const struct blame_row *row)
{
    char counts[48];
    const int age_w = r.w < NARROW ? HUMAN_AGE_SHORT_COLUMNS : AGE_W;
    int x = blame_view_draw_age(m, f, r.y, 1, age_w, row->time_ms),
        name_w = r.w >= WIDE ? 2 * NAME_W : NAME_W;
    struct slice title = blame_view_title_of(m, row);

    if (title.n)
        frame_text_cut(f, r.y, x, name_w, STYLE_TEXT, title);
    else
        frame_text(f, r.y, x, SHORT_ID_W, STYLE_DIM, row->session);
    x += name_w + 2;
    frame_puts(f, r.y, x, DID_W, STYLE_TEXT, row->did);
    x += DID_W + 1;
    snprintf(counts, sizeof counts, "+%" PRIu64, row->added);
    frame_puts_right(f, r.y, x + COUNT_W / 2, STYLE_ADD, counts);
    snprintf(counts, sizeof counts, "-%" PRIu64, row->removed);
    frame_puts_right(f, r.y, x + COUNT_W, STYLE_DELETE, counts);
    x += COUNT_W + 2;
    frame_text_cut(f, r.y, x, r.w - x - 1, STYLE_PROMPT, row->prompt);
}

/* The columns of a line: its prompt, and where its number and its text begin. */
struct line_columns {
    int age_w, prompt_w, number, number_w, text;
};

static struct line_columns blame_line_columns(const struct blame_view *v, int cols)
{
    struct line_columns c = { .age_w = cols < NARROW ? HUMAN_AGE_SHORT_COLUMNS : AGE_W,
                              .prompt_w = cols / 3 - AGE_W };
    char last[24];

    c.prompt_w = c.prompt_w < PROMPT_LEAST  ? PROMPT_LEAST
                 : c.prompt_w > PROMPT_MOST ? PROMPT_MOST
                                            : c.prompt_w;
    c.number = 1 + c.age_w + 2 + c.prompt_w + 1;
    c.number_w = snprintf(last, sizeof last, "%zu", v->rows->n);
    c.text = c.number + c.number_w + 1;
    return c;
}

static void blame_view_draw_line(const struct model *m, struct frame *f, struct rect r, size_t at,
                                 const struct blame_row *row)
{
    const struct line_columns c = blame_line_columns(m->blame, f->cols);
    char number[24];

    /* Neighbouring lines of one turn name it once, and again at the top of the screen. */
    const bool joined = at > m->blame->pick.top && row->ref == row[-1].ref &&
                        id128_eq(row->turn, row[-1].turn) && slice_eq(row->prompt, row[-1].prompt);

    if (row->ref != BLAME_ROW_NONE && joined) {
        frame_puts(f, r.y, 1 + c.age_w, 1, STYLE_DIM, f->ascii ? "|" : "│");
    } else if (row->ref != BLAME_ROW_NONE) {
        const int x = blame_view_draw_age(m, f, r.y, 1, c.age_w, row->time_ms);

        frame_text_cut(f, r.y, x, c.prompt_w, STYLE_PROMPT, row->prompt);
    }
    snprintf(number, sizeof number, "%*zu", c.number_w, at + 1);
    frame_puts(f, r.y, c.number, c.number_w, STYLE_DIM, number);
    frame_text_from(f, r.y, c.text, r.w - c.text - 1, STYLE_TEXT, row->text, m->blame->left);
}

static void blame_view_draw_row(const void *arg, struct frame *f, struct rect r, size_t at)
{
    const struct model *m = arg;
    const struct blame_row *row = &m->blame->rows->row[at];

    if (m->blame->rows->by_line)
        blame_view_draw_line(m, f, r, at, row);
    else
        blame_view_draw_turn(m, f, r, row);
}

/* The session and the whole prompt of the selected row, and its line if that was cut. */
static void blame_view_draw_panel(const struct model *m, struct frame *f)
{
    const struct blame_view *v = m->blame;
    const struct blame_row *row = &v->rows->row[v->pick.at];
    const int h = blame_panel_height(f->rows), y = f->rows - 1 - h;
    struct rect r = { y + 1, 2, h - 1, f->cols - 3 };
    struct slice title = row->ref == BLAME_ROW_NONE ? SLICE("") : blame_view_title_of(m, row);

    frame_rule(f, y, 0, f->cols);
    if (row->ref == BLAME_ROW_NONE) {
        frame_puts(f, r.y, r.x, r.w, STYLE_DIM, "not written by a session");
    } else {
        int x = r.x;

        x += frame_text_cut(f, r.y, x, r.w / 2, STYLE_STRONG, title.n ? title : row->session);
        x += frame_puts(f, r.y, x, f->cols - x, STYLE_DIM, f->ascii ? "  > " : "  ❯ ");
        if (v->rows->by_line)
            frame_text_cut(f, r.y, x, f->cols - x - 1, STYLE_PROMPT, row->prompt);
        else
            text_wrap_draw(f, (struct rect){ r.y, x, r.h, f->cols - x - 1 }, STYLE_PROMPT,
                           row->prompt);
    }
    if (v->rows->by_line &&
        frame_width(row->text) > f->cols - blame_line_columns(v, f->cols).text - 1)
        text_wrap_draw(f, (struct rect){ r.y + 1, r.x, r.h - 1, r.w }, STYLE_CODE, row->text);
}

static void draw_blame(const struct model *m, struct frame *f)
{
    const struct blame_view *v = m->blame;

    draw_head(m, f);
    if (count_rows(v) > 0)
        blame_view_draw_panel(m, f);
    if (count_rows(v) == 0) {
        f->cursor_y = ROWS_Y;
        f->cursor_x = 0;
        if (v->error.code) {
            text_wrap_draw_error(f, (struct rect){ ROWS_Y + 1, 3, 3, f->cols - 4 }, &v->error);
        } else if (v->rows) {
            frame_puts(f, ROWS_Y + 1, 3, f->cols - 4, STYLE_STRONG,
                       v->by_line ? "The file is empty" : "No session changed it with its tools");
        }
    }
    list_cursor_draw(&v->pick, rows_area(v, f->rows, f->cols), f, blame_view_draw_row, m);
}

/* ---- what happens ---- */

static void blame_view_request_rows(struct model *m)
{
    struct blame_view *v = m->blame;
    struct effect *e;

    effect_cancel(&m->fx, REQUESTER_BLAME, &v->asked);
    blame_rows_free(v->rows);
    v->rows = NULL;
    v->error = (struct err){ 0 };
    v->pick = (struct list_cursor){ 0 };
    v->left = v->longest = 0;
    e = effect_add(&m->fx, EFFECT_BLAME, REQUESTER_BLAME);
    if (!e || buf_add(&e->text, buf_slice(&v->path))) {
        toast_no_memory(&m->toast);
        return;
    }
    e->n = v->by_line;
    v->asked = e->generation;
    v->asked_ms = m->now_ms;
}

void blame_view_open(struct model *m, struct slice path)
{
    struct blame_view *v = m->blame;

    v->path.n = 0;
    v->by_line = false;
    if (buf_add(&v->path, path)) {
        toast_no_memory(&m->toast);
        return;
    }
    view_push(m, VIEW_BLAME);
    blame_view_request_rows(m);
}

void blame_view_fini(struct blame_view *v)
{
    blame_rows_free(v->rows);
    buf_fini(&v->path);
    *v = (struct blame_view){ 0 };
}

static bool blame_message(struct model *m, const struct msg *msg)
{
    struct blame_view *v = m->blame;

    if (!msg_answers(msg, v->asked, MSG_BLAME))
        return false;
    v->asked = 0;
    if (msg->kind == MSG_BLAME)
        v->rows = msg->u.blame;
    else
        v->error = msg->u.error;
    if (v->rows && v->rows->stopped)
        toast_note(&m->toast, m->now_ms, "some edits were not replayed: %s", v->rows->stopped);
    for (size_t i = 0; i < count_rows(v); i++) {
        const size_t w = (size_t)frame_width(v->rows->row[i].text);

        v->longest = w > v->longest ? w : v->longest;
    }
    list_cursor_move(&v->pick, rows_area(v, m->rows, m->cols), 0);
    return true;
}

static bool blame_view_has_session(const struct blame_view *v)
{
    return v->pick.at < count_rows(v) && v->rows->row[v->pick.at].ref != BLAME_ROW_NONE;
}

/* How far the lines can be scrolled: until the end of the longest one is on the screen. */
static size_t blame_side_most(const struct model *m)
{
    const struct blame_view *v = m->blame;

    if (!v->rows || !v->rows->by_line)
        return 0;
    const size_t shown = (size_t)(m->cols - blame_line_columns(v, m->cols).text - 1);

    return v->longest > shown ? v->longest - shown : 0;
}

static void blame_scroll_sideways(struct model *m, enum action a)
{
    struct blame_view *v = m->blame;
    const size_t most = blame_side_most(m), step = (size_t)m->cols / 4;

    if (a == ACT_SIDE_LEFT)
        v->left = v->left > step ? v->left - step : 0;
    else
        v->left = most > v->left + step ? v->left + step : most;
}

static const char *go_to_line(struct model *m, struct slice text)
{
    struct blame_view *v = m->blame;
    uint64_t line = 0;

    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9')
            return "a line has a number";
        line = line < count_rows(v) ? line * 10 + (uint64_t)(text.p[i] - '0') : line;
    }
    if (line == 0 || line > count_rows(v))
        return "the file has no such line";
    list_cursor_move(&v->pick, rows_area(v, m->rows, m->cols), (int64_t)line - 1);
    return NULL;
}

/* Selects the next match; after the last one, the first. A line is searched with the prompt that wrote it, a turn with its
 * session's title. */
static bool blame_search_step(struct model *m, int direction)
{
    struct blame_view *v = m->blame;
    const size_t n = count_rows(v), step = direction > 0 ? 1 : n - 1;

    for (size_t k = 1, i = v->pick.at; k <= n; k++) {
        i = (i + step) % n;
        AUTO_BUF text = { 0 };
        const struct blame_row *row = &v->rows->row[i];
        const struct slice title =
            row->ref == BLAME_ROW_NONE ? SLICE("") : blame_view_title_of(m, row);

        if (buf_addf(&text, "%.*s\n%.*s\n%.*s", SLICE_ARG(row->text), SLICE_ARG(row->prompt),
                     SLICE_ARG(title)) ||
            !fold_has(buf_slice(&text), v->sought))
            continue;
        list_cursor_move(&v->pick, rows_area(v, m->rows, m->cols), (int64_t)i);
        return true;
    }
    return false;
}

static const char *blame_search(struct model *m, struct slice text)
{
    struct blame_view *v = m->blame;

    if (text.n >= sizeof v->sought || memchr(text.p, '\0', text.n))
        return "the text is too long";
    snprintf(v->sought, sizeof v->sought, "%.*s", SLICE_ARG(text));
    return text.n == 0 || blame_search_step(m, 1) ? NULL
           : v->by_line                           ? "no line and no prompt has this"
                                                  : "no prompt and no title has this";
}

static bool blame_act(struct model *m, enum action a)
{
    struct blame_view *v = m->blame;

    switch (a) {
    case ACT_VIEW:
        if (blame_view_has_session(v)) {
            const struct blame_row *row = &m->blame->rows->row[m->blame->pick.at];

            transcript_screen_show(m, &m->blame->rows->refs->ref[row->ref], SLICE(""), SLICE(""),
                                   row->turn);
        }
        return true;
    case ACT_PANE:
        v->by_line = !v->by_line;
        blame_view_request_rows(m);
        return true;
    case ACT_LINE: dialog_prompt(m, "line ", SLICE(""), go_to_line); return true;
    case ACT_SEARCH: dialog_prompt(m, "find ", slice_of(v->sought), blame_search); return true;
    case ACT_SEARCH_NEXT: blame_search_step(m, 1); return true;
    case ACT_SEARCH_PREV: blame_search_step(m, -1); return true;
    case ACT_SIDE_LEFT:
    case ACT_SIDE_RIGHT: blame_scroll_sideways(m, a); return true;
    case ACT_REFRESH: blame_view_request_rows(m); return true;
    case ACT_BACK:
        effect_cancel(&m->fx, REQUESTER_BLAME, &m->blame->asked);
        blame_view_fini(m->blame);
        view_pop(m);
        return true;
    default: return list_cursor_act(&v->pick, rows_area(v, m->rows, m->cols), a);
    }
}

static const char *blame_unavailable(const struct model *m, enum action a)
{
    if (a == ACT_VIEW && !blame_view_has_session(m->blame))
        return count_rows(m->blame) ? "no session wrote this line" : "nothing is selected";
    if (a == ACT_SEARCH)
        return count_rows(m->blame) ? NULL : "nothing is selected";
    if (a == ACT_SEARCH_NEXT || a == ACT_SEARCH_PREV)
        return m->blame->sought[0] ? NULL : "no search yet: press /";
    if (a == ACT_LINE)
        return m->blame->rows && m->blame->rows->by_line ? NULL : "Tab shows the lines of the file";
    if (a == ACT_SIDE_LEFT || a == ACT_SIDE_RIGHT)
        return blame_side_most(m) ? NULL : "no line is longer than the screen";
    return a == ACT_PANE || a == ACT_VIEW || a == ACT_REFRESH
               ? NULL
               : list_session_unavailable(m, a, LIST_NO_SESSION);
}

static void blame_mouse(struct model *m, struct mouse event)
{
    list_cursor_mouse(&m->blame->pick, rows_area(m->blame, m->rows, m->cols), event);
}

static void blame_resized(struct model *m)
{
    struct blame_view *v = m->blame;

    v->left = v->left < blame_side_most(m) ? v->left : blame_side_most(m);
    list_cursor_move(&v->pick, rows_area(v, m->rows, m->cols), (int64_t)v->pick.at);
}

static int64_t blame_wake_ms(const struct model *m)
{
    const struct blame_view *v = m->blame;

    return v->asked ? frame_spinner_wake_ms(v->asked_ms, m->now_ms) : TIME_NONE;
}

const struct view_ops view_blame = {
    .name = "blame",
    .context = IN_BLAME,
    .draw = draw_blame,
    .act = blame_act,
    .unavailable = blame_unavailable,
    .message = blame_message,
    .mouse = blame_mouse,
    .resized = blame_resized,
    .wake_ms = blame_wake_ms,
};
