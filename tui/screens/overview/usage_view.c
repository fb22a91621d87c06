#include <stdio.h>
#include <string.h>

#include "lite/base/cleanup.h"
#include "tui/app/view.h"
#include "tui/screens/list/list.h"
#include "tui/screens/overview/overview.h"
#include "tui/screens/transcript/transcript.h"
#include "tui/text/clean.h"
#include "tui/text/human.h"

/* What the sessions of the scope cost: a bar for each day, project, model and so on, and the sessions behind a bar. */

enum {
    USAGE_HEAD_H = 3,
    USAGE_NUMBER_W = 8,
    USAGE_COST_W = 10,
    USAGE_BAR_LEAST = 12,
    USAGE_BAR_MOST = 80,
    USAGE_WITH_KINDS = 100,
    USAGE_KEY_MOST = 60,
    USAGE_KINDS_W = 41,
};

static const struct {
    const char *name;
    int width;
} usage_kind_columns[USAGE_KINDS] = {
    { "input", 8 }, { "output", 8 }, { "cache write", 13 }, { "cache read", 12 }
};

static const char *const usage_by_names[USAGE_BYS] = { "day",   "week",    "month", "session",
                                                       "model", "project", "agent" };
/* In the order in which the keys go through them. */
static const enum usage_by usage_steps[USAGE_BYS] = { BY_DAY,     BY_WEEK,  BY_MONTH, BY_PROJECT,
                                                      BY_SESSION, BY_MODEL, BY_AGENT };

static size_t usage_count(const struct usage_view *v)
{
    return v->groups ? v->groups->groups : 0;
}

static struct list_area usage_area(const struct model *m, int rows, int cols)
{
    int h = rows - USAGE_HEAD_H - 1;

    return (struct list_area){ { USAGE_HEAD_H, 0, h > 1 ? h : 1, cols }, usage_count(m->usage) };
}

/* Days, weeks and months have the newest first. */
static const struct usage_group *usage_row(const struct usage_view *v, size_t at)
{
    if (at >= usage_count(v))
        return NULL;
    return &v->groups->group[v->by <= BY_MONTH ? v->groups->groups - 1 - at : at];
}

/* ---- how it looks ---- */

static struct slice usage_name(const struct model *m, const struct usage_group *g, enum usage_by by,
                               char *out, size_t cap)
{
    if (!g->key.n)
        return SLICE("not known");
    if (by == BY_SESSION) {
        const struct counted_session *s = &m->usage->groups->session[g->session];

        return s->title.n ? s->title : s->ref.id;
    }
    return by == BY_PROJECT ? text_path_short(g->key, m->settings->home, out, cap) : g->key;
}

static void draw_usage_head(const struct model *m, struct frame *f)
{
    static const char *const scopes[] = { [SCOPE_HERE] = "this directory",
                                          [SCOPE_WORKTREES] = "this repository",
                                          [SCOPE_ALL] = "all projects" };
    const struct usage_view *v = m->usage;
    char text[160], room[512];
    int x = 1;

    snprintf(text, sizeof text, "usage by %s", usage_by_names[v->by]);
    x += frame_puts(f, 0, x, f->cols, STYLE_TITLE, text) + 2;
    int end = frame_puts_right(f, 0, f->cols - 1, STYLE_DIM, scopes[m->list->scope]);

    if (v->asked && frame_spinner_shows(v->asked_ms, m->now_ms))
        frame_puts(f, 0, end - 2, 1, STYLE_KEY, frame_spinner_sign(m->now_ms, f->ascii));
    if (v->is_within)
        x += frame_text_cut(f, 0, x, end - x - 4, STYLE_TEXT,
                            usage_name(m, &v->within, v->within_by, room, sizeof room)) +
             2;
    if (v->groups && v->groups->unread) {
        snprintf(text, sizeof text, "%zu session%s could not be read", v->groups->unread,
                 v->groups->unread == 1 ? "" : "s");
        frame_puts(f, 0, x, end - x - 3, STYLE_WARN, text);
    }
}

/* The columns: the name, numbers, and the bar in what is left. */
struct usage_columns_shown {
    int name, bar;
    bool kinds, cost;
};

static struct usage_columns_shown usage_columns_of(const struct usage_view *v, int w)
{
    struct usage_columns_shown c = { .kinds = w >= USAGE_WITH_KINDS,
                                     .cost = v->groups->all.has_cost };
    const int numbers =
                  USAGE_NUMBER_W + (c.kinds ? USAGE_KINDS_W : 0) + (c.cost ? USAGE_COST_W : 0),
              room = w - numbers - 4, by_time = v->by <= BY_MONTH ? 12 : room / 2;

    c.name = by_time > USAGE_KEY_MOST ? USAGE_KEY_MOST : by_time;
    c.bar = room - c.name - 2;
    if (c.bar > USAGE_BAR_MOST)
        c.bar = USAGE_BAR_MOST;
    if (c.bar < USAGE_BAR_LEAST) {
        c.bar = 0;
        c.name = room;
    }
    return c;
}

