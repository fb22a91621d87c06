#include "tui/screens/trash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/path.h"
#include "tui/size.h"
#include "tui/state.h"
#include "tui/when.h"

enum { HEAD_H = 2, AGE_W = 8, SIZE_W = 9, PLACE_MAX = 40, PLACE_COLS = 90 };

static size_t count(const struct trash_view *v)
{
    return v->list ? v->list->n : 0;
}

static bool is_ticked(const struct trash_view *v, size_t i)
{
    return v->ticked && v->ticked[i];
}

static size_t ticks(const struct trash_view *v)
{
    size_t n = 0;

    for (size_t i = 0; i < count(v); i++)
        n += is_ticked(v, i);
    return n;
}

/* Of those that are ticked, or of all. */
static int64_t weight(const struct trash_view *v, bool ticked)
{
    int64_t bytes = 0;

    for (size_t i = 0; i < count(v); i++)
        bytes += !ticked || is_ticked(v, i) ? v->list->item[i].bytes : 0;
    return bytes;
}

static size_t fit(const struct model *m)
{
    return m->rows > HEAD_H + 2 ? (size_t)(m->rows - HEAD_H - 1) : 1;
}

void trash_view_fini(struct trash_view *v)
{
    if (v->list)
        trash_list_fini(v->list);
    free(v->list);
    free(v->ticked);
    *v = (struct trash_view){ .pick = v->pick };
}

const char *trash_view_unavailable(const struct trash_view *v)
{
    return count(v) > 0 ? NULL : "the trash is empty";
}

/* ---- what lies there ---- */

static void move_to(struct model *m, int64_t at)
{
    pick_move(&m->trash.pick, at, count(&m->trash), fit(m));
}

static void ask(struct model *m)
{
    m->trash.asked = effect_add(&m->fx, EFFECT_TRASH, ASKER_TRASH)->generation;
}

void trash_view_open(struct model *m)
{
    if (view_base(m) == VIEW_TRASH)
        return;
    m->trash.pick = (struct pick){ 0 };
    view_push(m, VIEW_TRASH);
    ask(m);
}

void trash_view_refresh(struct model *m)
{
    if (view_base(m) == VIEW_TRASH)
        ask(m);
}

/* Ticks stay with what they were set on. False without memory: then none is set. */
static bool take_list(struct trash_view *v, struct trash_list *list)
{
    bool *ticked = calloc(list->n + 1, sizeof *ticked);

    for (size_t i = 0; ticked && ticks(v) > 0 && i < list->n; i++)
        for (size_t k = 0; k < count(v) && !ticked[i]; k++)
            ticked[i] =
                v->ticked[k] && strcmp(v->list->item[k].trash_id, list->item[i].trash_id) == 0;
    trash_view_fini(v);
    v->list = list;
    v->ticked = ticked;
    return ticked;
}

bool trash_view_msg(struct model *m, const struct msg *msg)
{
    struct trash_view *v = &m->trash;

    if (!msg_answers(msg, v->asked, MSG_TRASH))
        return false;
    if (msg->kind == MSG_TRASH) {
        if (!take_list(v, msg->u.trash))
            toast_error_text(&m->toast, SLICE("out of memory"));
    } else {
        trash_view_fini(v);
        v->error = msg->u.error;
    }
    v->asked = 0;
    move_to(m, (int64_t)v->pick.at);
    return true;
}

/* ---- keys ---- */

static enum place_id place(const struct model *m)
{
    (void)m;
    return IN_TRASH;
}

enum which { ONE, TICKED, ALL };

static struct name_list *names_of(const struct trash_view *v, enum which which)
{
    struct name_list *names = name_list_new();

    for (size_t i = 0; names && i < count(v); i++) {
        bool meant = which == ALL || (which == TICKED ? is_ticked(v, i) : i == v->pick.at);

        if (meant && !name_list_add(names, slice_of(v->list->item[i].trash_id))) {
            name_list_free(names);
            names = NULL;
        }
    }
    return names;
}

static void ask_change(struct model *m, enum wish wish, enum which which)
{
    struct name_list *names = names_of(&m->trash, which);

    if (names)
        changing_ask_names(m, wish, names);
    else
        toast_error_text(&m->toast, SLICE("out of memory"));
}

static void restore(struct model *m)
{
    ask_change(m, WISH_RESTORE, ticks(&m->trash) > 0 ? TICKED : ONE);
}

