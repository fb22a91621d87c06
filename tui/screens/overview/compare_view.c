#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/rewind/diff/linediff.h"
#include "tui/app/view.h"
#include "tui/data/preview.h"
#include "tui/screens/list/list.h"
#include "tui/screens/overview/overview.h"
#include "tui/text/clean.h"
#include "tui/text/human.h"
#include "tui/widgets/markdown.h"

/* Two sessions next to each other: a row for their prompts and one for each file that either changed, and what the
 * selected row stands for. */

enum {
    COMPARE_HEAD_H = 4,
    COMPARE_ROWS_W = 66, /* the columns of the rows if their contents are beside them */
    COMPARE_WIDE = 150,
    COMPARE_COUNT_W = 11,
};

static size_t compare_count(const struct compare_view *v)
{
    return v->sessions ? v->files + 1 : 0;
}

/* The rows, above their contents or to the left of them. */
static struct list_area compare_area(const struct compare_view *v, int rows, int cols)
{
    const int h = rows - COMPARE_HEAD_H - 1 > 1 ? rows - COMPARE_HEAD_H - 1 : 1;
    const int n = compare_count(v) < (size_t)h / 3 ? (int)compare_count(v) : h / 3;
    const struct rect wide = { COMPARE_HEAD_H, 0, h, COMPARE_ROWS_W },
                      narrow = { COMPARE_HEAD_H, 0, n > 1 ? n : 1, cols };

    return (struct list_area){ cols >= COMPARE_WIDE ? wide : narrow, compare_count(v) };
}

static struct rect compare_content(const struct compare_view *v, int rows, int cols)
{
    const struct rect r = compare_area(v, rows, cols).r;

    if (cols >= COMPARE_WIDE)
        return (struct rect){ r.y, r.w + 2, r.h, cols - r.w - 3 };
    return (struct rect){ r.y + r.h + 1, 1, rows - 2 - r.y - r.h, cols - 2 };
}

/* NULL: the row of the prompts. */
static const struct compared_file *compare_file_of(const struct compare_view *v, size_t row)
{
    return row > 0 && row < compare_count(v) ? &v->sessions->file[v->file[row - 1]] : NULL;
}

/* ---- what the selected row stands for ---- */

/* What would change in the present file, each hunk under its tick. Returns the line on which the selected one begins. */
static size_t compare_lay_hunks(struct compare_view *v, int width, bool ascii)
{
    const struct hunks_layout_options how = { .width = width, .ascii = ascii };
    const struct linediff *d = &v->hunks->diff;
    char head[80];
    size_t top = 0;

    for (size_t i = 0; i < d->hunks && v->text.n < COMPARE_MOST_LINES; i++) {
        struct hunks lines = { 0 };

        if (i == v->hunk)
            top = v->text.n;
        snprintf(head, sizeof head, "%s[%c] hunk %zu of %zu, from %c",
                 i != v->hunk ? "  "
                 : ascii      ? "> "
                              : "▌ ",
                 v->taken[i] ? 'x' : ' ', i + 1, d->hunks, v->side ? 'B' : 'A');
        styled_text_add(&v->text, i == v->hunk ? STYLE_STRONG : STYLE_TEXT, head);
        hunks_of_diff(&lines, d, i);
        (void)hunks_layout(&v->text, &how, &lines);
        hunks_fini(&lines);
    }
    return top;
}

void compare_lay_out(struct model *m)
{
    struct compare_view *v = m->compare;
    const struct compared_file *f = compare_file_of(v, v->pick.at);
    const int width = compare_content(v, m->rows, m->cols).w;

    styled_text_fini(&v->text);
    v->text = (struct styled_text){ 0 };
    v->top = 0;
    if (!v->sessions || width < 10)
        return;
    if (v->hunks)
        v->top = compare_lay_hunks(v, width, m->settings->ascii);
    else if (f)
        compare_text_file(&v->text, f, width, m->settings->ascii);
    else
        compare_text_prompts(&v->text, v->sessions, width, m->settings->ascii);
    if (v->text.rc)
        toast_no_memory(&m->toast);
}

/* ---- how it looks ---- */

