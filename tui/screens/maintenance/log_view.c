#include <stdio.h>
#include <string.h>

#include "tui/app/view.h"
#include "tui/screens/dialogs/dialog.h"
#include "tui/screens/flows/flows.h"
#include "tui/screens/list/list.h"
#include "tui/screens/maintenance/maintenance.h"
#include "tui/text/clean.h"
#include "tui/text/human.h"
#include "tui/widgets/styled_text.h"

/* The operation log, and in the same place the way back: the entries that going back to the state before one of them
 * would undo. */

enum {
    LOG_HEAD_H = 2,
    KIND_W = 11,
    STATE_W = 10,
    TITLE_MOST = 60,
    DIR_W = 28,
    DIR_W_LEAST = 18,
    DIR_W_NARROW = 12,
    DIR_COLS = 110,
    TEXT_COLS = 72,
    DETAIL_H = 4, /* a rule, and lines for the session and what was done */
    DETAIL_ROWS = 16,
};

static const struct log_rows *log_shown(const struct log_view *v)
{
    return v->back ? v->back : v->rows;
}

static size_t log_count(const struct log_view *v)
{
    return log_shown(v) ? log_shown(v)->n : 0;
}

static struct list_area log_area(const struct log_view *v, int rows, int cols)
{
    int h = rows - LOG_HEAD_H - 1 - (rows >= DETAIL_ROWS ? DETAIL_H : 0);

    return (struct list_area){ { LOG_HEAD_H, 0, h > 1 ? h : 1, cols }, log_count(v) };
}

static struct list_cursor *log_pick(struct log_view *v)
{
    return v->back ? &v->back_pick : &v->pick;
}

static const struct log_row *picked_row(const struct log_view *v)
{
    size_t at = v->back ? v->back_pick.at : v->pick.at;

    return at < log_count(v) ? &log_shown(v)->row[at] : NULL;
}

/* ---- how it looks ---- */

static const char *scope_name(const struct model *m)
{
    return m->list->scope == SCOPE_ALL         ? "all projects"
           : m->list->scope == SCOPE_WORKTREES ? "this repository"
                                               : "this directory";
}

static void draw_log_head(const struct model *m, struct frame *f)
{
    const struct log_view *v = m->log;
    const struct log_rows *r = log_shown(v);
    char text[160] = "";
    int x = 1 + frame_puts(f, 0, 1, f->cols, STYLE_TITLE, v->back ? "undo up to" : "log") + 2;

    if (v->back) {
        const struct log_row *oldest = &r->row[r->n - 1];

        snprintf(text, sizeof text, "%zu change%s", r->n, r->n == 1 ? "" : "s");
        int end = frame_puts_right(f, 0, f->cols - 1, STYLE_DIM, text);

        x += frame_text_cut(f, 0, x, end - x - 2, STYLE_TEXT, oldest->title) + 1;
        frame_text_cut(f, 0, x, end - x - 2, STYLE_DIM, oldest->text);
        if (r->why.code) {
            char why[400];

            err_sentence(&r->why, why, sizeof why);
            frame_text_cut(f, 1, 1, f->cols - 2, STYLE_ERROR, slice_of(why));
        } else if (r->elsewhere) {
            snprintf(text, sizeof text, "%zu later change%s in other projects: not undone",
                     r->elsewhere, r->elsewhere == 1 ? "" : "s");
            frame_puts(f, 1, 1, f->cols - 2, STYLE_DIM, text);
        }
        return;
    }

    if (r)
        snprintf(text, sizeof text, "%zu change%s in %s", r->n, r->n == 1 ? "" : "s",
                 scope_name(m));
    x += frame_puts(f, 0, x, f->cols - x, STYLE_TEXT, text);
    if (v->asked && frame_spinner_shows(v->asked_ms, m->now_ms))
        frame_puts(f, 0, x + 1, 1, STYLE_KEY, frame_spinner_sign(m->now_ms, f->ascii));

    if (f->cols >= 60)
        frame_puts_right(f, 0, f->cols - 1, STYLE_DIM, "newest first");
}