static void join_answer(struct model *m, enum dialog_choice choice)
{
    struct name_list *names = choice == CHOICE_DO ? name_list_new() : NULL;

    if (choice != CHOICE_DO)
        return;
    if (names && name_list_add(names, slice_of(m->trash.joining))) {
        changing_ask_names(m, WISH_JOIN, names);
        return;
    }
    name_list_free(names);
    toast_error_text(&m->toast, SLICE("out of memory"));
}

void trash_view_ask_join(struct model *m, const struct changed *c)
{
    struct dialog *d = &m->dialog;

    if (view_top(m) == VIEW_DIALOG || view_top(m) == VIEW_PROMPT) {
        toast_note(&m->toast, m->now_ms, "nothing restored: another question is open");
        return;
    }
    snprintf(m->trash.joining, sizeof m->trash.joining, "%s", c->id);
    dialog_begin(d, "A newer transcript is in its place. Join the two?", join_answer);
    dialog_line(d, "%s", c->where);
    dialog_line(d, "A program continued this session after it was deleted.");
    dialog_line(d,
                "The deleted messages go in front of the newer ones, and stay in the trash too.");
    dialog_offer(d, CHOICE_CANCEL, "cancel");
    dialog_offer(d, CHOICE_DO, "join them");
    view_push(m, VIEW_DIALOG);
}

/* What was shown is what goes: sessions that were deleted meanwhile stay. */
static void empty_answer(struct model *m, enum dialog_choice choice)
{
    if (choice == CHOICE_DO && count(&m->trash) > 0)
        ask_change(m, WISH_EMPTY, ticks(&m->trash) > 0 ? TICKED : ALL);
}

static void ask_empty(struct model *m)
{
    const struct trash_view *v = &m->trash;
    struct dialog *d = &m->dialog;
    size_t ticked = ticks(v), n = ticked ? ticked : count(v);
    char size[SIZE_TEXT], title[DIALOG_TEXT];

    size_text(weight(v, ticked > 0), size);
    snprintf(title, sizeof title, "Delete %zu session%s, %s, for good?", n, n == 1 ? "" : "s",
             size);
    dialog_begin(d, title, empty_answer);
    if (ticked > 0 && count(v) > ticked)
        dialog_line(d, "Only the marked ones: %zu more stay in the trash.", count(v) - ticked);
    dialog_line(d, "This cannot be undone.");
    dialog_offer(d, CHOICE_CANCEL, "cancel");
    dialog_want_yes(d);
    view_push(m, VIEW_DIALOG);
}

static void tick(struct model *m, int way)
{
    struct trash_view *v = &m->trash;

    if (!v->ticked || count(v) == 0)
        return;
    v->ticked[v->pick.at] = !v->ticked[v->pick.at];
    move_to(m, (int64_t)v->pick.at + way);
}

/* All, or none when all are. */
static void tick_all(struct trash_view *v)
{
    bool on = ticks(v) < count(v);

    for (size_t i = 0; v->ticked && i < count(v); i++)
        v->ticked[i] = on;
}

/* One step back: the marks first, as in the list. */
static void back(struct model *m)
{
    struct trash_view *v = &m->trash;

    if (ticks(v) > 0) {
        memset(v->ticked, 0, count(v) * sizeof *v->ticked);
        return;
    }
    view_pop(m);
    trash_view_fini(v);
    v->asked = 0;
}

static bool act(struct model *m, enum action a)
{
    struct trash_view *v = &m->trash;

    switch (a) {
    case ACT_RESTORE: restore(m); return true;
    case ACT_EMPTY: ask_empty(m); return true;
    case ACT_MARK: tick(m, 1); return true;
    case ACT_MARK_UP: tick(m, -1); return true;
    case ACT_MARK_ALL: tick_all(v); return true;
    case ACT_BACK: back(m); return true;
    default: return pick_act(&v->pick, a, count(v), fit(m));
    }
}

static void key(struct model *m, struct key k)
{
    (void)m;
    (void)k; /* no text is entered here */
}

static void mouse(struct model *m, struct mouse event)
{
    struct trash_view *v = &m->trash;

    switch (event.event) {
    case MOUSE_WHEEL_UP: move_to(m, (int64_t)v->pick.at - 3); return;
    case MOUSE_WHEEL_DOWN: move_to(m, (int64_t)v->pick.at + 3); return;
    case MOUSE_CLICK:
    case MOUSE_DOUBLE_CLICK: /* looks at it; only a key restores */
        if (event.y >= HEAD_H && v->pick.top + (size_t)(event.y - HEAD_H) < count(v))
            move_to(m, (int64_t)v->pick.top + event.y - HEAD_H);
        return;
    }
}