static void draw_compared_side(const struct compare_view *v, struct frame *f, int which)
{
    const struct compared_side *s = &v->sessions->side[which];
    enum { CUTS = 4 };
    char text[160], tokens[HUMAN_COUNT], took[HUMAN_TOOK];
    size_t cut[CUTS], cuts = 0;
    size_t n = (size_t)snprintf(text, sizeof text, "%s  %zu messages",
                                v->refs->ref[which].store->ops->name, s->messages);

    cut[cuts++] = n;
    if (s->first_ms != TIME_NONE) {
        human_took(s->last_ms - s->first_ms, took);
        n += (size_t)snprintf(text + n, sizeof text - n, "  %s", took);
        cut[cuts++] = n;
    }
    if (s->records_usage && usage_sum_total(&s->usage) > 0) {
        human_count(usage_sum_total(&s->usage), tokens);
        n += (size_t)snprintf(text + n, sizeof text - n, "  %s tokens", tokens);
        cut[cuts++] = n;
    }
    if (s->records_usage && s->usage.has_cost) {
        n += (size_t)snprintf(text + n, sizeof text - n, "  $%.2f%s", s->usage.cost,
                              s->usage.unpriced ? "+" : "");
        cut[cuts++] = n;
    }
    /* The title is of more use than the last facts. */
    while (--cuts > 0 && f->cols - 6 - (int)n < frame_width(buf_slice(&v->title[which])))
        text[n = cut[cuts - 1]] = '\0';
    const int y = 1 + which, end = frame_puts_right(f, y, f->cols - 1, STYLE_DIM, text);

    frame_puts(f, y, 1, 1, STYLE_STRONG, which ? "B" : "A");
    frame_text_cut(f, y, 3, end - 5, STYLE_TEXT, buf_slice(&v->title[which]));
    if (s->no_files)
        frame_puts(f, 3, 1, f->cols - 2, STYLE_WARN,
                   which ? "which files B changed is not known"
                         : "which files A changed is not known");
}

static void draw_compare_head(const struct model *m, struct frame *f)
{
    const struct compare_view *v = m->compare;
    const int x = 1 + frame_puts(f, 0, 1, f->cols, STYLE_TITLE, "compare") + 2;
    char text[80] = "no common message";

    if (v->asked && frame_spinner_shows(v->asked_ms, m->now_ms))
        frame_puts(f, 0, x, 1, STYLE_KEY, frame_spinner_sign(m->now_ms, f->ascii));
    if (!v->sessions)
        return;
    if (v->sessions->common)
        snprintf(text, sizeof text, "%zu common message%s", v->sessions->common,
                 v->sessions->common == 1 ? "" : "s");
    frame_puts(f, 0, x, f->cols - x, STYLE_TEXT, text);
    for (int k = 0; k < 2; k++)
        draw_compared_side(v, f, k);
}

static void draw_compare_row(const void *arg, struct frame *f, struct rect r, size_t at)
{
    const struct compare_view *v = arg;
    const struct compared_file *file = compare_file_of(v, at);
    int word_w = 0;
    char text[64];

    if (!file) {
        snprintf(text, sizeof text, "prompts: %zu and %zu, %zu in common",
                 v->sessions->side[0].prompts, v->sessions->side[1].prompts,
                 v->sessions->side[0].common);
        frame_puts(f, r.y, r.x + 2, r.w - 3, STYLE_TEXT, text);
        return;
    }

    for (size_t i = 1; i < compare_count(v); i++) {
        const int w = (int)strlen(compare_text_word(compare_file_of(v, i)));

        word_w = w > word_w ? w : word_w;
    }
    const int end = r.x + r.w - 1 - 2 * COMPARE_COUNT_W - word_w;

    frame_text_middle(f, r.y, r.x + 2, end - r.x - 3, STYLE_TEXT, file->path);
    for (int k = 0; k < 2; k++) {
        const struct compared_state *s = &file->side[k];

        if (!s->changed)
            continue;
        const int x = end + k * COMPARE_COUNT_W, w = COMPARE_COUNT_W - 1;

        frame_puts(f, r.y, x, 1, STYLE_DIM, k ? "B" : "A");
        int n = snprintf(text, sizeof text, "+%" PRIu64, s->added);

        frame_puts(f, r.y, x + 2, w - 2, STYLE_ADD, text);
        snprintf(text, sizeof text, "-%" PRIu64, s->removed);
        frame_puts(f, r.y, x + 3 + n, w - 3 - n, STYLE_DELETE, text);
    }
    frame_puts(f, r.y, end + 2 * COMPARE_COUNT_W, r.w,
               compare_has_diff(file) ? STYLE_WARN : STYLE_DIM, compare_text_word(file));
}

