#include <stdio.h>
#include <string.h>

#include "lite/base/time.h"
#include "tui/app/view.h"
#include "tui/screens/flows/flows.h"
#include "tui/screens/list/list.h"
#include "tui/screens/overview/overview.h"
#include "tui/screens/transcript/transcript.h"
#include "tui/text/clean.h"
#include "tui/text/human.h"

enum {
    BOARD_HEAD_H = 3,
    BOARD_STATE_W = 8,
    BOARD_FOR_W = 6,
    BOARD_TITLE_MOST = 50,
    BOARD_PROJECT_W = 24, /* of these columns, at most: they are as wide as their texts */
    BOARD_PROJECT_NARROW = 14,
    BOARD_AGENT_W = 14,
    BOARD_PLACE_W = 24,
    BOARD_WITH_PROJECT = 80,
    BOARD_WITH_AGENT = 90,
    BOARD_WITH_PLACE = 110,
    BOARD_LIVES_MS = 1000, /* between checks whether the processes still run */
    BOARD_MINUTE = 60 * 1000,
    BOARD_RESTS = 10, /* reading it may take a tenth of the time */
};

static size_t board_count(const struct board_view *v)
{
    return v->rows ? v->rows->running.n : 0;
}

static struct list_area board_area(const struct model *m, int rows, int cols)
{
    int h = rows - BOARD_HEAD_H - 1;

    return (struct list_area){ { BOARD_HEAD_H, 0, h > 1 ? h : 1, cols }, board_count(m->board) };
}

static const struct session_row *board_picked(const struct board_view *v)
{
    return v->pick.at < board_count(v) ? v->rows->running.row[v->pick.at] : NULL;
}

/* ---- how it looks ---- */

/* What it asks, what it does, or else what it was asked last. */
static struct slice board_does(const struct session_row *row)
{
    const struct slice does = list_activity(row);

    return does.n ? does : row->last_prompt;
}

static const char *board_place(const struct agent_terminal *t, char *out, size_t cap)
{
    const char *program = terminal_kind_name(t->kind);

    snprintf(out, cap, "%s%s%s", program, *program ? " " : "", *program ? t->place : t->name);
    return out;
}

static enum style board_state_style(const struct session_row *row)
{
    return row->state == SESSION_REQUIRES_ACTION ? STYLE_WARN
           : row->state == SESSION_RUNNING       ? STYLE_LIVE
                                                 : STYLE_DIM;
}

static void draw_board_head(const struct model *m, struct frame *f)
{
    const struct board_view *v = m->board;
    size_t waiting = 0, busy = 0;
    char text[80] = "";
    int x = 1 + frame_puts(f, 0, 1, f->cols, STYLE_TITLE, "board") + 2;

    for (size_t i = 0; i < board_count(v); i++) {
        waiting += v->rows->running.row[i]->state == SESSION_REQUIRES_ACTION;
        busy += v->rows->running.row[i]->state == SESSION_RUNNING;
    }
    if (waiting) {
        snprintf(text, sizeof text, "%zu waiting  ", waiting);
        x += frame_puts(f, 0, x, f->cols - x, STYLE_WARN, text);
    }
    if (board_count(v)) {
        snprintf(text, sizeof text, "%zu busy  %zu running", busy, board_count(v));
        x += frame_puts(f, 0, x, f->cols - x, STYLE_TEXT, text);
    }
    if (!v->rows && v->asked && frame_spinner_shows(v->asked_ms, m->now_ms))
        frame_puts(f, 0, x + 1, 1, STYLE_KEY, frame_spinner_sign(m->now_ms, f->ascii));
    if (f->cols >= 60)
        frame_puts_right(f, 0, f->cols - 1, STYLE_DIM, "all projects");
}

/* The selected session in full, above the rows, which have room for a part of it. */
static void draw_board_picked(const struct model *m, struct frame *f)
{
    const struct session_row *row = board_picked(m->board);
    char text[512];

    if (!row)
        return;
    int x = 1 + frame_puts(f, 1, 1, f->cols, STYLE_DIM, row->ref.store->ops->name) + 2;
    const char *place =
        board_place(&m->board->rows->terminal[m->board->pick.at], text, sizeof text);

    if (*place)
        x += frame_text(f, 1, x, f->cols / 3, STYLE_TEXT, slice_of(place)) + 2;
    x += frame_text_middle(f, 1, x, (f->cols - x) / 2, STYLE_DIM,
                           text_path_short(row->cwd, m->settings->home, text, sizeof text)) +
         2;
    frame_text_cut(f, 1, x, f->cols - x - 1, board_state_style(row), board_does(row));
}