static void draw_log_row(const void *arg, struct frame *f, struct rect r, size_t at)
{
    const struct model *m = arg;
    const struct log_rows *rows = log_shown(m->log);
    const struct log_row *row = &rows->row[at];
    bool blocks = m->log->back && rows->why.code && rows->at == at;
    int dir_w = m->list->scope != SCOPE_ALL ? 0
                : r.w >= DIR_COLS           ? DIR_W
                : r.w >= TEXT_COLS          ? DIR_W_LEAST
                                            : DIR_W_NARROW,
        x = 2, end = r.x + r.w - 2 - STATE_W - dir_w;
    char age[HUMAN_AGE], dir[512], more[32] = "", title[200];
    enum style style = blocks ? STYLE_ERROR : row->undone ? STYLE_DIM : STYLE_TEXT;

    human_age(m->now_ms, row->at_ms, age);
    frame_puts(f, r.y, x + HUMAN_AGE_COLUMNS - (int)strlen(age), HUMAN_AGE_COLUMNS, STYLE_AGE, age);
    x += HUMAN_AGE_COLUMNS + 2;
    frame_puts(f, r.y, x, KIND_W - 1, row->undone ? STYLE_DIM : STYLE_TOOL, row->kind);
    x += KIND_W;
    if (row->sessions > 1)
        snprintf(more, sizeof more, " +%zu", row->sessions - 1);
    /* In few columns the kind says what was done, and the title which session it was. */
    const bool is_narrow = r.w < TEXT_COLS;
    const int most = is_narrow ? end - x - 1 + (row->undone ? 0 : STATE_W) : (end - x) * 3 / 5;
    int title_w = most < TITLE_MOST ? most : TITLE_MOST, more_w = (int)strlen(more);

    snprintf(title, sizeof title, "%.*s", (int)(row->title.n < 180 ? row->title.n : 180),
             row->title.p);
    int used = frame_text_cut(f, r.y, x, title_w - more_w - 1, style, slice_of(title));

    frame_puts(f, r.y, x + used, more_w, STYLE_DIM, more);
    x += title_w + 1;
    if (!is_narrow && row->is_undo)
        x += frame_puts(f, r.y, x, end - x, STYLE_DIM,
                        strcmp(row->kind, "redo") == 0 ? "redid: " : "undid: ");
    static const char elsewhere[] = ", other directories too";
    const int room = end - x + (row->undone ? 0 : STATE_W);

    if (!is_narrow)
        x += frame_text_cut(f, r.y, x, room, blocks ? STYLE_ERROR : STYLE_DIM, row->text);
    if (!is_narrow && row->spans && x + (int)sizeof elsewhere - 1 <= end)
        frame_puts(f, r.y, x, end - x, STYLE_DIM, elsewhere);
    if (row->undone)
        frame_puts(f, r.y, end + 1, STATE_W, STYLE_DIM, "(undone)");
    if (dir_w)
        frame_text_middle(f, r.y, r.x + r.w - dir_w - 1, dir_w, STYLE_DIM,
                          text_path_short(row->dir, m->settings->home, dir, sizeof dir));
}

/* The session and what was done, in full: the columns may have cut both. */
static void draw_log_detail(const struct model *m, struct frame *f)
{
    const struct log_view *v = m->log;
    const struct log_row *row = picked_row(v);
    struct rect r = { f->rows - DETAIL_H, 2, DETAIL_H - 2, f->cols - 3 };
    char dir[512];

    if (!row || f->rows < DETAIL_ROWS)
        return;
    frame_rule(f, r.y - 1, 0, f->cols);
    const int lines = text_wrap_draw(f, r, STYLE_TEXT, row->title);
    const int x = r.x + frame_width(row->title) + 2;

    if (lines == 1)
        frame_text_middle(f, r.y, x, f->cols - 1 - x, STYLE_DIM,
                          text_path_short(row->dir, m->settings->home, dir, sizeof dir));
    r.y += lines;
    if (row->is_undo)
        r.x += frame_puts(f, r.y, r.x, r.w, STYLE_DIM,
                          strcmp(row->kind, "redo") == 0 ? "redid: " : "undid: ");
    r.w = f->cols - 1 - r.x;
    r.h = DETAIL_H - 1 - lines;
    text_wrap_draw(f, r, STYLE_DIM, row->text);
}