static void draw_compare(const struct model *m, struct frame *f)
{
    const struct compare_view *v = m->compare;
    const struct list_area area = compare_area(v, f->rows, f->cols);
    const struct rect r = compare_content(v, f->rows, f->cols);

    draw_compare_head(m, f);
    if (v->error.code)
        text_wrap_draw_error(f, (struct rect){ 2, 1, 3, f->cols - 2 }, &v->error);
    if (!v->sessions)
        return;
    if (f->cols >= COMPARE_WIDE)
        frame_edge(f, r.y, r.x - 2, r.h);
    else
        frame_rule(f, r.y - 1, 0, f->cols);
    for (int i = 0; i < r.h && v->top + (size_t)i < v->text.n; i++)
        styled_text_draw_line(&v->text, v->top + (size_t)i, f, r.y + i, r.x, r.w);
    frame_scrollbar(f, (struct rect){ r.y, r.x, r.h, r.w + 1 }, v->top, v->text.n, (size_t)r.h);
    list_cursor_draw(&v->pick, area, f, draw_compare_row, v);
}

/* ---- what happens ---- */

void compare_view_fini(struct compare_view *v)
{
    compared_sessions_free(v->sessions);
    ref_list_free(v->refs);
    free(v->file);
    buf_fini(&v->title[0]);
    buf_fini(&v->title[1]);
    styled_text_fini(&v->text);
    preview_free(v->preview);
    take_flow_leave(v);
    *v = (struct compare_view){ .asked_rewind = v->asked_rewind }; /* its result is still shown */
}

/* The marked sessions, the older one first. */
static bool compare_collect(struct model *m)
{
    struct compare_view *v = m->compare;
    const struct session_entry *entry[2] = { NULL, NULL };
    struct list_selection s = list_selection_of(m);
    uint32_t i;

    for (size_t k = 0; k < 2 && list_selection_next(&s, &i); k++)
        entry[k] = &m->list->sessions.entry[i];
    if (!entry[1])
        return false;
    /* A fork begins when its parent did. */
    const int64_t began = entry[1]->row ? entry[1]->row->created_ms : TIME_NONE,
                  other = entry[0]->row ? entry[0]->row->created_ms : TIME_NONE;
    const bool knows = began != other && began != TIME_NONE && other != TIME_NONE;

    if (knows ? began < other : session_entry_time(entry[1]) < session_entry_time(entry[0])) {
        const struct session_entry *later = entry[0];

        entry[0] = entry[1];
        entry[1] = later;
    }
    v->refs = ref_list_new();
    for (size_t k = 0; k < 2; k++)
        if (!v->refs || !ref_list_add(v->refs, &entry[k]->ref, 0) ||
            buf_add(&v->title[k], session_entry_title(entry[k])))
            return false;
    return true;
}

static void compare_request(struct model *m)
{
    struct compare_view *v = m->compare;
    struct ref_list *refs = ref_list_copy(v->refs);

    if (!refs) {
        toast_no_memory(&m->toast);
        return;
    }
    effect_cancel(&m->fx, REQUESTER_COMPARE, &v->asked);
    struct effect *e = effect_add(&m->fx, EFFECT_COMPARE_SESSIONS, REQUESTER_COMPARE);

    e->refs = refs;
    v->asked = e->generation;
    v->asked_ms = m->now_ms;
}

static bool compare_perform(struct model *m, enum action a)
{
    if (a != ACT_COMPARE)
        return false;
    compare_view_fini(m->compare);
    if (compare_collect(m)) {
        view_push(m, VIEW_COMPARE);
        compare_request(m);
    } else {
        compare_view_fini(m->compare);
        toast_no_memory(&m->toast);
    }
    return true;
}

static void compare_take(struct model *m, struct compared_sessions *c)
{
    struct compare_view *v = m->compare;

    compared_sessions_free(v->sessions);
    free(v->file);
    v->sessions = NULL;
    v->files = 0;
    v->file = calloc(c->files + 1, sizeof *v->file);
    if (!v->file) {
        compared_sessions_free(c);
        toast_no_memory(&m->toast);
        return;
    }
    for (size_t i = 0; i < c->files; i++)
        if (c->file[i].side[0].changed || c->file[i].side[1].changed)
            v->file[v->files++] = i;
    v->sessions = c;
    list_cursor_move(&v->pick, compare_area(v, m->rows, m->cols), (int64_t)v->pick.at);
    compare_lay_out(m);
}

static bool compare_message(struct model *m, const struct msg *msg)
{
    struct compare_view *v = m->compare;

    if (!msg_answers(msg, v->asked, MSG_COMPARED))
        return take_flow_message(m, msg);
    v->asked = 0;
    if (msg->kind == MSG_COMPARED)
        compare_take(m, msg->u.compared);
    else
        v->error = msg->u.error;
    return true;
}