struct board_columns {
    int place, agent, project;
};

/* What they take, with the gap; nothing if there is no room for them, or nothing to say in any row. */
static struct board_columns board_columns(const struct board_view *v, int w)
{
    struct board_columns c = { 0 };
    char text[160];
    bool agents = false;

    for (size_t i = 0; i < board_count(v); i++) {
        const struct session_row *row = v->rows->running.row[i];
        const int place =
                      frame_width(slice_of(board_place(&v->rows->terminal[i], text, sizeof text))),
                  agent = frame_width(slice_of(row->ref.store->ops->name)),
                  project = frame_width(text_path_last(row->cwd));

        c.place = place > c.place ? place : c.place;
        c.agent = agent > c.agent ? agent : c.agent;
        c.project = project > c.project ? project : c.project;
        agents = agents || row->ref.store->ops != v->rows->running.row[0]->ref.store->ops;
    }

    /* One agent in all rows needs no column: the line above them names it. */
    c.agent = !agents || w < BOARD_WITH_AGENT ? 0
              : c.agent + 2 < BOARD_AGENT_W   ? c.agent + 2
                                              : BOARD_AGENT_W;
    c.place = c.place == 0 || w < BOARD_WITH_PLACE ? 0
              : c.place + 2 < BOARD_PLACE_W        ? c.place + 2
                                                   : BOARD_PLACE_W;
    const int most = w < BOARD_WITH_PLACE ? BOARD_PROJECT_NARROW : BOARD_PROJECT_W;

    c.project = c.project == 0 || w < BOARD_WITH_PROJECT ? 0
                : c.project + 2 < most                   ? c.project + 2
                                                         : most;
    return c;
}

/* As wide as the longest title, but at least a third of the room is for what the sessions do, if that is known of any. */
static int board_title_width(const struct board_view *v, int room)
{
    int widest = 0, most = room;

    for (size_t i = 0; i < board_count(v) && most == room; i++)
        if (board_does(v->rows->running.row[i]).n)
            most = room * 2 / 3;
    most = most < BOARD_TITLE_MOST ? most : BOARD_TITLE_MOST;
    for (size_t i = 0; i < board_count(v) && widest + 2 < most; i++) {
        int w = frame_width(session_row_title(v->rows->running.row[i]));

        widest = w > widest ? w : widest;
    }
    return widest + 2 < most ? widest + 2 : most;
}

static void draw_board_row(const void *arg, struct frame *f, struct rect r, size_t at)
{
    const struct model *m = arg;
    const struct session_row *row = m->board->rows->running.row[at];
    const struct board_columns c = board_columns(m->board, r.w);
    char text[160];
    int x = 2;

    frame_puts(f, r.y, x, BOARD_STATE_W, board_state_style(row), running_state(row));
    x += BOARD_STATE_W;
    human_age(m->now_ms, running_since_ms(row), text);

    /* "5m ago" is shown as "5m"; a date is shown whole. */
    text[strcspn(text, strstr(text, " ago") ? " " : "")] = '\0';
    frame_puts(f, r.y, x, BOARD_FOR_W, STYLE_AGE, text);
    x += BOARD_FOR_W + 1;

    const int room = r.x + r.w - x - 1 - c.place - c.agent - c.project,
              title_w = board_title_width(m->board, room);

    frame_text_cut(f, r.y, x, title_w - 2, STYLE_TEXT, session_row_title(row));
    x += title_w;
    if (c.project)
        frame_text_cut(f, r.y, x, c.project - 2, STYLE_DIM, text_path_last(row->cwd));
    x += c.project;
    if (c.agent)
        frame_text_cut(f, r.y, x, c.agent - 2, STYLE_DIM, slice_of(row->ref.store->ops->name));
    x += c.agent;

    frame_text_cut(f, r.y, x, room - title_w - 1,
                   row->state == SESSION_REQUIRES_ACTION ? STYLE_WARN
                   : row->state == SESSION_RUNNING       ? STYLE_TEXT
                                                         : STYLE_DIM,
                   board_does(row));
    if (c.place)
        frame_text_cut(f, r.y, r.x + r.w - c.place, c.place - 1, STYLE_DIM,
                       slice_of(board_place(&m->board->rows->terminal[at], text, sizeof text)));
}