static void draw_no_log(const struct log_view *v, struct frame *f)
{
    char text[400];

    f->cursor_y = LOG_HEAD_H;
    f->cursor_x = 0;
    if (v->error.code) {
        text_wrap_draw_error(f, (struct rect){ LOG_HEAD_H + 1, 3, 3, f->cols - 4 }, &v->error);
    } else if (v->rows) {
        frame_puts(f, LOG_HEAD_H + 1, 3, f->cols - 4, STYLE_STRONG, "Nothing was changed here");
        if (v->rows->elsewhere) {
            snprintf(text, sizeof text, "%zu change%s in other projects", v->rows->elsewhere,
                     v->rows->elsewhere == 1 ? "" : "s");
            frame_puts(f, LOG_HEAD_H + 3, 3, f->cols - 4, STYLE_DIM, text);
        } else {
            text_wrap_draw(f, (struct rect){ LOG_HEAD_H + 3, 3, 3, f->cols - 4 }, STYLE_DIM,
                           SLICE("Every rename, tag, fork, deletion and rewind that reprise makes "
                                 "is listed here, and each can be undone."));
        }
    }
}

static void draw_log(const struct model *m, struct frame *f)
{
    const struct log_view *v = m->log;

    draw_log_head(m, f);
    if (log_count(v) == 0)
        draw_no_log(v, f);
    list_cursor_draw(v->back ? &v->back_pick : &v->pick, log_area(v, f->rows, f->cols), f,
                     draw_log_row, m);
    draw_log_detail(m, f);
}

/* ---- the entries ---- */

static void forget_way_back(struct log_view *v)
{
    log_rows_free(v->back);
    v->back = NULL;
    v->back_pick = (struct list_cursor){ 0 };
}

/* With an id: the way back to the state before that entry. */
static void request_log(struct model *m, const char *id)
{
    struct log_view *v = m->log;

    effect_cancel(&m->fx, REQUESTER_LOG, &v->asked);
    struct effect *e = effect_add(&m->fx, EFFECT_LOG, REQUESTER_LOG);

    if (id && buf_add(&e->text, slice_of(id))) {
        toast_no_memory(&m->toast);
        return;
    }
    e->scope = m->list->scope;
    v->asked = e->generation;
    v->asked_ms = m->now_ms;
    v->asks_way_back = id != NULL;
}

void log_view_fini(struct log_view *v)
{
    log_rows_free(v->rows);
    log_rows_free(v->back);
    *v = (struct log_view){ 0 };
}

static bool log_perform(struct model *m, enum action a)
{
    if (a != ACT_LOG)
        return false;
    if (view_base(m) != VIEW_LOG) {
        log_view_fini(m->log);
        view_push(m, VIEW_LOG);
        request_log(m, NULL);
    }
    return true;
}

static void log_refresh(struct model *m)
{
    if (view_base(m) != VIEW_LOG)
        return;
    forget_way_back(m->log);
    request_log(m, NULL);
}

static bool log_message(struct model *m, const struct msg *msg)
{
    struct log_view *v = m->log;

    if (msg->kind == MSG_FILES_CHANGED && msg->u.logged && !v->back)
        log_refresh(m);
    if (!msg_answers(msg, v->asked, MSG_LOG))
        return false;
    v->asked = 0;
    if (msg->kind == MSG_FAILED && v->asks_way_back)
        toast_note(&m->toast, m->now_ms, "%s", msg->u.error.text);
    else if (msg->kind == MSG_FAILED)
        v->error = msg->u.error;
    else if (v->asks_way_back && msg->u.log->n == 0)
        log_rows_free(msg->u.log);
    else if (v->asks_way_back) {
        forget_way_back(v);
        v->back = msg->u.log;
        if (v->back->why.code)
            list_cursor_move(&v->back_pick, log_area(v, m->rows, m->cols), (int64_t)v->back->at);
    } else {
        v->error = (struct err){ 0 };

        /* The cursor stays on its entry when newer ones appear above it. */
        struct log_rows *rows = msg->u.log;
        struct list_area area = log_area(v, m->rows, m->cols);
        const struct log_row *row =
            v->rows && v->pick.at < v->rows->n ? &v->rows->row[v->pick.at] : NULL;
        size_t at = 0;

        for (size_t i = 0; row && i < rows->n; i++)
            if (strcmp(rows->row[i].id, row->id) == 0)
                at = i;
        log_rows_free(v->rows);
        v->rows = rows;
        area.n = rows->n;
        list_cursor_move(&v->pick, area, (int64_t)at);
    }
    return true;
}

/* ---- keys ---- */