/* ---- how it looks ---- */

static void draw_title(const struct trash_view *v, struct frame *f)
{
    char text[96], size[SIZE_TEXT];
    int x = 1;

    x += frame_puts(f, 0, x, f->cols, STYLE_TITLE, "trash") + 2;
    if (count(v) == 0)
        return;
    size_text(weight(v, false), size);
    int n =
        snprintf(text, sizeof text, "%zu session%s, %s", count(v), count(v) == 1 ? "" : "s", size);

    if (ticks(v) > 0 && n > 0 && n < (int)sizeof text) {
        size_text(weight(v, true), size);
        snprintf(text + n, sizeof text - (size_t)n, "; %zu marked, %s", ticks(v), size);
    }
    frame_puts(f, 0, x, f->cols - x, STYLE_TEXT, text);
    if (f->cols >= 60)
        frame_puts(f, 0, f->cols - 19, 19, STYLE_DIM, "last deleted first");
}

static void draw_nothing(const struct trash_view *v, struct frame *f)
{
    char text[400];

    f->cursor_y = HEAD_H;
    f->cursor_x = 0;
    if (v->error.code) {
        err_format(&v->error, text, sizeof text);
        frame_text_cut(f, HEAD_H + 1, 3, f->cols - 4, STYLE_ERROR, slice_of(text));
    } else if (v->list) {
        frame_puts(f, HEAD_H + 1, 3, f->cols - 4, STYLE_STRONG, "The trash is empty");
        frame_puts(f, HEAD_H + 3, 3, f->cols - 4, STYLE_DIM,
                   "Deleted sessions are kept here until you empty it.");
    }
}

/* The directory the session was about; where that is not known, the folder its transcript came from. */
static struct slice folder_of(const struct model *m, const struct trash_item *item, char *out,
                              size_t cap)
{
    const char *slash = strrchr(item->path, '/');
    struct slice from = { item->path, slash ? (size_t)(slash - item->path) : strlen(item->path) };
    bool known = item->dir && item->dir[0];

    return path_short(known ? slice_of(item->dir) : from, m->settings->home, out, cap);
}

static void draw_item(const struct model *m, struct frame *f, struct rect r,
                      const struct trash_item *item)
{
    char age[WHEN_AGE], size[SIZE_TEXT], dir[512];
    int place_w = r.w >= PLACE_COLS ? PLACE_MAX : 0, x = r.x + 1;

    when_age(m->now_ms, item->deleted_ms, age);
    size_text(item->bytes, size);
    frame_puts(f, r.y, x + AGE_W - (int)strlen(age), AGE_W, STYLE_AGE, age);
    x += AGE_W;
    frame_puts(f, r.y, x + SIZE_W - (int)strlen(size), SIZE_W, STYLE_DIM, size);
    x += SIZE_W + 2;
    struct slice title = item->title[0] ? slice_of(item->title) : slice_of(item->session);

    frame_text_cut(f, r.y, x, r.x + r.w - x - place_w - 2, STYLE_TEXT, title);
    if (place_w > 0)
        frame_text_middle(f, r.y, r.x + r.w - place_w, place_w - 1, STYLE_DIM,
                          folder_of(m, item, dir, sizeof dir));
}

static void draw(const struct model *m, struct frame *f)
{
    const struct trash_view *v = &m->trash;
    size_t rows = f->rows > HEAD_H + 1 ? (size_t)(f->rows - HEAD_H - 1) : 0;

    draw_title(v, f);
    if (count(v) == 0)
        draw_nothing(v, f);
    for (size_t i = 0; i < rows && v->pick.top + i < count(v); i++) {
        struct rect r = { HEAD_H + (int)i, 0, 1, f->cols };

        draw_item(m, f, r, &v->list->item[v->pick.top + i]);
        if (is_ticked(v, v->pick.top + i))
            frame_puts(f, r.y, 1, 1, STYLE_MARK, f->ascii ? "+" : "◆");
        if (v->pick.top + i == v->pick.at)
            frame_point(f, r);
    }
}

static void resized(struct model *m)
{
    move_to(m, (int64_t)m->trash.pick.at);
}

const struct view_ops view_trash = {
    .name = "trash",
    .place = place,
    .draw = draw,
    .act = act,
    .key = key,
    .mouse = mouse,
    .resized = resized,
};