static void draw_board(const struct model *m, struct frame *f)
{
    const struct board_view *v = m->board;
    const int y = BOARD_HEAD_H + 1;

    draw_board_head(m, f);
    draw_board_picked(m, f);
    if (board_count(v) == 0) {
        f->cursor_y = BOARD_HEAD_H;
        f->cursor_x = 0;
        if (v->error.code) {
            text_wrap_draw_error(f, (struct rect){ y, 3, 3, f->cols - 4 }, &v->error);
        } else if (v->rows) {
            frame_puts(f, y, 3, f->cols - 4, STYLE_STRONG, "No session is running");
            frame_puts(f, y + 2, 3, f->cols - 4, STYLE_DIM,
                       "Sessions appear here when an agent opens them.");
        }
    }
    list_cursor_draw(&v->pick, board_area(m, f->rows, f->cols), f, draw_board_row, m);
}

/* ---- reading it ---- */

static void board_request(struct model *m)
{
    struct board_view *v = m->board;

    struct effect *e = effect_add(&m->fx, EFFECT_BOARD, REQUESTER_BOARD);

    e->scope = SCOPE_ALL;
    v->asked = e->generation;
    v->asked_ms = v->checked_ms = m->now_ms;
    v->stale = false;
}

void board_view_fini(struct board_view *v)
{
    board_rows_free(v->rows);
    buf_fini(&v->reading);
    *v = (struct board_view){ 0 };
}

static bool board_perform(struct model *m, enum action a)
{
    if (a != ACT_BOARD)
        return false;
    if (!view_is_open(m, VIEW_BOARD)) {
        effect_cancel(&m->fx, REQUESTER_BOARD, &m->board->asked);
        board_view_fini(m->board);
        view_push(m, VIEW_BOARD);
        board_request(m);
    }
    return true;
}

/* The list reloads the sessions that it has; any other one that is being read is reloaded here. */
static void board_reload_viewer(struct model *m)
{
    struct board_view *v = m->board;

    if (m->viewed != ENTRY_NONE || view_base(m) != VIEW_TRANSCRIPT || !v->reading.n)
        return;
    for (size_t i = 0; i < board_count(v); i++) {
        const struct session_ref *ref = &v->rows->running.row[i]->ref;

        if (!slice_eq(ref->path, buf_slice(&v->reading)) ||
            (ref->file.size == v->read_file.size && ref->file.mtime_ns == v->read_file.mtime_ns))
            continue;
        v->read_file = ref->file;
        transcript_view_reload(m->viewer, ref, &m->fx);
    }
}

/* The cursor stays on its session wherever that is now; on the first row it stays there, where those that wait appear. */
static void board_take(struct model *m, struct board_rows *rows)
{
    struct board_view *v = m->board;
    const struct session_row *row = v->pick.at ? board_picked(v) : NULL;
    size_t at = row ? v->pick.at : 0;

    for (size_t i = 0; row && i < rows->running.n; i++)
        if (slice_eq(rows->running.row[i]->ref.path, row->ref.path) &&
            slice_eq(rows->running.row[i]->ref.id, row->ref.id))
            at = i;
    board_rows_free(v->rows);
    v->rows = rows;
    v->error = (struct err){ 0 };
    list_cursor_move(&v->pick, board_area(m, m->rows, m->cols), (int64_t)at);
    board_reload_viewer(m);
}

static bool board_message(struct model *m, const struct msg *msg)
{
    struct board_view *v = m->board;

    if (msg->kind == MSG_FILES_CHANGED)
        v->stale = true; /* the list is interested, too */
    if (!msg_answers(msg, v->asked, MSG_BOARD))
        return false;
    v->asked = 0;
    v->read_ms = v->checked_ms = m->now_ms;
    v->rested_ms = m->now_ms - v->asked_ms < BOARD_LIVES_MS
                       ? m->now_ms + (m->now_ms - v->asked_ms) * BOARD_RESTS
                       : m->now_ms + BOARD_LIVES_MS * BOARD_RESTS;
    if (msg->kind == MSG_BOARD)
        board_take(m, msg->u.board);
    else
        v->error = msg->u.error;
    return true;
}

/* Ages change with the minute, and a session that only wrote leaves the board after one. */
static void board_tick(struct model *m)
{
    struct board_view *v = m->board;

    if (!view_is_open(m, VIEW_BOARD) || v->asked)
        return;
    if (m->now_ms - v->checked_ms >= BOARD_LIVES_MS || m->now_ms < v->checked_ms) {
        v->checked_ms = m->now_ms;
        v->stale |= m->now_ms / BOARD_MINUTE != v->read_ms / BOARD_MINUTE ||
                    (v->rows && running_ended(&v->rows->running));
    }
    if (v->stale && m->now_ms >= v->rested_ms)
        board_request(m);
}