static void compare_scroll(struct model *m, int direction)
{
    struct compare_view *v = m->compare;
    const int h = compare_content(v, m->rows, m->cols).h;
    const size_t shown = h > 0 ? (size_t)h : 1, page = shown > 2 ? shown - 2 : 1;
    const size_t most = v->text.n > shown ? v->text.n - shown : 0;

    if (direction > 0)
        v->top = v->top + page < most ? v->top + page : most;
    else
        v->top = v->top > page ? v->top - page : 0;
}

static bool compare_act(struct model *m, enum action a)
{
    struct compare_view *v = m->compare;
    const size_t at = v->pick.at;

    /* While hunks are chosen, only scrolling is as usual. */
    if (v->hunks && a != ACT_PREVIEW_DOWN && a != ACT_PREVIEW_UP)
        return take_flow_act(m, a);
    switch (a) {
    case ACT_PREVIEW_DOWN: compare_scroll(m, 1); return true;
    case ACT_PREVIEW_UP: compare_scroll(m, -1); return true;
    case ACT_REFRESH: compare_request(m); return true;
    case ACT_TAKE_A:
    case ACT_TAKE_B:
        take_flow_begin(m, compare_file_of(v, v->pick.at), a == ACT_TAKE_B);
        return true;
    case ACT_BACK:
        effect_cancel(&m->fx, REQUESTER_COMPARE, &v->asked);
        effect_cancel(&m->fx, REQUESTER_COMPARE, &v->asked_take);
        effect_cancel(&m->fx, REQUESTER_COMPARE, &v->asked_hunks);
        compare_view_fini(v);
        view_pop(m);
        return true;
    default: break;
    }

    if (!list_cursor_act(&v->pick, compare_area(v, m->rows, m->cols), a))
        return false;
    if (v->pick.at != at)
        compare_lay_out(m);
    return true;
}

static const char *compare_unavailable(const struct model *m, enum action a)
{
    if (m->compare->hunks) /* the keys are those of the rewind view, but no rewind is shown */
        return a == ACT_TREE ? "this is not a rewind" : NULL;
    if (a == ACT_TAKE_A || a == ACT_TAKE_B)
        return take_flow_unavailable(compare_file_of(m->compare, m->compare->pick.at),
                                     a == ACT_TAKE_B);
    return a == ACT_REFRESH || a == ACT_PREVIEW_DOWN || a == ACT_PREVIEW_UP
               ? NULL
               : list_session_unavailable(m, a, LIST_NO_SESSION);
}

static void compare_mouse(struct model *m, struct mouse event)
{
    struct compare_view *v = m->compare;
    const struct rect r = compare_content(v, m->rows, m->cols);

    if (frame_rect_has(r, event.y, event.x) &&
        (event.event == MOUSE_WHEEL_UP || event.event == MOUSE_WHEEL_DOWN))
        compare_scroll(m, event.event == MOUSE_WHEEL_DOWN ? 1 : -1);
    else if (list_cursor_mouse(&v->pick, compare_area(v, m->rows, m->cols), event))
        compare_lay_out(m);
}

static void compare_resized(struct model *m)
{
    struct compare_view *v = m->compare;

    if (!view_is_open(m, VIEW_COMPARE))
        return;
    list_cursor_move(&v->pick, compare_area(v, m->rows, m->cols), (int64_t)v->pick.at);
    compare_lay_out(m);
}

static int64_t compare_wake_ms(const struct model *m)
{
    return m->compare->asked ? frame_spinner_wake_ms(m->compare->asked_ms, m->now_ms) : TIME_NONE;
}

static const enum action *compare_footer(const struct model *m)
{
    static const enum action in_compare[] = { ACT_TAKE_A,     ACT_TAKE_B, ACT_PREVIEW_DOWN,
                                              ACT_PREVIEW_UP, ACT_UP,     ACT_DOWN,
                                              ACT_BACK,       ACT_NONE };

    static const enum action of_hunks[] = { ACT_TICK,     ACT_HUNK_NEXT, ACT_HUNK_PREV, ACT_APPLY,
                                            ACT_MARK_ALL, ACT_BACK,      ACT_NONE };

    return m->compare->hunks ? of_hunks : in_compare;
}

/* Hunks are ticked with the keys of the rewind view. */
static enum key_context compare_place(const struct model *m)
{
    return m->compare->hunks ? IN_REWIND : IN_COMPARE;
}

const struct view_ops view_compare = {
    .name = "compare",
    .context = IN_COMPARE,
    .place = compare_place,
    .draw = draw_compare,
    .act = compare_act,
    .perform = compare_perform,
    .unavailable = compare_unavailable,
    .message = compare_message,
    .mouse = compare_mouse,
    .resized = compare_resized,
    .wake_ms = compare_wake_ms,
    .footer = compare_footer,
};