static int draw_usage_numbers(struct frame *f, int y, int x, const struct usage_columns_shown *c,
                              const struct usage_sum *sum, enum style style)
{
    char text[32];

    for (int i = 0; i < USAGE_KINDS && c->kinds; i++) {
        human_count(sum->tokens[i], text);
        frame_puts_right(f, y, x += usage_kind_columns[i].width, STYLE_DIM, text);
    }
    human_count(usage_sum_total(sum), text);
    frame_puts_right(f, y, x += USAGE_NUMBER_W, style, text);
    if (c->cost) {
        snprintf(text, 32, sum->cost < 0.995 ? "$%.4f%s" : "$%.2f%s", sum->cost,
                 sum->unpriced ? "+" : "");
        if (!sum->has_cost)
            snprintf(text, 32, "-");

        frame_puts_right(f, y, x += USAGE_COST_W, style, text);
    }
    return x;
}

static void draw_usage_row(const void *arg, struct frame *f, struct rect r, size_t at)
{
    const struct model *m = arg;
    const struct usage_view *v = m->usage;
    const struct usage_group *g = usage_row(v, at);
    const struct usage_columns_shown c = usage_columns_of(v, r.w);
    char room[512];
    const struct slice name = usage_name(m, g, v->by, room, sizeof room);

    if (v->by == BY_PROJECT)
        frame_text_middle(f, r.y, 2, c.name - 1, STYLE_TEXT, name);
    else
        frame_text_cut(f, r.y, 2, c.name - 1, STYLE_TEXT, name);
    const int x = draw_usage_numbers(f, r.y, 2 + c.name, &c, &g->sum, STYLE_TEXT);

    if (c.bar)
        frame_bar(f, (struct rect){ r.y, x + 2, 1, c.bar }, usage_sum_total(&g->sum), v->most);
}

static void draw_usage(const struct model *m, struct frame *f)
{
    const struct usage_view *v = m->usage;
    char text[400];

    draw_usage_head(m, f);
    if (v->error.code) {
        text_wrap_draw_error(f, (struct rect){ USAGE_HEAD_H + 1, 3, 3, f->cols - 4 }, &v->error);
    } else if (usage_count(v)) {
        /* The names of the columns, and the sum above the rows. */
        const struct usage_columns_shown c = usage_columns_of(v, f->cols);
        int x = 2 + c.name;

        frame_puts(f, 1, 2, c.name, STYLE_DIM, usage_by_names[v->by]);
        for (size_t i = 0; i < USAGE_KINDS && c.kinds; i++)
            frame_puts_right(f, 1, x += usage_kind_columns[i].width, STYLE_DIM,
                             usage_kind_columns[i].name);
        frame_puts_right(f, 1, x += USAGE_NUMBER_W, STYLE_DIM, "tokens");
        if (c.cost)
            frame_puts_right(f, 1, x + USAGE_COST_W, STYLE_DIM, "cost");
        frame_puts(f, 2, 2, c.name, STYLE_STRONG, "all");
        x = draw_usage_numbers(f, 2, 2 + c.name, &c, &v->groups->all, STYLE_STRONG);

        /* What the sign behind a cost means, above the bars. */
        const int64_t n = v->groups->all.unpriced;

        snprintf(text, sizeof text, "+ %lld answer%s without a known price", (long long)n,
                 n == 1 ? "" : "s");
        if (frame_width(slice_of(text)) > c.bar)
            snprintf(text, sizeof text, "+ %lld unpriced", (long long)n);
        if (c.bar && c.cost && n)
            frame_text_cut(f, 2, x + 2, c.bar, STYLE_DIM, slice_of(text));
    } else if (v->groups) {
        frame_puts(f, USAGE_HEAD_H + 1, 3, f->cols - 4, STYLE_STRONG,
                   "No session here records tokens");
    }
    if (!usage_count(v)) {
        f->cursor_y = USAGE_HEAD_H;
        f->cursor_x = 0;
    }
    list_cursor_draw(&v->pick, usage_area(m, f->rows, f->cols), f, draw_usage_row, m);
}

/* ---- what happens ---- */

void usage_view_fini(struct usage_view *v)
{
    usage_groups_free(v->groups);
    *v = (struct usage_view){ 0 };
}

static void usage_request(struct model *m)
{
    struct usage_view *v = m->usage;

    effect_cancel(&m->fx, REQUESTER_USAGE, &v->asked);
    struct effect *e = effect_add(&m->fx, EFFECT_USAGE_GROUPS, REQUESTER_USAGE);

    e->scope = m->list->scope;
    v->asked = e->generation;
    v->asked_ms = m->now_ms;
}