static void go_back_answer(struct model *m, enum dialog_choice choice)
{
    struct log_view *v = m->log;

    if (choice != CHOICE_DO || !v->back)
        return;
    change_flow_request_undo(m, CHANGE_BACK_TO, NULL, slice_of(v->back->row[v->back->n - 1].id));
}

static void confirm_way_back(struct model *m)
{
    const struct log_rows *r = m->log->back;
    struct dialog *d = m->dialog;
    char title[DIALOG_TEXT];

    snprintf(title, sizeof title, "Undo %s%zu change%s?", r->n > 1 ? "all " : "this ", r->n,
             r->n == 1 ? "" : "s");
    dialog_begin(d, title, go_back_answer);
    dialog_line(d, "Back to the state before: %.*s",
                (int)(r->row[r->n - 1].text.n < 150 ? r->row[r->n - 1].text.n : 150),
                r->row[r->n - 1].text.p);
    dialog_line(d, "All of them are undone, or none. You can undo this.");
    dialog_offer(d, CHOICE_CANCEL, "cancel");
    dialog_offer(d, CHOICE_DO, "go back");
    view_push(m, VIEW_DIALOG);
}

static void log_step_back(struct model *m)
{
    struct log_view *v = m->log;

    if (v->back) {
        forget_way_back(v);
        return;
    }
    effect_cancel(&m->fx, REQUESTER_LOG, &v->asked);
    log_view_fini(v);
    view_pop(m);
}

static bool log_act(struct model *m, enum action a)
{
    struct log_view *v = m->log;
    const struct log_row *row = picked_row(v);

    switch (a) {
    case ACT_UNDO_THIS:
    case ACT_BACK_TO:
        if (v->back)
            confirm_way_back(m);
        else if (row && a == ACT_BACK_TO)
            request_log(m, row->id);
        else if (row)
            change_flow_ask_undo(m, row->id);
        return true;
    case ACT_SCOPE:
        forget_way_back(v);
        list_next_scope(m);
        request_log(m, NULL);
        return true;
    case ACT_REFRESH: log_refresh(m); return true;
    case ACT_BACK: log_step_back(m); return true;
    default: return list_cursor_act(log_pick(v), log_area(v, m->rows, m->cols), a);
    }
}

static const char *log_unavailable(const struct model *m, enum action a)
{
    const struct log_view *v = m->log;
    const struct log_row *row = picked_row(v);

    switch (a) {
    case ACT_UNDO_THIS:
    case ACT_BACK_TO:
        if (!row)
            return "nothing was changed here";
        if (v->back)
            return v->back->why.code ? "one of them cannot be undone: nothing is changed" : NULL;
        if (a == ACT_UNDO_THIS && row->undone)
            return "it was undone already; the undo is a newer entry";
        return a == ACT_UNDO_THIS && row->by_agent ? "only the session's agent can undo it" : NULL;
    case ACT_SCOPE:
    case ACT_REFRESH: return NULL;
    default: return list_session_unavailable(m, a, LIST_NO_SESSION);
    }
}

static void log_mouse(struct model *m, struct mouse event)
{
    list_cursor_mouse(log_pick(m->log), log_area(m->log, m->rows, m->cols), event);
}

static void log_resized(struct model *m)
{
    struct list_cursor *c = log_pick(m->log);

    list_cursor_move(c, log_area(m->log, m->rows, m->cols), (int64_t)c->at);
}

static int64_t log_wake_ms(const struct model *m)
{
    return m->log->asked ? frame_spinner_wake_ms(m->log->asked_ms, m->now_ms) : TIME_NONE;
}

static const enum action *log_footer(const struct model *m)
{
    static const enum action in_log[] = { ACT_UNDO_THIS, ACT_BACK_TO, ACT_SCOPE,
                                          ACT_REDO,      ACT_BACK,    ACT_NONE };
    static const enum action in_way_back[] = { ACT_BACK_TO, ACT_BACK, ACT_NONE };

    return m->log->back ? in_way_back : in_log;
}

const struct view_ops view_log = {
    .name = "log",
    .context = IN_LOG,
    .draw = draw_log,
    .act = log_act,
    .perform = log_perform,
    .unavailable = log_unavailable,
    .message = log_message,
    .refresh = log_refresh,
    .mouse = log_mouse,
    .resized = log_resized,
    .wake_ms = log_wake_ms,
    .footer = log_footer,
};