static int64_t board_wake_ms(const struct model *m)
{
    const struct board_view *v = m->board;

    if (!view_is_open(m, VIEW_BOARD))
        return TIME_NONE;
    if (v->asked)
        return v->rows ? TIME_NONE : frame_spinner_wake_ms(v->asked_ms, m->now_ms);
    return v->stale ? v->rested_ms : v->checked_ms + BOARD_LIVES_MS;
}

static void board_refresh(struct model *m)
{
    m->board->stale = true;
}

/* ---- keys ---- */

static void board_go(struct model *m)
{
    struct board_view *v = m->board;
    const struct agent_terminal *t = &v->rows->terminal[v->pick.at];
    const char *argv[TERMINAL_ATTACH_MAX];

    if (terminal_can_show(t)) {
        resume_flow_show_terminal(m, board_picked(v)->live_pid);
    } else if (terminal_attach(t, argv)) {
        struct effect *e = effect_add(&m->fx, EFFECT_GO, REQUESTER_BOARD);

        e->rows = (const struct session_row *const *)&v->rows->running.row[v->pick.at];
        e->row_count = 1;
        m->leaving = true;
    } else {
        toast_note(&m->toast, m->now_ms,
                   "it runs on %s, which nothing that reprise knows can bring to the front",
                   t->name);
    }
}

static void board_read_along(struct model *m)
{
    struct board_view *v = m->board;
    const struct session_row *row = board_picked(v);

    v->reading.n = 0;
    v->read_file = row->ref.file;
    if (buf_add(&v->reading, row->ref.path))
        toast_no_memory(&m->toast);
    else
        transcript_screen_show(m, &row->ref, session_row_title(row), row->cwd, (struct id128){ 0 });
}

static bool board_act(struct model *m, enum action a)
{
    struct board_view *v = m->board;

    switch (a) {
    case ACT_GO: board_go(m); return true;
    case ACT_VIEW: board_read_along(m); return true;
    case ACT_REFRESH: v->stale = true; return true;
    case ACT_BACK:
        effect_cancel(&m->fx, REQUESTER_BOARD, &v->asked);
        board_view_fini(v);
        view_pop(m);
        return true;
    default: return list_cursor_act(&v->pick, board_area(m, m->rows, m->cols), a);
    }
}

static const char *board_unavailable(const struct model *m, enum action a)
{
    const struct board_view *v = m->board;
    const struct session_row *row = board_picked(v);

    switch (a) {
    case ACT_GO:
    case ACT_VIEW:
        if (!row)
            return "no session is running";
        if (a == ACT_VIEW || v->rows->terminal[v->pick.at].name[0])
            return NULL;
        return row->live_pid > 0 ? "its process has no terminal" : "its process is not known";
    case ACT_REFRESH: return NULL;
    default: return list_session_unavailable(m, a, LIST_NO_SESSION);
    }
}

/* The list may not have the selected session. */
static uint32_t board_entry(const struct model *m)
{
    const struct session_row *row = board_picked(m->board);

    return row ? session_table_find(&m->list->sessions, row->ref.path) : ENTRY_NONE;
}

static void board_mouse(struct model *m, struct mouse event)
{
    if (list_cursor_mouse(&m->board->pick, board_area(m, m->rows, m->cols), event) &&
        event.event == MOUSE_DOUBLE_CLICK)
        update_perform(m, ACT_VIEW);
}

static void board_resized(struct model *m)
{
    list_cursor_move(&m->board->pick, board_area(m, m->rows, m->cols), (int64_t)m->board->pick.at);
}

static const enum action *board_footer(const struct model *m)
{
    static const enum action in_board[] = { ACT_GO, ACT_VIEW, ACT_BACK, ACT_NONE };

    (void)m;
    return in_board;
}

const struct view_ops view_board = {
    .name = "board",
    .context = IN_BOARD,
    .draw = draw_board,
    .act = board_act,
    .perform = board_perform,
    .unavailable = board_unavailable,
    .entry = board_entry,
    .message = board_message,
    .tick = board_tick,
    .refresh = board_refresh,
    .mouse = board_mouse,
    .resized = board_resized,
    .wake_ms = board_wake_ms,
    .footer = board_footer,
};