static void usage_regroup(struct model *m, size_t at)
{
    struct usage_view *v = m->usage;
    const struct usage_grouping how = { .config = m->settings->config,
                                        .by = v->by,
                                        .since_ms = TIME_NONE,
                                        .before_ms = TIME_NONE,
                                        .within = v->is_within ? &v->within : NULL,
                                        .within_by = v->within_by };

    if (!v->groups)
        return;
    if (usage_groups_make(v->groups, &how, &v->error))
        v->groups->groups = 0;
    v->most = 0;
    for (size_t i = 0; i < v->groups->groups; i++) {
        const int64_t n = usage_sum_total(&v->groups->group[i].sum);

        v->most = n > v->most ? n : v->most;
    }
    v->pick = (struct list_cursor){ 0 };
    list_cursor_move(&v->pick, usage_area(m, m->rows, m->cols), (int64_t)at);
}

static bool usage_perform(struct model *m, enum action a)
{
    if (a != ACT_USAGE)
        return false;
    if (!view_is_open(m, VIEW_USAGE)) {
        usage_view_fini(m->usage);
        view_push(m, VIEW_USAGE);
        usage_request(m);
    }
    return true;
}

static bool usage_message(struct model *m, const struct msg *msg)
{
    struct usage_view *v = m->usage;

    if (!msg_answers(msg, v->asked, MSG_USAGE_GROUPS))
        return false;
    v->asked = 0;
    v->error = (struct err){ 0 };
    if (msg->kind == MSG_FAILED) {
        v->error = msg->u.error;
        return true;
    }
    usage_groups_free(v->groups);
    v->groups = msg->u.usage_groups;
    v->is_within = false; /* its key was one of the groups before */
    usage_regroup(m, 0);
    return true;
}

static void usage_step(struct model *m, size_t by)
{
    struct usage_view *v = m->usage;
    size_t at = 0;

    while (usage_steps[at] != v->by)
        at++;
    v->by = usage_steps[(at + by) % USAGE_BYS];
    usage_regroup(m, 0);
}

/* The sessions behind the bar; a session opens. */
static void usage_open(struct model *m)
{
    struct usage_view *v = m->usage;
    const struct usage_group *g = usage_row(v, v->pick.at);

    if (v->by == BY_SESSION) {
        const struct counted_session *s = &v->groups->session[g->session];

        transcript_screen_show(m, &s->ref, s->title, s->project, (struct id128){ 0 });
        return;
    }
    v->within = *g; /* its key stays in the arena */
    v->within_by = v->by;
    v->is_within = true;
    v->from = v->pick.at;
    v->by = BY_SESSION;
    usage_regroup(m, 0);
}

static void usage_back(struct model *m)
{
    struct usage_view *v = m->usage;

    if (v->is_within) {
        v->is_within = false;
        v->by = v->within_by;
        usage_regroup(m, v->from);
        return;
    }
    effect_cancel(&m->fx, REQUESTER_USAGE, &v->asked);
    usage_view_fini(v);
    view_pop(m);
}

static bool usage_act(struct model *m, enum action a)
{
    switch (a) {
    case ACT_VALUE_NEXT: usage_step(m, 1); return true;
    case ACT_VALUE_PREV: usage_step(m, USAGE_BYS - 1); return true;
    case ACT_ACCEPT: usage_open(m); return true;
    case ACT_BACK: usage_back(m); return true;
    case ACT_SCOPE:
        list_next_scope(m);
        usage_request(m);
        return true;
    case ACT_REFRESH: usage_request(m); return true;
    default: return list_cursor_act(&m->usage->pick, usage_area(m, m->rows, m->cols), a);
    }
}

static const char *usage_unavailable(const struct model *m, enum action a)
{
    switch (a) {
    case ACT_ACCEPT: return usage_count(m->usage) ? NULL : "nothing is selected";
    case ACT_VALUE_NEXT:
    case ACT_VALUE_PREV:
    case ACT_SCOPE:
    case ACT_REFRESH: return NULL;
    default: return list_session_unavailable(m, a, LIST_NO_SESSION);
    }
}

static void usage_mouse(struct model *m, struct mouse event)
{
    if (list_cursor_mouse(&m->usage->pick, usage_area(m, m->rows, m->cols), event) &&
        event.event == MOUSE_DOUBLE_CLICK)
        update_perform(m, ACT_ACCEPT);
}

static void usage_resized(struct model *m)
{
    list_cursor_move(&m->usage->pick, usage_area(m, m->rows, m->cols), (int64_t)m->usage->pick.at);
}

static int64_t usage_wake_ms(const struct model *m)
{
    return m->usage->asked ? frame_spinner_wake_ms(m->usage->asked_ms, m->now_ms) : TIME_NONE;
}

static const enum action *usage_footer(const struct model *m)
{
    static const enum action in_usage[] = { ACT_ACCEPT, ACT_VALUE_NEXT, ACT_VALUE_PREV,
                                            ACT_SCOPE,  ACT_BACK,       ACT_NONE };

    (void)m;
    return in_usage;
}

const struct view_ops view_usage = {
    .name = "usage",
    .context = IN_USAGE,
    .draw = draw_usage,
    .act = usage_act,
    .perform = usage_perform,
    .unavailable = usage_unavailable,
    .message = usage_message,
    .mouse = usage_mouse,
    .resized = usage_resized,
    .wake_ms = usage_wake_ms,
    .footer = usage_footer,
};
